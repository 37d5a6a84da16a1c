// Exercise 02/pitched-rows: the chapter's `subhist`, over memory with gaps. README.md has the task.

#define BINS 256

// Row y of the picture begins at byte y * image_pitch_bytes and has `width` pixels, a byte each;
// there are `count` in all, so the last row may be short. From the table of one group to that of
// the next there are `table_pitch_bytes`. The tables are zero; what lies between them is not.
__kernel void subhist(__global const uchar* image, ulong image_pitch_bytes, ulong width,
                      ulong count, __global uint* tables, ulong table_pitch_bytes) {
    // ---- your part: count each pixel in the table of the group ----
    // TODO: this is the chapter's, for rows and tables without gaps
    __global uint* table = tables + get_group_id(0) * BINS;
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        atomic_inc(&table[image[i]]);
    }
    // ---- end of your part ----
}

__kernel void sum_tables(__global const uint* tables, ulong table_pitch_bytes, uint table_count,
                         __global uint* histogram) {
    for (size_t bin = get_global_id(0); bin < BINS; bin += get_global_size(0)) {
        // ---- your part: add up this bin of all tables ----
        // TODO: here, too, the tables have no gaps
        uint sum = 0;
        for (uint table = 0; table < table_count; ++table) {
            sum += tables[table * BINS + bin];
        }
        histogram[bin] = sum;
        // ---- end of your part ----
    }
}
