// Exercise 04/copies, in the lab: COPIES tables for each group, 1, 2 or 8.
@compute @workgroup_size(GROUP_SIZE)
fn histogram_copies(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,
                    @builtin(num_workgroups) groups: vec3u) {
    // ---- your part: zero all copies ----
    // TODO: only the first copy is zeroed
    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {
        atomicStore(&table[bin * COPIES], 0u);
    }
    // ---- end of your part ----
    workgroupBarrier();
    for (var i = group.x * GROUP_SIZE + item; i < args.count; i += groups.x * GROUP_SIZE) {
        atomicAdd(&table[pixel(i) * COPIES + item % COPIES], 1u);
    }
    workgroupBarrier();
    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {
        // ---- your part: add the copies of this bin up, and merge ----
        atomicAdd(&histogram[bin], atomicLoad(&table[bin * COPIES]));  // TODO: the other copies
        // ---- end of your part ----
    }
}
