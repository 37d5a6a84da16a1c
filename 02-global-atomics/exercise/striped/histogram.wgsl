// Exercise 02/striped, in the lab: eight tables for the whole launch.
const TABLES = 8u;

// The tables lie one behind the other, TABLES * BINS counters, all zero at first.
@compute @workgroup_size(GROUP_SIZE)
fn histogram_striped(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {
    // ---- your part: choose this work-item's table, and count in it ----
    // TODO: the launch has groups.x * GROUP_SIZE work-items; this one is number item.x
    // ---- end of your part ----
}

// Launched when the other has finished. What is in the histogram before is not zero.
@compute @workgroup_size(GROUP_SIZE)
fn sum_tables(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var bin = item.x; bin < BINS; bin += groups.x * GROUP_SIZE) {
        // ---- your part: add the tables up ----
        // TODO: from plain_tables, into plain_histogram
        // ---- end of your part ----
    }
}
