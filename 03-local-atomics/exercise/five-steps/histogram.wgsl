// Exercise 03/five-steps, in the lab: a table for each work-group, in local memory.
@compute @workgroup_size(GROUP_SIZE)
fn histogram_local(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,
                   @builtin(num_workgroups) groups: vec3u) {
    // ---- your part: the five steps ----
    // TODO 1: zero the group's table, as if it held anything at first; atomicStore does it
    // TODO 2: wait: workgroupBarrier()
    // TODO 3: count, in the table; the launch has groups.x * GROUP_SIZE work-items
    // TODO 4: wait
    // TODO 5: add the table to the histogram
    // ---- end of your part ----
}
