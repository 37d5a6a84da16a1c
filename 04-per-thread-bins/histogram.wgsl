// Chapter 04, the WGSL kernel, which runs in a page: docs/site/play/lab.html.
// Counters of one's own for each lane.

const BINS = 256u;

// The page passes the size of the groups, and how many copies of the table there are, when it
// builds this file.
override GROUP_SIZE: u32;
override COPIES: u32;

struct Arguments {
    count: u32,  // pixels
    loads: u32,
}
@group(0) @binding(0) var<storage, read> vectors: array<vec4u>;
@group(0) @binding(1) var<uniform> args: Arguments;
@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;
var<workgroup> table: array<atomic<u32>, BINS * COPIES>;

// WGSL has no bytes: four pixels come in a word, and sixteen in a vector.
fn pixel(i: u32) -> u32 {
    return (vectors[i / 16u][i / 4u % 4u] >> (8u * (i % 4u))) & 0xffu;
}

// ---- lane-bins: a copy of the table for each lane, wholly in that lane's bank ----
//
// COPIES tables of 32-bit counters: 32, or fewer where the local memory is small. Bin b of copy k
// is word b * COPIES + k. With 32 copies that word is in bank k, whatever the pixel: the 32
// work-items that run in step use 32 banks, and none waits for another. Work-items with the same
// lane share a copy, so the additions are atomic.
//
// Pixels come 16 to a load, and four loads are on their way at once. To see what each is worth,
// `loads` can be 1 in place of 4, or 0: then a pixel to a load, as in the chapters before.
fn count_four(own: u32, four: u32) {
    atomicAdd(&table[own + (four & 0xffu) * COPIES], 1u);
    atomicAdd(&table[own + ((four >> 8u) & 0xffu) * COPIES], 1u);
    atomicAdd(&table[own + ((four >> 16u) & 0xffu) * COPIES], 1u);
    atomicAdd(&table[own + (four >> 24u) * COPIES], 1u);
}

fn count_sixteen(own: u32, sixteen: vec4u) {
    for (var n = 0u; n < 4u; n += 1u) {
        count_four(own, sixteen[n]);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn histogram_lanes(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,
                   @builtin(num_workgroups) groups: vec3u) {
    for (var word = item; word < BINS * COPIES; word += GROUP_SIZE) {
        atomicStore(&table[word], 0u);
    }
    workgroupBarrier();

    let own = item % COPIES;
    let vector_count = select(0u, args.count / 16u, args.loads > 0u);
    let stride = groups.x * GROUP_SIZE;
    var i = group.x * GROUP_SIZE + item;
    // Four loads before the first count: while one is on its way, so are the others.
    for (; args.loads == 4u && i + 3u * stride < vector_count; i += 4u * stride) {
        let first = vectors[i];
        let second = vectors[i + stride];
        let third = vectors[i + 2u * stride];
        let fourth = vectors[i + 3u * stride];
        count_sixteen(own, first);
        count_sixteen(own, second);
        count_sixteen(own, third);
        count_sixteen(own, fourth);
    }
    for (; i < vector_count; i += stride) {
        count_sixteen(own, vectors[i]);
    }
    // The last few pixels, fewer than 16; with no loads of 16 all of them.
    for (i = vector_count * 16u + group.x * GROUP_SIZE + item; i < args.count; i += stride) {
        atomicAdd(&table[own + pixel(i) * COPIES], 1u);
    }
    workgroupBarrier();

    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {
        var sum = 0u;
        for (var n = 0u; n < COPIES; n += 1u) {
            // Each work-item begins with another copy: the banks take turns here, too.
            sum += atomicLoad(&table[bin * COPIES + (item + n) % COPIES]);
        }
        atomicAdd(&histogram[bin], sum);
    }
}
