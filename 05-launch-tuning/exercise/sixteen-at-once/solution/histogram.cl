// Exercise 05/sixteen-at-once: 16 pixels per load, from any address. README.md has the task.
#define BINS 256

void count_four(__local uint* table, uint four) {
    atomic_inc(&table[four & 0xff]);
    atomic_inc(&table[four >> 8 & 0xff]);
    atomic_inc(&table[four >> 16 & 0xff]);
    atomic_inc(&table[four >> 24]);
}

// The pixels begin at byte `first` of the buffer, and the buffer at an address that 16 divides.
__kernel void histogram_vector(__global const uchar* pixels, ulong first, ulong count,
                               __global uint* histogram) {
    __local uint table[BINS];
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);
    for (size_t bin = item; bin < BINS; bin += group_size) {
        table[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // ---- your part: head, body and tail ----
    const ulong head = min((16 - first % 16) % 16, count);
    const ulong vectors = (count - head) / 16;
    const ulong tail = head + vectors * 16;
    __global const uchar* begin = pixels + first;
    __global const uint4* body = (__global const uint4*)(begin + head);
    for (ulong i = get_global_id(0); i < head; i += get_global_size(0)) {
        atomic_inc(&table[begin[i]]);
    }
    for (ulong i = get_global_id(0); i < vectors; i += get_global_size(0)) {
        const uint4 sixteen = body[i];
        count_four(table, sixteen.x);
        count_four(table, sixteen.y);
        count_four(table, sixteen.z);
        count_four(table, sixteen.w);
    }
    for (ulong i = tail + get_global_id(0); i < count; i += get_global_size(0)) {
        atomic_inc(&table[begin[i]]);
    }
    // ---- end of your part ----
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t bin = item; bin < BINS; bin += group_size) {
        atomic_add(&histogram[bin], table[bin]);
    }
}
