"""Counts what a kernel's warps do: `./tutorial count 03 local`, and the form in which the counts are kept.

    counts = {"form": 1,
        "chapter": "03-local-atomics", "strategy": "local", "api": "CUDA" or "OpenCL",
        "device": "h100",               its multiprocessors and limits made the launch
        "input": {"name", "pixels"},
        "launches": [launch, ...]}      in the order of the program, each kernel once

    launch = {
        "kernel": "histogram_local",
        "groups", "group_size",         work-groups (CUDA: blocks), work-items of one
        "local_bytes",                  of local (shared) memory that a group takes
        "resident_groups",              at once on a multiprocessor; registers are not known (launch__occupancy_limit_...)
        "resident_limit",               what it is that lets no more in: "work-items", "local memory", "groups"
        "counted_groups",               which ran; all other numbers below are of the whole launch (scaled by the groups)
        "warps",
        "barriers",                     that a work-item comes to
        "blocks", "blocks_parted",      basic blocks that warps enter; those that not all of its lanes enter together
        "loads_ahead", "bytes_ahead",   of a work-item in its main loop: loads from global memory (bytes) that it has asked for,
                                        at most, when the first of them is needed; "in flight" by Little's law
        "instructions",                 of warps (smsp__inst_executed.sum), or null where nobody knows
        "visits",                       of atomics in the L2 cache: a visit adds to each address of a sector once
        "queues": [64 numbers],         the visits by queue (pieces of 256 bytes, two queues for each KiB); the fullest decides
        "allocations": [bytes, ...],    of global memory, in the order of first use
        "lines": [line, ...]}           by file and line

    line = {
        "file": "histogram.cuh", "line": 36, "text": "atomicAdd(&table[pixels[i]], 1U);",
        "what": "load", "store", "add one" (an atomic that adds a constant 1) or "atomic",
        "memory": "global", "local" (CUDA: shared) or "own" (a work-item's own array; CUDA: local),
        "bytes",                        of one lane's access
        "allocation",                   which one, in global memory; -1 elsewhere
        "lanes", "requests",            accesses; the warp instructions that they are
        "sectors",                      of 32 bytes that the requests touch, in global memory and in own arrays
        "found",                        of them, loads that the first-level cache had
        "visits", "passes",             in the L2 cache (atomics in global memory); of the banks (local memory)
        "largest_passes"}               of one request

Nsight Compute's names (and chapter 02's, 04's and docs/profiler.md's plain ones):

    requests, global loads              l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum    (stores: _op_st)
    sectors, global loads               l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum     (stores: _op_st; own: mem_local)
    sectors - found, global and own     lts__t_sectors_op_read.sum       which counts 1.5 on an H100 (docs/profiler.md)
    sectors, stores                     lts__t_sectors_op_write.sum      the same
    visits                              lts__t_sectors_op_red.sum        the same; _op_atom where the old value is used
    found / sectors, global loads       l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct
    passes                              l1tex__data_pipe_lsu_wavefronts_mem_shared.sum
"""
