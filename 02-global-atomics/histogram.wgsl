// Chapter 02, the WGSL kernels, which run in a page: docs/site/play/lab.html.
// Work-items count in global memory, which all of them share.

const BINS = 256u;

// The page passes GROUP_SIZE when it builds this file.
override GROUP_SIZE: u32;

struct Arguments {
    count: u32,              // pixels
    width: u32,              // of a row of the picture
    image_pitch_bytes: u32,  // from one row to the next
    table_pitch_bins: u32,
    table_count: u32,
}
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<uniform> the: Arguments;
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
    for (var i = item.x; i < the.count; i += groups.x * GROUP_SIZE) {
        plain_histogram[pixel(i)] += 1u;
    }
}

// ---- global: one table, one atomic addition for each pixel ----
//
// The loop strides by the number of work-items in the whole launch (grid-stride), so any launch
// counts any picture, and at each step neighbouring work-items read neighbouring pixels.
@compute @workgroup_size(GROUP_SIZE)
fn histogram_global(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var i = item.x; i < the.count; i += groups.x * GROUP_SIZE) {
        atomicAdd(&histogram[pixel(i)], 1u);
    }
}

// ---- subhist: one table for each work-group, still in global memory ----
//
// The picture is a rectangle here: its rows are `image_pitch_bytes` apart, which may be more than
// `width`. A group covers as many columns as it has work-items, and each work-item walks down the
// rows of its column. Where there are fewer groups than the picture needs, they stride on.
@compute @workgroup_size(GROUP_SIZE)
fn subhist(@builtin(global_invocation_id) item: vec3u, @builtin(workgroup_id) group: vec3u,
           @builtin(num_workgroups) groups: vec3u) {
    let table = (group.y * groups.x + group.x) * the.table_pitch_bins;
    for (var y = group.y; y * the.width < the.count; y += groups.y) {
        for (var x = item.x; x < the.width; x += groups.x * GROUP_SIZE) {
            // The last row may be short.
            if (y * the.width + x < the.count) {
                atomicAdd(&tables[table + pixel(y * the.image_pitch_bytes + x)], 1u);
            }
        }
    }
}

// The second step: a work-item for each bin adds up that bin of all tables. Nobody else writes its
// result, so it needs no atomic, and the histogram needs no zeroing.
@compute @workgroup_size(GROUP_SIZE)
fn sum_tables(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var bin = item.x; bin < BINS; bin += groups.x * GROUP_SIZE) {
        var sum = 0u;
        for (var table = 0u; table < the.table_count; table += 1u) {
            sum += plain_tables[table * the.table_pitch_bins + bin];
        }
        plain_histogram[bin] = sum;
    }
}
