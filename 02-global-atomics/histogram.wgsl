// Chapter 02, the WGSL kernels, which run in a page: docs/site/play/lab.html.
// Work-items count in global memory, which all of them share.

const BINS = 256u;

// The page passes GROUP_SIZE when it builds this file.
override GROUP_SIZE: u32;

struct Arguments {
    count: u32,  // pixels
}
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<uniform> args: Arguments;
@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;
// The same memory as plain numbers.
@group(0) @binding(2) var<storage, read_write> plain_histogram: array<u32>;
@group(0) @binding(3) var<storage, read_write> tables: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> plain_tables: array<u32>;

// WGSL has no bytes: four pixels come in a word.
fn pixel(i: u32) -> u32 {
    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;
}

// ---- racy: broken on purpose ----
//
// += is read, add, write. Between the read and the write of one work-item others read and write the
// same counter, and their counts are lost.
@compute @workgroup_size(GROUP_SIZE)
fn histogram_racy(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var i = item.x; i < args.count; i += groups.x * GROUP_SIZE) {
        plain_histogram[pixel(i)] += 1u;
    }
}

// ---- global: one table, one atomic addition for each pixel ----
//
// The loop strides by the number of work-items in the whole launch (grid-stride), so any launch
// counts any picture, and at each step neighbouring work-items read neighbouring pixels.
@compute @workgroup_size(GROUP_SIZE)
fn histogram_global(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var i = item.x; i < args.count; i += groups.x * GROUP_SIZE) {
        atomicAdd(&histogram[pixel(i)], 1u);
    }
}
