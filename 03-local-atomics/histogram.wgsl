// Chapter 03, the WGSL kernels, which run in a page: docs/site/play/lab.html.
// Each work-group counts in local memory (WGSL: workgroup), which belongs to it alone, and hands
// its table over once.

const BINS = 256u;

// The page passes GROUP_SIZE when it builds this file.
override GROUP_SIZE: u32;

struct Arguments {
    count: u32,  // pixels
}
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<uniform> args: Arguments;
@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;
var<workgroup> table: array<atomic<u32>, BINS>;

// WGSL has no bytes: four pixels come in a word.
fn pixel(i: u32) -> u32 {
    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;
}

// ---- local: the five steps ----
//
// Every loop over the bins strides by the size of the *group*, because the group's own work-items
// share the work. Striding by the global size here is a mistake that was published: then each group
// merges only the first bins of its table.
@compute @workgroup_size(GROUP_SIZE)
fn histogram_local(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,
                   @builtin(num_workgroups) groups: vec3u) {
    // Step 1: zero the group's table. WGSL does it before, too; OpenCL and CUDA do not.
    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {
        atomicStore(&table[bin], 0u);
    }
    // Step 2: nobody counts before all bins are zero.
    workgroupBarrier();

    // Step 3: count, striding by all work-items of the launch.
    for (var i = group.x * GROUP_SIZE + item; i < args.count; i += groups.x * GROUP_SIZE) {
        atomicAdd(&table[pixel(i)], 1u);
    }
    // Step 4: nobody reads the table before all have counted.
    workgroupBarrier();

    // Step 5: add the table to the histogram, with atomics, for other groups do the same.
    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {
        atomicAdd(&histogram[bin], atomicLoad(&table[bin]));
    }
}
