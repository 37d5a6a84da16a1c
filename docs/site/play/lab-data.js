// Written by docs/site/play_data.py from the chapters, common/run/cases.json and common/tutor.
(function (root) {
const labData = {
  "strategies": {
    "racy": {
      "chapter": "02-global-atomics",
      "code": "// Chapter 02, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Work-items count in global memory, which all of them share.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,              // pixels\n    width: u32,              // of a row of the picture\n    image_pitch_bytes: u32,  // from one row to the next\n    table_pitch_bins: u32,\n    table_count: u32,\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n// The same memory as plain numbers.\n@group(0) @binding(2) var<storage, read_write> plain_histogram: array<u32>;\n@group(0) @binding(3) var<storage, read_write> tables: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> plain_tables: array<u32>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// ---- racy: broken on purpose ----\n//\n// += is read, add, write. Between the read and the write of one work-item others read and write the\n// same counter, and their counts are lost.\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_racy(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {\n    for (var i = item.x; i < the.count; i += groups.x * GROUP_SIZE) {\n        plain_histogram[pixel(i)] += 1u;\n    }\n}\n",
      "line": 29
    },
    "global": {
      "chapter": "02-global-atomics",
      "code": "// Chapter 02, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Work-items count in global memory, which all of them share.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,              // pixels\n    width: u32,              // of a row of the picture\n    image_pitch_bytes: u32,  // from one row to the next\n    table_pitch_bins: u32,\n    table_count: u32,\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n// The same memory as plain numbers.\n@group(0) @binding(2) var<storage, read_write> plain_histogram: array<u32>;\n@group(0) @binding(3) var<storage, read_write> tables: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> plain_tables: array<u32>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// ---- global: one table, one atomic addition for each pixel ----\n//\n// The loop strides by the number of work-items in the whole launch (grid-stride), so any launch\n// counts any picture, and at each step neighbouring work-items read neighbouring pixels.\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_global(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {\n    for (var i = item.x; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&histogram[pixel(i)], 1u);\n    }\n}\n",
      "line": 29
    },
    "subhist": {
      "chapter": "02-global-atomics",
      "code": "// Chapter 02, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Work-items count in global memory, which all of them share.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,              // pixels\n    width: u32,              // of a row of the picture\n    image_pitch_bytes: u32,  // from one row to the next\n    table_pitch_bins: u32,\n    table_count: u32,\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n// The same memory as plain numbers.\n@group(0) @binding(2) var<storage, read_write> plain_histogram: array<u32>;\n@group(0) @binding(3) var<storage, read_write> tables: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> plain_tables: array<u32>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// ---- subhist: one table for each work-group, still in global memory ----\n//\n// The picture is a rectangle here: its rows are `image_pitch_bytes` apart, which may be more than\n// `width`. A group covers as many columns as it has work-items, and each work-item walks down the\n// rows of its column. Where there are fewer groups than the picture needs, they stride on.\n@compute @workgroup_size(GROUP_SIZE)\nfn subhist(@builtin(global_invocation_id) item: vec3u, @builtin(workgroup_id) group: vec3u,\n           @builtin(num_workgroups) groups: vec3u) {\n    let table = (group.y * groups.x + group.x) * the.table_pitch_bins;\n    for (var y = group.y; y * the.width < the.count; y += groups.y) {\n        for (var x = item.x; x < the.width; x += groups.x * GROUP_SIZE) {\n            // The last row may be short.\n            if (y * the.width + x < the.count) {\n                atomicAdd(&tables[table + pixel(y * the.image_pitch_bytes + x)], 1u);\n            }\n        }\n    }\n}\n\n// The second step: a work-item for each bin adds up that bin of all tables. Nobody else writes its\n// result, so it needs no atomic, and the histogram needs no zeroing.\n@compute @workgroup_size(GROUP_SIZE)\nfn sum_tables(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {\n    for (var bin = item.x; bin < BINS; bin += groups.x * GROUP_SIZE) {\n        var sum = 0u;\n        for (var table = 0u; table < the.table_count; table += 1u) {\n            sum += plain_tables[table * the.table_pitch_bins + bin];\n        }\n        plain_histogram[bin] = sum;\n    }\n}\n",
      "line": 29
    },
    "local": {
      "chapter": "03-local-atomics",
      "code": "// Chapter 03, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Each work-group counts in local memory (WGSL: workgroup), which belongs to it alone, and hands\n// its table over once.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,  // pixels\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> buckets: array<u32>;\nvar<workgroup> table: array<atomic<u32>, BINS>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// ---- local: the five steps ----\n//\n// Every loop over the bins strides by the size of the *group*, because the group's own work-items\n// share the work. Striding by the global size here is a mistake that was published: then each group\n// merges only the first bins of its table.\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_local(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,\n                   @builtin(num_workgroups) groups: vec3u) {\n    // Step 1: zero the group's table. WGSL does it before, too; OpenCL and CUDA do not.\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicStore(&table[bin], 0u);\n    }\n    // Step 2: nobody counts before all bins are zero.\n    workgroupBarrier();\n\n    // Step 3: count, striding by all work-items of the launch.\n    for (var i = group.x * GROUP_SIZE + item; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&table[pixel(i)], 1u);\n    }\n    // Step 4: nobody reads the table before all have counted.\n    workgroupBarrier();\n\n    // Step 5: add the table to the histogram, with atomics, for other groups do the same.\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicAdd(&histogram[bin], atomicLoad(&table[bin]));\n    }\n}\n",
      "line": 24
    },
    "local-buckets": {
      "chapter": "03-local-atomics",
      "code": "// Chapter 03, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Each work-group counts in local memory (WGSL: workgroup), which belongs to it alone, and hands\n// its table over once.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,  // pixels\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> buckets: array<u32>;\nvar<workgroup> table: array<atomic<u32>, BINS>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// ---- local-buckets: each group writes its own row, and the host adds the rows ----\n//\n// Steps 1 to 4 are the same. A row belongs to one group, so step 5 needs no atomic.\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_buckets(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,\n                     @builtin(num_workgroups) groups: vec3u) {\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicStore(&table[bin], 0u);\n    }\n    workgroupBarrier();\n    for (var i = group.x * GROUP_SIZE + item; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&table[pixel(i)], 1u);\n    }\n    workgroupBarrier();\n    let row = group.x * BINS;\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        buckets[row + bin] = atomicLoad(&table[bin]);\n    }\n}\n",
      "line": 24
    },
    "lane-bins": {
      "chapter": "04-per-thread-bins",
      "code": "// Chapter 04, the WGSL kernel, which runs in a page: docs/site/play/lab.html.\n// Counters of one's own for each lane.\n\nconst BINS = 256u;\n\n// The page passes the size of the groups, and how many copies of the table there are, when it\n// builds this file.\noverride GROUP_SIZE: u32;\noverride COPIES: u32;\n\nstruct Arguments {\n    count: u32,  // pixels\n    loads: u32,\n}\n@group(0) @binding(0) var<storage, read> vectors: array<vec4u>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\nvar<workgroup> table: array<atomic<u32>, BINS * COPIES>;\n\n// WGSL has no bytes: four pixels come in a word, and sixteen in a vector.\nfn pixel(i: u32) -> u32 {\n    return (vectors[i / 16u][i / 4u % 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// ---- lane-bins: a copy of the table for each lane, wholly in that lane's bank ----\n//\n// COPIES tables of 32-bit counters: 32, or fewer where the local memory is small. Bin b of copy k\n// is word b * COPIES + k. With 32 copies that word is in bank k, whatever the pixel: the 32\n// work-items that run in step use 32 banks, and none waits for another. Work-items with the same\n// lane share a copy, so the additions are atomic.\n//\n// Pixels come 16 to a load, and four loads are on their way at once. To see what each is worth,\n// `loads` can be 1 in place of 4, or 0: then a pixel to a load, as in the chapters before.\nfn count_four(own: u32, four: u32) {\n    atomicAdd(&table[own + (four & 0xffu) * COPIES], 1u);\n    atomicAdd(&table[own + ((four >> 8u) & 0xffu) * COPIES], 1u);\n    atomicAdd(&table[own + ((four >> 16u) & 0xffu) * COPIES], 1u);\n    atomicAdd(&table[own + (four >> 24u) * COPIES], 1u);\n}\n\nfn count_sixteen(own: u32, sixteen: vec4u) {\n    for (var n = 0u; n < 4u; n += 1u) {\n        count_four(own, sixteen[n]);\n    }\n}\n\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_lanes(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,\n                   @builtin(num_workgroups) groups: vec3u) {\n    for (var word = item; word < BINS * COPIES; word += GROUP_SIZE) {\n        atomicStore(&table[word], 0u);\n    }\n    workgroupBarrier();\n\n    let own = item % COPIES;\n    let vector_count = select(0u, the.count / 16u, the.loads > 0u);\n    let stride = groups.x * GROUP_SIZE;\n    var i = group.x * GROUP_SIZE + item;\n    // Four loads before the first count: while one is on its way, so are the others.\n    for (; the.loads == 4u && i + 3u * stride < vector_count; i += 4u * stride) {\n        let first = vectors[i];\n        let second = vectors[i + stride];\n        let third = vectors[i + 2u * stride];\n        let fourth = vectors[i + 3u * stride];\n        count_sixteen(own, first);\n        count_sixteen(own, second);\n        count_sixteen(own, third);\n        count_sixteen(own, fourth);\n    }\n    for (; i < vector_count; i += stride) {\n        count_sixteen(own, vectors[i]);\n    }\n    // The last few pixels, fewer than 16; with no loads of 16 all of them.\n    for (i = vector_count * 16u + group.x * GROUP_SIZE + item; i < the.count; i += stride) {\n        atomicAdd(&table[own + pixel(i) * COPIES], 1u);\n    }\n    workgroupBarrier();\n\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        var sum = 0u;\n        for (var n = 0u; n < COPIES; n += 1u) {\n            // Each work-item begins with another copy: the banks take turns here, too.\n            sum += atomicLoad(&table[bin * COPIES + (item + n) % COPIES]);\n        }\n        atomicAdd(&histogram[bin], sum);\n    }\n}\n",
      "line": 25
    }
  },
  "choices": {
    "places": {
      "over pixels": {
        "pixels": "the loop over the pixels",
        "rows": "the loop over the rows",
        "columns": "the loop over the columns",
        "short": "the test for the end of a short last row",
        "loads": "the loop over the loads",
        "rest": "the loop over what is left",
        "tail": "the loop for the last pixels",
        "load": "one of several in a turn",
        "word": "a word of a load",
        "byte": "a byte of a word",
        "pieces": "the loop over the pieces of the picture",
        "piece": "the size of a piece",
        "count": "the number of pixels"
      },
      "over bins": {
        "histogram": "the zeroing of the histogram",
        "tables": "the zeroing of the tables",
        "row": "the loop that zeroes the group's row",
        "zero": "the loop that zeroes the table",
        "zeroed": "the barrier between zeroing and counting",
        "counted": "the barrier between counting and merging",
        "again": "the barrier behind the merge",
        "merge": "the loop that merges the table",
        "items": "the loop that adds up the work-items' counters",
        "copies": "the loop that adds up the copies",
        "clear": "setting the sum to zero",
        "bin-loop": "the loop over the bins of the sum",
        "sum": "the loop that adds up the tables",
        "handover": "the step of the group that merges last",
        "layout": "every loop"
      }
    },
    "parts": {
      "times": {"says": "{0} is done only where {2}.", "is": {"0": "{0} is missing.", "1": "{0} is missing.", "2": "{0} is done twice."}},
      "start": {"says": "{0} starts at {2}, not at {1}."},
      "end": {"says": "{0} ends before {2}, not before {1}."},
      "stride": {"says": "{0} strides by {2}, not by {1}.", "is": {"1 << 40": "{0} runs once: there is an `if` where a loop should be."}},
      "walk": {"is": {"as it is": "", "by items": "{0} goes over the work-items of each group, not of the launch.", "by all": "{0} goes over the work-items of the launch, not of the group.", "by groups": "{0} goes over the groups.", "by each": "{0} is done as a whole by each work-item."}},
      "first": {"says": "{0} does its first turn twice."},
      "value": {"says": "In {0} a pixel of value v is counted as if it were {2}."},
      "bytes": {"says": "{0} takes {2} bytes for a pixel."},
      "address": {"says": "In {0} a load begins at {2}, not at {1}."},
      "weight": {"says": "In {0} {2} is added, not {1}."},
      "how": {
        "is": {
          "atomic": "{0} adds to what was there before.",
          "plain": "{0} adds without an atomic, and what others add in between is lost.",
          "assigned": "{0} overwrites a count where it should be added.",
          "or": "{0} takes `or` for an addition.",
          "xor": "{0} takes `xor` for an addition.",
          "larger": "{0} takes the larger of two counts, not their sum.",
          "subtracted": "{0} subtracts where it should add.",
          "and": "{0} takes `and` for an addition.",
          "smaller": "{0} takes the smaller of two counts, not their sum."
        }
      },
      "write-index": {"says": "{0} writes at {2}, not at {1}."},
      "read-index": {"says": "{0} reads at {2}, not at {1}."},
      "pitch": {"says": "In {0} a number is multiplied by {2}, not by {1}."},
      "place": {"says": "In {0} counters lie at {2}."},
      "empty": {"is": {"taken": "", "stops": "{0} stops at the first bin that is empty.", "passed over": "{0} does not write the bins that are empty, and they keep what was there."}},
      "width": {
        "is": {
          "32 bits": "",
          "16 bits": "A counter has 16 bits: with 65536 or more it begins at 0 again.",
          "8 bits": "A counter has 8 bits: with 256 or more it begins at 0 again.",
          "16 bits with a sign": "A counter has 16 bits with a sign: from 32768 on it is negative.",
          "8 bits with a sign": "A counter has 8 bits with a sign: from 128 on it is negative.",
          "float": "A counter has a float, which beyond 16777216 cannot be increased by one.",
          "up to 255": "A counter has 8 bits, and stays at 255.",
          "7 bits": "A counter has 7 bits."
        }
      },
      "number": {"says": "{0} takes {2} for {1}."},
      "which": {"says": "{0} takes {2} for {1}."},
      "term": {"says": "In {0} {2} stands for {1} in a counter's place."},
      "return": {"says": "Work-items for which {2} do not reach the barrier: they return before it, or it stands in an `if`."}
    },
    "lists": {
      "at hand": [[8, "item", "id", "group", "size", "all", "groups"], [9, "count"], [8, "0", "1"], [9, "v", "copies"]],
      "near it": [[8, "X - item", "X - id", "X + item", "X + id", "X + group", "X - group", "X + size", "X - size", "X + all", "X - all", "X + 1", "X - 1"], [9, "X + done"]],
      "scaled": [[8, "X * 2", "X / 2", "X * 4", "X / 4", "X * 8", "X / 8", "X * 16", "X / 16", "X * size", "X / size", "X * groups", "X / groups", "X * all", "X / all", "X % size"], [9, "X % groups"], [8, "X / 4 * 4", "X / 16 * 16"], [9, "X % 256", "X * 256", "255 - X"]]
    },
    "outcomes": [
      {"part": "times", "at": "any", "name": "missing", "becomes": [[0, "0"]]},
      {"part": "times", "at": "over pixels", "name": "counted-several-times", "becomes": [[2, "2"]]},
      {"part": "times", "at": "over bins", "name": "done-twice", "becomes": [[2, "2"]]},
      {"part": "times", "at": "over bins", "name": "only-the-first-work-item", "becomes": [[0, "item == 0 ? X : 0", "id == 0 ? X : 0"]]},
      {"part": "times", "at": "over pixels", "name": "only-the-first-work-item", "becomes": [[2, "item == 0 ? X : 0", "id == 0 ? X : 0"]]},
      {"part": "times", "at": "any", "name": "only-the-last-work-item", "becomes": [[2, "item == size - 1 ? X : 0"]]},
      {"part": "times", "at": "any", "name": "first-work-item-left-out", "becomes": [[2, "item > 0 ? X : 0"]]},
      {"part": "times", "at": "any", "name": "last-work-item-left-out", "becomes": [[2, "item < size - 1 ? X : 0"]]},
      {"part": "times", "at": "any", "name": "only-some-work-items", "becomes": [[2, "item < 32 ? X : 0", "item < 16 ? X : 0", "item % 2 == 0 ? X : 0", "item < 256 ? X : 0"]]},
      {"part": "times", "at": "over bins", "name": "only-the-first-group", "becomes": [[1, "group == 0 ? X : 0"]]},
      {"part": "times", "at": "over pixels", "name": "only-the-first-group", "becomes": [[3, "group == 0 ? X : 0"]]},
      {"part": "times", "at": "any", "name": "only-the-last-group", "becomes": [[1, "group == groups - 1 ? X : 0"]]},
      {"part": "times", "at": "any", "name": "first-table-skipped", "becomes": [[1, "group > 0 ? X : 0"]]},
      {"part": "times", "at": "any", "name": "last-table-skipped", "becomes": [[1, "group < groups - 1 ? X : 0"]]},
      {"part": "times", "at": ["zero"], "name": "table-not-zeroed", "becomes": [[0, "turn == 0 ? X : 0"]]},
      {"part": "times", "at": ["short"], "name": "last-row-taken-as-full", "becomes": [[0, "1"]]},
      {"part": "start", "at": "any", "name": "wrong-start", "becomes": [[0, "id", "item", "group", "0"]]},
      {"part": "start", "at": "any", "name": "first-pixel-dropped", "becomes": [[0, "X + 1"]]},
      {"part": "start", "at": "over pixels", "name": "wrong-start", "becomes": [[3, "group + item", "group * groups + item", "group * 256 + item", "item * groups + group", "group * all + item"]]},
      {"part": "start", "at": ["tail"], "name": "wrong-start", "becomes": [[1, "X - id", "X - id + item"]]},
      {"part": "start", "at": ["tail"], "name": "tail-begins-too-early", "becomes": [[1, "count / 16 + id", "count / 16 * 4 + id"]]},
      {"part": "stride", "at": "any", "name": "loop-runs-once", "becomes": [[0, "1 << 40"]]},
      {"part": "stride", "at": "any", "name": "wrong-stride", "becomes": [[0, "all", "size", "groups", "1"], [1, "2", "256", "X * 2"], [2, "X * 3"], [1, "X * 4"], [2, "X * 64"], [3, "X * size", "X / groups", "X * groups"]]},
      {"part": "stride", "at": ["rows"], "name": "wrong-stride", "becomes": [[0, "groups / groupsY"], [1, "size * groupsY"]]},
      {"part": "start", "at": ["rows"], "name": "wrong-start", "becomes": [[1, "group % (groups / groupsY)"]]},
      {"part": "end", "at": "any", "name": "one-pixel-too-many", "becomes": [[0, "X + 1"]]},
      {"part": "end", "at": "any", "name": "last-pixel-dropped", "becomes": [[0, "X - 1"]]},
      {"part": "end", "at": "any", "name": "only-a-part", "becomes": [[0, "X / 2", "X / 4", "X / 8", "X / 16"], [3, "X / 3"], [2, "X / 32"], [1, "X / size", "X / groups"]]},
      {
        "part": "end",
        "at": "over pixels",
        "name": "tail-dropped",
        "becomes": [
          [0, "X / all * all", "X / groups * groups", "X / width * width", "X / 8 * 8", "X / 16 * 16", "X / 32 * 32", "X / 64 * 64"],
          [1, "X / 128 * 128"],
          [0, "X / 256 * 256"],
          [1, "X / 512 * 512", "X / 1024 * 1024", "X / (4 * all) * (4 * all)", "X / (16 * all) * (16 * all)"],
          [2, "X / (64 * all) * (64 * all)"],
          [1, "X / (255 * size) * (255 * size)", "X / (255 * all) * (255 * all)"],
          [2, "X - all"]
        ]
      },
      {"part": "end", "at": "any", "name": "tail-dropped", "becomes": [[0, "X / size * size", "X / 4 * 4"]]},
      {"part": "end", "at": ["loads"], "name": "one-pixel-too-many", "becomes": [[2, "X + 3 * all"]]},
      {"part": "end", "at": ["rows"], "name": "tail-dropped", "becomes": [[0, "count / width"]]},
      {"part": "end", "at": "over bins", "name": "tail-dropped", "becomes": [[1, "X / 2 * 2"]]},
      {"part": "end", "at": "over pixels", "name": "wrong-end", "becomes": [[1, "(X + all - 1) / all * all", "(X + size - 1) / size * size", "(X + 15) / 16 * 16"]]},
      {"part": "end", "at": ["columns"], "name": "padding-counted", "becomes": [[0, "pitch"]]},
      {"part": "end", "at": "over bins", "name": "wrong-end", "becomes": [[1, "1", "2", "16", "32", "64"], [2, "127"], [1, "128"], [2, "192"], [1, "254", "256"], [0, "size"], [1, "groups", "all"], [2, "count"], [1, "256 / size"]]},
      {"part": "end", "at": ["pixels"], "name": "tail-dropped", "becomes": [[1, "id + (X - id + all - 1) / all / 4 * 4 * all", "id + (X - id + all - 1) / all / 2 * 2 * all"]]},
      {"part": "number", "at": ["count"], "name": "only-a-part", "becomes": [[2, "X / 2", "X / 4", "X / 8"]]},
      {"part": "number", "at": ["count"], "name": "last-pixel-dropped", "becomes": [[2, "X - 1"]]},
      {"part": "number", "at": ["count"], "name": "one-pixel-too-many", "becomes": [[2, "X + 1"]]},
      {"part": "number", "at": ["count"], "name": "nothing-counted", "becomes": [[2, "0"]]},
      {"part": "number", "at": ["pixels"], "name": "tail-dropped", "becomes": [[0, "count / all"], [2, "X - 1"]]},
      {"part": "number", "at": ["pixels"], "name": "wrong-stride", "becomes": [[2, "count / groups", "count / size"]]},
      {"part": "end", "at": ["pixels"], "name": "last-pixel-dropped", "becomes": [[1, "min((id + 1) * ((count + all - 1) / all), count) - 1"]]},
      {"part": "number", "at": ["piece"], "name": "8-bit-overflow", "becomes": [[0, "256"], [1, "257", "512", "1024"]]},
      {"part": "value", "at": "any", "name": "bins-shifted", "becomes": [[0, "X + 1", "X - 1", "(X + 1) & 255", "(X - 1) & 255"], [2, "(X + 2) & 255", "(X - 2) & 255"]]},
      {"part": "value", "at": "any", "name": "bins-reversed", "becomes": [[0, "255 - X"]]},
      {"part": "value", "at": "any", "name": "signed-values", "becomes": [[0, "X > 127 ? X - 256 : X"], [1, "X > 127 ? 0 : X", "X > 127 ? 256 - X : X", "X ^ 128"]]},
      {"part": "value", "at": "any", "name": "half-of-the-values", "becomes": [[0, "X & 127"], [1, "X & 63", "X & 31", "X & 15", "X & 7", "X & 254", "X & 252", "X & 240"]]},
      {"part": "value", "at": "any", "name": "wrong-bin", "becomes": [[0, "X / 2", "X / 4"], [1, "X / 8", "X / 16"], [0, "X * 2", "X * 2 & 255", "X * 4", "X * 4 & 255"], [1, "X ^ 1", "X | 1"], [0, "X % 255"], [2, "X % 254"], [1, "X % size"]]},
      {"part": "value", "at": "any", "name": "last-bin-missing", "becomes": [[1, "X > 254 ? 256 : X"]]},
      {"part": "value", "at": "any", "name": "first-bin-missing", "becomes": [[1, "X < 1 ? -1 : X"]]},
      {"part": "bytes", "at": "any", "name": "wrong-element-type", "becomes": [[1, "2", "4"]]},
      {"part": "read-index", "at": ["short"], "name": "pitch-not-used", "becomes": [[0, "width"], [1, "pitch * 2", "all"]]},
      {"part": "which", "at": ["short"], "name": "pitch-in-the-test", "becomes": [[0, "pitch"]]},
      {"part": "address", "at": "any", "name": "misaligned-loads", "becomes": [[0, "X + 1", "X - 1"], [1, "X + 4", "X + 16", "X / 4"]]},
      {"part": "which", "at": ["load", "word", "byte"], "name": "counted-twice", "becomes": [[0, "0", "1", "2", "3"]]},
      {"part": "which", "at": "over bins", "name": "merges-part-of-its-own", "becomes": [[0, "item"], [1, "0", "item + done"]]},
      {"part": "which", "at": ["copies"], "name": "merges-part-of-its-own", "becomes": [[0, "item % copies"]]},
      {"part": "which", "at": ["pixels"], "name": "counters-are-shared", "becomes": [[0, "0"], [2, "item / 2"]]},
      {"part": "number", "at": ["pixels", "tail"], "name": "wrong-copy", "becomes": [[1, "0", "group % copies", "item"]]},
      {"part": "pitch", "at": "any", "name": "rows-overlap", "becomes": [[0, "X - 1"], [1, "X + 1"], [2, "X * 2"], [1, "X / 2", "X / 4"], [0, "size"], [1, "groups", "1"], [0, "0"]]},
      {"part": "weight", "at": "any", "name": "merge-adds-one", "becomes": [[0, "1"]]},
      {"part": "weight", "at": "over bins", "name": "merge-adds-one", "becomes": [[1, "X > 0"]]},
      {"part": "weight", "at": "any", "name": "counted-several-times", "becomes": [[1, "X * 2", "X * 4"], [2, "X * 16"], [1, "X * size", "X * groups"]]},
      {"part": "weight", "at": "over pixels", "name": "adds-the-value", "becomes": [[1, "v"]]},
      {"part": "weight", "at": "any", "name": "nothing-counted", "becomes": [[2, "0"]]},
      {"part": "how", "at": "any", "name": "no-atomic", "becomes": [[0, "plain"]]},
      {"part": "how", "at": "any", "name": "overwrites", "becomes": [[0, "assigned"]]},
      {"part": "how", "at": "any", "name": "wrong-operation", "becomes": [[1, "or", "xor", "larger", "subtracted"], [2, "and", "smaller"]]},
      {"part": "empty", "at": "over bins", "name": "stops-at-an-empty-bin", "becomes": [[1, "stops"]]},
      {"part": "empty", "at": "over bins", "name": "empty-bins-not-written", "becomes": [[1, "passed over"]]},
      {"part": "walk", "at": "any", "name": "wrong-start", "becomes": [[1, "by items", "by all", "by groups"]]},
      {"part": "walk", "at": "any", "name": "counted-several-times", "becomes": [[0, "by each"]]},
      {"part": "first", "at": "any", "name": "first-turn-twice", "becomes": [[1, "2"]]},
      {"part": "return", "at": "any", "name": "early-return", "becomes": [[0, "id >= count", "item >= 256"]]},
      {"part": "start", "at": "any", "name": "wrong-start", "becomes": ["at hand", "near it", "scaled"]},
      {"part": "stride", "at": "any", "name": "wrong-stride", "becomes": ["at hand", "near it", "scaled"]},
      {"part": "end", "at": "any", "name": "wrong-end", "becomes": ["at hand", "near it", "scaled"]},
      {"part": "read-index", "at": "over pixels", "name": "wrong-pixel", "becomes": ["at hand", "near it", "scaled"]},
      {"part": "read-index", "at": "over bins", "name": "wrong-index", "becomes": ["at hand", "near it", "scaled"]},
      {"part": "write-index", "at": "any", "name": "wrong-index", "becomes": ["at hand", "near it", "scaled"]},
      {"part": "address", "at": "any", "name": "misaligned-loads", "becomes": ["at hand", "near it", "scaled"]},
      {"part": "number", "at": "any", "name": "wrong-number", "becomes": ["at hand", "near it", "scaled"]},
      {"part": "pitch", "at": "any", "name": "rows-overlap", "becomes": ["at hand", "near it", "scaled"]},
      {"part": "weight", "at": "any", "name": "wrong-number-added", "becomes": ["at hand", "near it", "scaled", [3, "X > 1 ? X : 0"], [4, "X > 0 ? X - 1 : 0", "X > 255 ? 255 : X", "X & 65535"]]},
      {"part": "value", "at": "any", "name": "wrong-bin", "becomes": ["at hand", "near it", "scaled", [3, "where & 255"], [4, "where"], [5, "X > 254 ? 254 : X", "X < 1 ? 1 : X", "X ^ 2", "(X & 15) << 4 | X >> 4", "(X + 128) & 255", "X / 3"]]},
      {"part": "read-index", "at": ["rows"], "name": "wrong-row", "becomes": [[3, "y + done", "y", "done"]]},
      {"part": "how", "at": ["merge", "bin-loop"], "name": "adds-to-what-is-there", "becomes": [[1, "atomic"]]},
      {"part": "term", "at": "any", "name": "wrong-layout", "becomes": [[1, "itsBin", "owner", "0", "1", "itsBin / 2", "itsBin / 8", "itsBin / 16", "itsBin / 64", "itsBin / 4", "itsBin % 4", "itsBin % 64", "owner % 4", "32", "64", "256", "size"], [2, "X * 2", "X / 2", "X * 4"], [3, "X + 1", "3 - X"]]},
      {
        "part": "place",
        "at": "any",
        "name": "wrong-layout",
        "becomes": [
          [1, "owner * 256 + itsBin", "itsBin * size + owner", "itsBin * tables + owner", "itsBin * copies + owner", "owner + itsBin", "(itsBin / 4 * size + owner) * 4 + itsBin % 4"],
          [
            2,
            "itsBin",
            "owner",
            "itsBin / 4 * size * 4 + owner + itsBin % 4",
            "itsBin / 4 * size + owner * 4 + itsBin % 4",
            "itsBin / 4 * size + owner",
            "(itsBin % 64 * size + owner) * 4 + itsBin / 64",
            "itsBin * 32 + owner",
            "(itsBin % 4 * size + owner) * 4 + itsBin / 4",
            "itsBin * 256 + owner",
            "itsBin * (copies + 1) + owner",
            "itsBin * copies + (owner + 1) % copies"
          ],
          [6, "owner * 64 + itsBin", "owner * 4 + itsBin", "owner * 255 + itsBin", "owner * 257 + itsBin", "owner * size + itsBin", "owner * copies + itsBin"]
        ]
      },
      {"part": "width", "at": "any", "name": "8-bit-overflow", "becomes": [[0, "8 bits"], [1, "up to 255", "7 bits"]]},
      {"part": "width", "at": "any", "name": "16-bit-overflow", "becomes": [[0, "16 bits"]]},
      {"part": "width", "at": "any", "name": "signed-counters", "becomes": [[1, "8 bits with a sign", "16 bits with a sign"]]},
      {"part": "width", "at": "any", "name": "float-counters", "becomes": [[0, "float"]]}
    ],
    "called": {
      "histogram": {"": "not-zeroed"},
      "tables": {"rows-overlap": "rows-overlap", "": "not-zeroed"},
      "row": {"": "not-zeroed"},
      "zero": {"": "table-not-zeroed"},
      "zeroed": {"early-return": "early-return", "": "no-barrier-after-zeroing"},
      "counted": {"missing": "no-barrier-before-merge", "only-some-work-items": "no-barrier-before-merge"},
      "again": {"": "no-barrier-before-the-next-piece"},
      "pixels": {"missing": "nothing-counted", "no-atomic": "lost-updates", "merge-adds-one": "counted-once", "overwrites": "counted-once"},
      "short": {"missing": "nothing-counted"},
      "loads": {"missing": "only-the-tail"},
      "rows": {"last-pixel-dropped": "tail-dropped"},
      "columns": {"tail-dropped": "cropped", "only-a-part": "cropped", "last-pixel-dropped": "cropped"},
      "sum": {
        "tail-dropped": "tables-left-out",
        "first-turn-twice": "first-table-twice",
        "missing": "nothing-merged",
        "overwrites": "merge-overwrites",
        "loop-runs-once": "only-the-first-group",
        "last-pixel-dropped": "last-table-skipped",
        "first-pixel-dropped": "first-table-skipped",
        "wrong-end": "tables-left-out",
        "only-a-part": "tables-left-out",
        "wrong-stride": "tables-left-out"
      },
      "rest": {"missing": "tail-dropped"},
      "load": {"counted-twice": "load-counted-twice", "missing": "part-of-a-load-skipped"},
      "word": {"counted-twice": "part-of-a-load-skipped", "missing": "part-of-a-load-skipped"},
      "byte": {"counted-twice": "byte-counted-twice", "missing": "part-of-a-load-skipped", "half-of-the-values": "part-of-a-load-masked", "no-atomic": "lost-updates"},
      "clear": {"missing": "sum-goes-on"},
      "tail": {"missing": "tail-dropped", "only-a-part": "tail-dropped", "wrong-start": "tail-counted-twice", "rows-overlap": "tail-in-wrong-bins", "no-atomic": "lost-updates"},
      "merge": {
        "wrong-end: size": "merge-without-a-loop",
        "missing": "nothing-merged",
        "wrong-stride: all": "merge-strided-globally",
        "loop-runs-once": "merge-without-a-loop",
        "wrong-start: id": "merge-starts-globally",
        "no-atomic": "merge-without-atomic",
        "overwrites": "merge-overwrites",
        "wrong-index: item": "bins-repeat",
        "last-pixel-dropped": "last-bin-missing",
        "first-pixel-dropped": "first-bin-missing",
        "only-the-first-work-item": "merged-by-one-work-item"
      },
      "bin-loop": {"wrong-end: size": "merge-without-a-loop", "missing": "nothing-written", "loop-runs-once": "merge-without-a-loop", "last-pixel-dropped": "last-bin-missing", "first-pixel-dropped": "first-bin-missing"},
      "handover": {"": "last-table-skipped"},
      "copies": {"missing": "nothing-merged", "loop-runs-once": "only-the-first-copy", "last-pixel-dropped": "last-copy-skipped", "first-pixel-dropped": "first-copy-skipped"}
    }
  },
  "tasks": {
    "01/merge": {
      "chapter": "02-global-atomics",
      "code": "// Chapter 02, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Work-items count in global memory, which all of them share.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,              // pixels\n    width: u32,              // of a row of the picture\n    image_pitch_bytes: u32,  // from one row to the next\n    table_pitch_bins: u32,\n    table_count: u32,\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n// The same memory as plain numbers.\n@group(0) @binding(2) var<storage, read_write> plain_histogram: array<u32>;\n@group(0) @binding(3) var<storage, read_write> tables: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> plain_tables: array<u32>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// Exercise 01/merge, in the lab: each work-item counts for itself, and merges once.\n@compute @workgroup_size(GROUP_SIZE)\nfn count_part(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {\n    var own: array<u32, BINS>;\n    for (var i = item.x; i < the.count; i += groups.x * GROUP_SIZE) {\n        own[pixel(i)] += 1u;\n    }\n    // ---- your part: add `own` to the histogram, and lose no other work-item's counts ----\n    for (var bin = 0u; bin < BINS; bin += 1u) {\n        plain_histogram[bin] += own[bin];  // TODO: others merge at the same time\n    }\n    // ---- end of your part ----\n}\n",
      "line": 29,
      "exercise": "01-cpu/exercise/merge",
      "title": "A thread-safe merge",
      "goal": "Each thread counts its part of the picture in a table of its own. Make the last step correct: all threads add their tables to one histogram.",
      "hints": [
        "`+=` is a read, an addition and a write. Another thread's write may come between them, and is lost. The lesson shows this step by step.",
        "One way: only one thread at a time may merge. Put a `std::mutex` into `Shared`, so that all threads use the same one, and a `std::lock_guard` before the loop (give it a name, or it is gone at once). The other way: every single addition is atomic, with `fetch_add` of `std::atomic_ref` from `<atomic>`.",
        "Take a lock once for the whole loop, not once for each bin. With atomic additions there is nothing else to share. In the lab it is `atomicAdd(&histogram[bin], own[bin])`."
      ],
      "kernels": ["count_part"],
      "zeroed": [2],
      "tables": 0,
      "like": "items",
      "runs": "sizes: --random 0 --groups 3 --group-size 64\nsizes: --random 1 --groups 3 --group-size 64\nsizes: --random 255 --groups 3 --group-size 64\nsizes: --random 257 --groups 3 --group-size 64\nsizes: --random 1048573 --groups 3 --group-size 64\ndistributions: --constant 0 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 127 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 255 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 201 --random 70001 --groups 1 --group-size 64\ndistributions: --values 4 --random 70001 --groups 4 --group-size 96\ndistributions: --ramp --random 70001 --groups 4 --group-size 96\ndistributions: --contention 40 --random 70001 --groups 4 --group-size 96\nlaunches: --random 20011 --groups 1 --group-size 1\nlaunches: --random 20011 --groups 2 --group-size 1\nlaunches: --random 20011 --groups 3 --group-size 1\nlaunches: --random 20011 --groups 8 --group-size 1\nlaunches: --random 20011 --groups 64 --group-size 1\nfree of faults: --random 1 --groups 3 --group-size 64\nfree of faults: --random 255 --groups 3 --group-size 64\nfree of faults: --random 257 --groups 3 --group-size 64"
    },
    "02/no-lost-counts": {
      "chapter": "02-global-atomics",
      "code": "// Chapter 02, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Work-items count in global memory, which all of them share.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,              // pixels\n    width: u32,              // of a row of the picture\n    image_pitch_bytes: u32,  // from one row to the next\n    table_pitch_bins: u32,\n    table_count: u32,\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n// The same memory as plain numbers.\n@group(0) @binding(2) var<storage, read_write> plain_histogram: array<u32>;\n@group(0) @binding(3) var<storage, read_write> tables: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> plain_tables: array<u32>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// Exercise 02/no-lost-counts, in the lab: one table for all work-items.\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_global(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {\n    for (var i = item.x; i < the.count; i += groups.x * GROUP_SIZE) {\n        // ---- your part: count this pixel, and lose no other work-item's ----\n        plain_histogram[pixel(i)] += 1u;  // TODO: others add to this counter at the same time\n        // ---- end of your part ----\n    }\n}\n",
      "line": 29,
      "exercise": "02-global-atomics/exercise/no-lost-counts",
      "title": "No lost counts",
      "goal": "Repair `racy`: many work-items (CUDA: threads) add to one table, and no count is lost.",
      "hints": [
        "`++` is a read, an addition and a write, and another work-item may come between them. The race conditions shows this step by step.",
        "You need one operation that does all three. OpenCL calls it `atomic_inc`, CUDA `atomicAdd`.",
        "It takes the address of the counter: `atomic_inc(&histogram[pixels[i]])`, in CUDA `atomicAdd(&histogram[pixels[i]], 1)`, in the lab `atomicAdd(&histogram[pixel(i)], 1u)`."
      ],
      "kernels": ["histogram_global"],
      "zeroed": [2],
      "tables": 0,
      "like": "global",
      "runs": "sizes: --random 0 --groups 3 --group-size 64\nsizes: --random 1 --groups 3 --group-size 64\nsizes: --random 255 --groups 3 --group-size 64\nsizes: --random 257 --groups 3 --group-size 64\nsizes: --random 1048573 --groups 3 --group-size 64\ndistributions: --constant 0 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 127 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 255 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 201 --random 70001 --groups 1 --group-size 64\ndistributions: --values 4 --random 70001 --groups 4 --group-size 96\ndistributions: --ramp --random 70001 --groups 4 --group-size 96\ndistributions: --contention 40 --random 70001 --groups 4 --group-size 96\nlaunches: --random 20011 --groups 1 --group-size 1\nlaunches: --random 20011 --groups 1 --group-size 64\nlaunches: --random 20011 --groups 5 --group-size 96\nlaunches: --random 20011 --groups 2 --group-size 256\nlaunches: --random 20011 --groups 1 --group-size 1024\nlaunches: --random 20011 --groups 700 --group-size 64\nfree of faults: --random 1124 --groups 3 --group-size 32\nfree of faults: --random 200 --groups 2 --group-size 320"
    },
    "02/striped": {
      "chapter": "02-global-atomics",
      "code": "// Chapter 02, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Work-items count in global memory, which all of them share.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,              // pixels\n    width: u32,              // of a row of the picture\n    image_pitch_bytes: u32,  // from one row to the next\n    table_pitch_bins: u32,\n    table_count: u32,\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n// The same memory as plain numbers.\n@group(0) @binding(2) var<storage, read_write> plain_histogram: array<u32>;\n@group(0) @binding(3) var<storage, read_write> tables: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> plain_tables: array<u32>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// Exercise 02/striped, in the lab: eight tables for the whole launch.\nconst TABLES = 8u;\n\n// The tables lie one behind the other, TABLES * BINS counters, all zero at first.\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_striped(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {\n    // ---- your part: choose this work-item's table, and count in it ----\n    // TODO: the launch has groups.x * GROUP_SIZE work-items; this one is number item.x\n    // ---- end of your part ----\n}\n\n// Launched when the other has finished. What is in the histogram before is not zero.\n@compute @workgroup_size(GROUP_SIZE)\nfn sum_tables(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {\n    for (var bin = item.x; bin < BINS; bin += groups.x * GROUP_SIZE) {\n        // ---- your part: add the tables up ----\n        // TODO: from plain_tables, into plain_histogram\n        // ---- end of your part ----\n    }\n}\n",
      "line": 29,
      "exercise": "02-global-atomics/exercise/striped",
      "title": "Eight tables",
      "goal": "Make the queues shorter. Instead of one table the launch has eight. Each work-item (CUDA: thread) counts in one of them, and a second kernel adds them up.",
      "hints": [
        "Which table? Any rule works that gives each of the eight about the same number of work-items, such as the number of the work-item modulo 8. Table t begins at `tables + t * 256`.",
        "Other work-items use the same table, so the additions must still be atomic. In `sum_tables` each bin belongs to one work-item, which needs no atomic.",
        "At first `histogram` can hold anything: assign to it, do not add."
      ],
      "kernels": ["histogram_striped", "sum_tables"],
      "zeroed": [3],
      "tables": 8,
      "like": "",
      "runs": "sizes: --random 0 --groups 3 --group-size 64\nsizes: --random 1 --groups 3 --group-size 64\nsizes: --random 255 --groups 3 --group-size 64\nsizes: --random 257 --groups 3 --group-size 64\nsizes: --random 1048573 --groups 3 --group-size 64\ndistributions: --constant 0 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 127 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 255 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 201 --random 70001 --groups 1 --group-size 64\ndistributions: --values 4 --random 70001 --groups 4 --group-size 96\ndistributions: --ramp --random 70001 --groups 4 --group-size 96\ndistributions: --contention 40 --random 70001 --groups 4 --group-size 96\nlaunches: --random 20011 --groups 1 --group-size 1\nlaunches: --random 20011 --groups 1 --group-size 64\nlaunches: --random 20011 --groups 5 --group-size 96\nlaunches: --random 20011 --groups 2 --group-size 256\nlaunches: --random 20011 --groups 1 --group-size 1024\nlaunches: --random 20011 --groups 700 --group-size 64\nfree of faults: --random 1124 --groups 3 --group-size 32\nfree of faults: --random 200 --groups 2 --group-size 320"
    },
    "03/five-steps": {
      "chapter": "03-local-atomics",
      "code": "// Chapter 03, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Each work-group counts in local memory (WGSL: workgroup), which belongs to it alone, and hands\n// its table over once.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,  // pixels\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> buckets: array<u32>;\nvar<workgroup> table: array<atomic<u32>, BINS>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// Exercise 03/five-steps, in the lab: a table for each work-group, in local memory.\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_local(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,\n                   @builtin(num_workgroups) groups: vec3u) {\n    // ---- your part: the five steps ----\n    // TODO 1: zero the group's table, as if it held anything at first; atomicStore does it\n    // TODO 2: wait: workgroupBarrier()\n    // TODO 3: count, in the table; the launch has groups.x * GROUP_SIZE work-items\n    // TODO 4: wait\n    // TODO 5: add the table to the histogram\n    // ---- end of your part ----\n}\n",
      "line": 24,
      "exercise": "03-local-atomics/exercise/five-steps",
      "title": "The five steps",
      "goal": "Write the kernel of this chapter: a table for each work-group (CUDA: block) in local (CUDA: shared) memory.",
      "hints": [
        "A loop strides by the number of work-items that share its work. The table belongs to the group: `get_local_size(0)` (CUDA: `blockDim.x`). The pixels belong to the whole launch: `get_global_size(0)` (CUDA: `threads`).",
        "A group may have fewer than 256 work-items, or more. So zeroing and merging both need a loop over the table, and a group of 1 must do all of it.",
        "Two work-items of a group may want one bin of the table, and two groups one bin of the histogram: both additions are atomic. `barrier(CLK_LOCAL_MEM_FENCE)` (CUDA: `__syncthreads()`) does the waiting, and no work-item may miss it."
      ],
      "kernels": ["histogram_local"],
      "zeroed": [2],
      "tables": 0,
      "like": "local",
      "runs": "sizes: --random 0 --groups 3 --group-size 64\nsizes: --random 1 --groups 3 --group-size 64\nsizes: --random 255 --groups 3 --group-size 64\nsizes: --random 257 --groups 3 --group-size 64\nsizes: --random 1048573 --groups 3 --group-size 64\ndistributions: --constant 0 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 127 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 255 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 201 --random 70001 --groups 1 --group-size 64\ndistributions: --values 4 --random 70001 --groups 4 --group-size 96\ndistributions: --ramp --random 70001 --groups 4 --group-size 96\ndistributions: --contention 40 --random 70001 --groups 4 --group-size 96\nlaunches: --random 20011 --groups 1 --group-size 1\nlaunches: --random 20011 --groups 1 --group-size 64\nlaunches: --random 20011 --groups 5 --group-size 96\nlaunches: --random 20011 --groups 2 --group-size 256\nlaunches: --random 20011 --groups 1 --group-size 1024\nlaunches: --random 20011 --groups 700 --group-size 64\nfree of faults: --random 1124 --groups 3 --group-size 32\nfree of faults: --random 200 --groups 2 --group-size 320"
    },
    "03/four-mistakes/first": {
      "chapter": "03-local-atomics",
      "code": "// Chapter 03, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Each work-group counts in local memory (WGSL: workgroup), which belongs to it alone, and hands\n// its table over once.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,  // pixels\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> buckets: array<u32>;\nvar<workgroup> table: array<atomic<u32>, BINS>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// Exercise 03/four-mistakes, in the lab: the first. One thing is wrong.\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_local(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,\n                   @builtin(num_workgroups) groups: vec3u) {\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicStore(&table[bin], 0u);\n    }\n    workgroupBarrier();\n    for (var i = group.x * GROUP_SIZE + item; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&table[pixel(i)], 1u);\n    }\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicAdd(&histogram[bin], atomicLoad(&table[bin]));\n    }\n}\n",
      "line": 24,
      "exercise": "03-local-atomics/exercise/four-mistakes",
      "title": "Find and mend four mistakes",
      "goal": "Read kernels that are nearly right. There are four copies of this chapter's kernel, and each has one mistake.",
      "hints": [
        "Go through the five steps of the lesson: zero, wait, count, wait, merge. Does the kernel do each of them, for the whole table, and with all the work-items that share it?",
        "Two of the four are right as long as the group is large enough, or the launch has no more work-items (CUDA: threads) than pixels. One is about who waits, and one is about how far apart the bins of one work-item are.",
        "Count the barriers in the first. In the second ask which work-item zeroes bin 255 where a group has 64 work-items, in the third which work-items reach the barriers, and in the fourth how many work-items share the table that is merged."
      ],
      "kernels": ["histogram_local"],
      "zeroed": [2],
      "tables": 0,
      "like": "local",
      "runs": "sizes: --random 0 --groups 3 --group-size 64\nsizes: --random 1 --groups 3 --group-size 64\nsizes: --random 255 --groups 3 --group-size 64\nsizes: --random 257 --groups 3 --group-size 64\nsizes: --random 1048573 --groups 3 --group-size 64\ndistributions: --constant 0 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 127 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 255 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 201 --random 70001 --groups 1 --group-size 64\ndistributions: --values 4 --random 70001 --groups 4 --group-size 96\ndistributions: --ramp --random 70001 --groups 4 --group-size 96\ndistributions: --contention 40 --random 70001 --groups 4 --group-size 96\nlaunches: --random 20011 --groups 1 --group-size 1\nlaunches: --random 20011 --groups 1 --group-size 64\nlaunches: --random 20011 --groups 5 --group-size 96\nlaunches: --random 20011 --groups 2 --group-size 256\nlaunches: --random 20011 --groups 1 --group-size 1024\nlaunches: --random 20011 --groups 700 --group-size 64\nfree of faults: --random 1124 --groups 3 --group-size 32\nfree of faults: --random 200 --groups 2 --group-size 320"
    },
    "03/four-mistakes/second": {
      "chapter": "03-local-atomics",
      "code": "// Chapter 03, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Each work-group counts in local memory (WGSL: workgroup), which belongs to it alone, and hands\n// its table over once.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,  // pixels\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> buckets: array<u32>;\nvar<workgroup> table: array<atomic<u32>, BINS>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// Exercise 03/four-mistakes, in the lab: the second. One thing is wrong.\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_local(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,\n                   @builtin(num_workgroups) groups: vec3u) {\n    if (item < BINS) {\n        atomicStore(&table[item], 0u);\n    }\n    workgroupBarrier();\n    for (var i = group.x * GROUP_SIZE + item; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&table[pixel(i)], 1u);\n    }\n    workgroupBarrier();\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicAdd(&histogram[bin], atomicLoad(&table[bin]));\n    }\n}\n",
      "line": 24,
      "exercise": "03-local-atomics/exercise/four-mistakes",
      "title": "Find and mend four mistakes",
      "goal": "Read kernels that are nearly right. There are four copies of this chapter's kernel, and each has one mistake.",
      "hints": [
        "Go through the five steps of the lesson: zero, wait, count, wait, merge. Does the kernel do each of them, for the whole table, and with all the work-items that share it?",
        "Two of the four are right as long as the group is large enough, or the launch has no more work-items (CUDA: threads) than pixels. One is about who waits, and one is about how far apart the bins of one work-item are.",
        "Count the barriers in the first. In the second ask which work-item zeroes bin 255 where a group has 64 work-items, in the third which work-items reach the barriers, and in the fourth how many work-items share the table that is merged."
      ],
      "kernels": ["histogram_local"],
      "zeroed": [2],
      "tables": 0,
      "like": "local",
      "runs": "sizes: --random 0 --groups 3 --group-size 64\nsizes: --random 1 --groups 3 --group-size 64\nsizes: --random 255 --groups 3 --group-size 64\nsizes: --random 257 --groups 3 --group-size 64\nsizes: --random 1048573 --groups 3 --group-size 64\ndistributions: --constant 0 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 127 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 255 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 201 --random 70001 --groups 1 --group-size 64\ndistributions: --values 4 --random 70001 --groups 4 --group-size 96\ndistributions: --ramp --random 70001 --groups 4 --group-size 96\ndistributions: --contention 40 --random 70001 --groups 4 --group-size 96\nlaunches: --random 20011 --groups 1 --group-size 1\nlaunches: --random 20011 --groups 1 --group-size 64\nlaunches: --random 20011 --groups 5 --group-size 96\nlaunches: --random 20011 --groups 2 --group-size 256\nlaunches: --random 20011 --groups 1 --group-size 1024\nlaunches: --random 20011 --groups 700 --group-size 64\nfree of faults: --random 1124 --groups 3 --group-size 32\nfree of faults: --random 200 --groups 2 --group-size 320"
    },
    "03/four-mistakes/third": {
      "chapter": "03-local-atomics",
      "code": "// Chapter 03, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Each work-group counts in local memory (WGSL: workgroup), which belongs to it alone, and hands\n// its table over once.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,  // pixels\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> buckets: array<u32>;\nvar<workgroup> table: array<atomic<u32>, BINS>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// Exercise 03/four-mistakes, in the lab: the third. One thing is wrong.\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_local(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,\n                   @builtin(num_workgroups) groups: vec3u) {\n    if (group.x * GROUP_SIZE + item >= the.count) { return; }\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicStore(&table[bin], 0u);\n    }\n    workgroupBarrier();\n    for (var i = group.x * GROUP_SIZE + item; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&table[pixel(i)], 1u);\n    }\n    workgroupBarrier();\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicAdd(&histogram[bin], atomicLoad(&table[bin]));\n    }\n}\n",
      "line": 24,
      "exercise": "03-local-atomics/exercise/four-mistakes",
      "title": "Find and mend four mistakes",
      "goal": "Read kernels that are nearly right. There are four copies of this chapter's kernel, and each has one mistake.",
      "hints": [
        "Go through the five steps of the lesson: zero, wait, count, wait, merge. Does the kernel do each of them, for the whole table, and with all the work-items that share it?",
        "Two of the four are right as long as the group is large enough, or the launch has no more work-items (CUDA: threads) than pixels. One is about who waits, and one is about how far apart the bins of one work-item are.",
        "Count the barriers in the first. In the second ask which work-item zeroes bin 255 where a group has 64 work-items, in the third which work-items reach the barriers, and in the fourth how many work-items share the table that is merged."
      ],
      "kernels": ["histogram_local"],
      "zeroed": [2],
      "tables": 0,
      "like": "local",
      "runs": "sizes: --random 0 --groups 3 --group-size 64\nsizes: --random 1 --groups 3 --group-size 64\nsizes: --random 255 --groups 3 --group-size 64\nsizes: --random 257 --groups 3 --group-size 64\nsizes: --random 1048573 --groups 3 --group-size 64\ndistributions: --constant 0 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 127 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 255 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 201 --random 70001 --groups 1 --group-size 64\ndistributions: --values 4 --random 70001 --groups 4 --group-size 96\ndistributions: --ramp --random 70001 --groups 4 --group-size 96\ndistributions: --contention 40 --random 70001 --groups 4 --group-size 96\nlaunches: --random 20011 --groups 1 --group-size 1\nlaunches: --random 20011 --groups 1 --group-size 64\nlaunches: --random 20011 --groups 5 --group-size 96\nlaunches: --random 20011 --groups 2 --group-size 256\nlaunches: --random 20011 --groups 1 --group-size 1024\nlaunches: --random 20011 --groups 700 --group-size 64\nfree of faults: --random 1124 --groups 3 --group-size 32\nfree of faults: --random 200 --groups 2 --group-size 320"
    },
    "03/four-mistakes/fourth": {
      "chapter": "03-local-atomics",
      "code": "// Chapter 03, the WGSL kernels, which run in a page: docs/site/play/lab.html.\n// Each work-group counts in local memory (WGSL: workgroup), which belongs to it alone, and hands\n// its table over once.\n\nconst BINS = 256u;\n\n// The page passes GROUP_SIZE when it builds this file.\noverride GROUP_SIZE: u32;\n\nstruct Arguments {\n    count: u32,  // pixels\n}\n@group(0) @binding(0) var<storage, read> words: array<u32>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\n@group(0) @binding(3) var<storage, read_write> buckets: array<u32>;\nvar<workgroup> table: array<atomic<u32>, BINS>;\n\n// WGSL has no bytes: four pixels come in a word.\nfn pixel(i: u32) -> u32 {\n    return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// Exercise 03/four-mistakes, in the lab: the fourth. One thing is wrong.\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_local(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,\n                   @builtin(num_workgroups) groups: vec3u) {\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicStore(&table[bin], 0u);\n    }\n    workgroupBarrier();\n    for (var i = group.x * GROUP_SIZE + item; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&table[pixel(i)], 1u);\n    }\n    workgroupBarrier();\n    for (var bin = item; bin < BINS; bin += groups.x * GROUP_SIZE) {\n        atomicAdd(&histogram[bin], atomicLoad(&table[bin]));\n    }\n}\n",
      "line": 24,
      "exercise": "03-local-atomics/exercise/four-mistakes",
      "title": "Find and mend four mistakes",
      "goal": "Read kernels that are nearly right. There are four copies of this chapter's kernel, and each has one mistake.",
      "hints": [
        "Go through the five steps of the lesson: zero, wait, count, wait, merge. Does the kernel do each of them, for the whole table, and with all the work-items that share it?",
        "Two of the four are right as long as the group is large enough, or the launch has no more work-items (CUDA: threads) than pixels. One is about who waits, and one is about how far apart the bins of one work-item are.",
        "Count the barriers in the first. In the second ask which work-item zeroes bin 255 where a group has 64 work-items, in the third which work-items reach the barriers, and in the fourth how many work-items share the table that is merged."
      ],
      "kernels": ["histogram_local"],
      "zeroed": [2],
      "tables": 0,
      "like": "local",
      "runs": "sizes: --random 0 --groups 3 --group-size 64\nsizes: --random 1 --groups 3 --group-size 64\nsizes: --random 255 --groups 3 --group-size 64\nsizes: --random 257 --groups 3 --group-size 64\nsizes: --random 1048573 --groups 3 --group-size 64\ndistributions: --constant 0 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 127 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 255 --random 70001 --groups 4 --group-size 96\ndistributions: --constant 201 --random 70001 --groups 1 --group-size 64\ndistributions: --values 4 --random 70001 --groups 4 --group-size 96\ndistributions: --ramp --random 70001 --groups 4 --group-size 96\ndistributions: --contention 40 --random 70001 --groups 4 --group-size 96\nlaunches: --random 20011 --groups 1 --group-size 1\nlaunches: --random 20011 --groups 1 --group-size 64\nlaunches: --random 20011 --groups 5 --group-size 96\nlaunches: --random 20011 --groups 2 --group-size 256\nlaunches: --random 20011 --groups 1 --group-size 1024\nlaunches: --random 20011 --groups 700 --group-size 64\nfree of faults: --random 1124 --groups 3 --group-size 32\nfree of faults: --random 200 --groups 2 --group-size 320"
    },
    "04/copies": {
      "chapter": "04-per-thread-bins",
      "code": "// Chapter 04, the WGSL kernel, which runs in a page: docs/site/play/lab.html.\n// Counters of one's own for each lane.\n\nconst BINS = 256u;\n\n// The page passes the size of the groups, and how many copies of the table there are, when it\n// builds this file.\noverride GROUP_SIZE: u32;\noverride COPIES: u32;\n\nstruct Arguments {\n    count: u32,  // pixels\n    loads: u32,\n}\n@group(0) @binding(0) var<storage, read> vectors: array<vec4u>;\n@group(0) @binding(1) var<uniform> the: Arguments;\n@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>>;\nvar<workgroup> table: array<atomic<u32>, BINS * COPIES>;\n\n// WGSL has no bytes: four pixels come in a word, and sixteen in a vector.\nfn pixel(i: u32) -> u32 {\n    return (vectors[i / 16u][i / 4u % 4u] >> (8u * (i % 4u))) & 0xffu;\n}\n\n// Exercise 04/copies, in the lab: COPIES tables for each group, 1, 2 or 8.\n@compute @workgroup_size(GROUP_SIZE)\nfn histogram_copies(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3u,\n                    @builtin(num_workgroups) groups: vec3u) {\n    // ---- your part: zero all copies ----\n    // TODO: only the first copy is zeroed\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicStore(&table[bin * COPIES], 0u);\n    }\n    // ---- end of your part ----\n    workgroupBarrier();\n    for (var i = group.x * GROUP_SIZE + item; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&table[pixel(i) * COPIES + item % COPIES], 1u);\n    }\n    workgroupBarrier();\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        // ---- your part: add the copies of this bin up, and merge ----\n        atomicAdd(&histogram[bin], atomicLoad(&table[bin * COPIES]));  // TODO: the other copies\n        // ---- end of your part ----\n    }\n}\n",
      "line": 25,
      "exercise": "04-per-thread-bins/exercise/copies",
      "title": "Two copies, then 32",
      "goal": "Give each group (CUDA: block) several copies of its table, so that neighbouring work-items (CUDA: threads) count in different copies.",
      "hints": ["There are `BINS * COPIES` words to zero, and the group shares the work as before.", "The copies of bin b are the words `b * COPIES` to `b * COPIES + COPIES - 1`.", "Zero with one loop over all the words. To merge, add the words of a bin up in a variable of your own; then one atomic addition for each bin is enough."],
      "kernels": ["histogram_copies"],
      "zeroed": [2],
      "tables": 0,
      "like": "copies",
      "runs": "sizes: --random 0 --groups 3 --group-size 64 --copies 1\nsizes: --random 1 --groups 3 --group-size 64 --copies 2\nsizes: --random 255 --groups 3 --group-size 64 --copies 8\nsizes: --random 257 --groups 3 --group-size 64 --copies 8\nsizes: --random 1048573 --groups 3 --group-size 64 --copies 1\nsizes: --random 1048573 --groups 3 --group-size 64 --copies 2\nsizes: --random 1048573 --groups 3 --group-size 64 --copies 8\ndistributions: --constant 0 --random 70001 --groups 4 --group-size 96 --copies 1\ndistributions: --constant 127 --random 70001 --groups 4 --group-size 96 --copies 2\ndistributions: --constant 255 --random 70001 --groups 4 --group-size 96 --copies 8\ndistributions: --constant 201 --random 70001 --groups 1 --group-size 64 --copies 8\ndistributions: --values 4 --random 70001 --groups 4 --group-size 96 --copies 1\ndistributions: --ramp --random 70001 --groups 4 --group-size 96 --copies 2\ndistributions: --contention 40 --random 70001 --groups 4 --group-size 96 --copies 8\ndistributions: --contention 40 --random 70001 --groups 4 --group-size 96 --copies 1\ndistributions: --contention 40 --random 70001 --groups 4 --group-size 96 --copies 2\nlaunches: --random 20011 --groups 1 --group-size 1 --copies 1\nlaunches: --random 20011 --groups 1 --group-size 64 --copies 2\nlaunches: --random 20011 --groups 5 --group-size 96 --copies 8\nlaunches: --random 20011 --groups 2 --group-size 256 --copies 8\nlaunches: --random 20011 --groups 1 --group-size 1024 --copies 1\nlaunches: --random 20011 --groups 700 --group-size 64 --copies 2\nlaunches: --random 20011 --groups 700 --group-size 64 --copies 1\nlaunches: --random 20011 --groups 700 --group-size 64 --copies 8\nfree of faults: --random 1124 --groups 3 --group-size 32 --copies 8\nfree of faults: --random 200 --groups 2 --group-size 320 --copies 8"
    }
  },
  "mistakes": [
    {
      "name": "if-for-loop",
      "strategy": "global",
      "sentence": "There is an `if` where a loop should be: each work-item counts one pixel, and the rest of the picture is left out.",
      "called": "loop-runs-once",
      "words": "--random 100003 --groups 2 --group-size 64",
      "changes": [["    for (var i = item.x; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&histogram[pixel(i)], 1u);\n", "    let i = item.x;\n    if (i < the.count) {\n        atomicAdd(&histogram[pixel(i)], 1u);\n"]]
    },
    {
      "name": "last-table-skipped",
      "strategy": "subhist",
      "sentence": "The loop over the tables ends one too early: what the last group has counted is not added up.",
      "called": "last-table-skipped",
      "words": "--random 100003 --groups 3 --group-size 64",
      "changes": [["        for (var table = 0u; table < the.table_count; table += 1u) {\n", "        for (var table = 0u; table + 1u < the.table_count; table += 1u) {\n"]]
    },
    {
      "name": "loop-stride-too-short",
      "strategy": "global",
      "sentence": "The step of the loop is the size of a group in place of the number of all work-items: each group also counts the pixels of the groups behind it.",
      "called": "wrong-stride",
      "words": "--random 100003 --groups 3 --group-size 64",
      "changes": [["    for (var i = item.x; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&histogram[pixel(i)], 1u);\n", "    for (var i = item.x; i < the.count; i += GROUP_SIZE) {\n        atomicAdd(&histogram[pixel(i)], 1u);\n"]]
    },
    {
      "name": "no-atomic",
      "strategy": "global",
      "sentence": "The bin is increased with a plain `++`, which reads, adds and writes: what another work-item adds in between is lost.",
      "called": "lost-updates",
      "words": "--constant 127 --random 1000003",
      "changes": [["    for (var i = item.x; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&histogram[pixel(i)], 1u);\n", "    for (var i = item.x; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicStore(&histogram[pixel(i)], atomicLoad(&histogram[pixel(i)]) + 1u);\n"]]
    },
    {
      "name": "sum-of-first-table-only",
      "strategy": "subhist",
      "sentence": "The second kernel copies the first table and does not go through the others: only the first group's counts arrive.",
      "called": "only-the-first-group",
      "words": "--random 100003 --groups 3 --group-size 64",
      "changes": [["        var sum = 0u;\n        for (var table = 0u; table < the.table_count; table += 1u) {\n            sum += plain_tables[table * the.table_pitch_bins + bin];\n        }\n        plain_histogram[bin] = sum;\n", "        plain_histogram[bin] = plain_tables[bin];\n"]]
    },
    {
      "name": "tail-dropped",
      "strategy": "global",
      "sentence": "The number of pixels is rounded down to a multiple of the number of work-items, so that the last few are not counted.",
      "called": "tail-dropped",
      "words": "--random 100003 --groups 2 --group-size 64",
      "changes": [["    for (var i = item.x; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&histogram[pixel(i)], 1u);\n", "    let whole = the.count / (groups.x * GROUP_SIZE) * (groups.x * GROUP_SIZE);\n    for (var i = item.x; i < whole; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&histogram[pixel(i)], 1u);\n"]]
    },
    {"name": "all-groups-write-row-0", "strategy": "local-buckets", "sentence": "All groups write the first row: it gets the table of one group, and the other rows are never written.", "called": "rows-overlap", "words": "--random 100003 --groups 3", "changes": [["    let row = group.x * BINS;\n", "    let row = 0u;\n"]]},
    {
      "name": "barrier-in-a-branch",
      "strategy": "local",
      "sentence": "The barrier is inside the test that keeps work-items beyond the last bin from zeroing: they never reach it.",
      "called": "refused uniform control flow",
      "words": "--random 150 --groups 2 --group-size 64",
      "changes": [["    // Step 2: nobody counts before all bins are zero.\n    workgroupBarrier();\n", "    // Step 2: nobody counts before all bins are zero.\n    if (item < BINS) { workgroupBarrier(); }\n"]]
    },
    {
      "name": "early-return",
      "strategy": "local",
      "sentence": "A work-item that has no pixel returns before the barriers, and its share of zeroing and merging is not done.",
      "called": "refused uniform control flow",
      "words": "--random 100 --groups 3 --group-size 64",
      "changes": [["    // Step 1: zero the group's table. WGSL does it before, too; OpenCL and CUDA do not.\n", "    if (group.x * GROUP_SIZE + item >= the.count) { return; }\n    // Step 1: zero the group's table. WGSL does it before, too; OpenCL and CUDA do not.\n"]]
    },
    {
      "name": "merge-by-assignment",
      "strategy": "local",
      "sentence": "Each group writes its table over the histogram, where it should add: the last one wins.",
      "called": "merge-overwrites",
      "words": "--random 100003 --groups 3",
      "changes": [
        [
          "    // Step 5: add the table to the histogram, with atomics, for other groups do the same.\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicAdd(&histogram[bin], atomicLoad(&table[bin]));\n",
          "    // Step 5: add the table to the histogram, with atomics, for other groups do the same.\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicStore(&histogram[bin], atomicLoad(&table[bin]));\n"
        ]
      ]
    },
    {
      "name": "merge-strided-globally",
      "strategy": "local",
      "sentence": "The merge loop strides by all work-items of the launch, so a small group merges only the first bins of its table.",
      "called": "merge-strided-globally",
      "words": "--random 100003 --groups 3 --group-size 64",
      "changes": [
        [
          "    // Step 5: add the table to the histogram, with atomics, for other groups do the same.\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicAdd(&histogram[bin], atomicLoad(&table[bin]));\n",
          "    // Step 5: add the table to the histogram, with atomics, for other groups do the same.\n    for (var bin = item; bin < BINS; bin += groups.x * GROUP_SIZE) {\n        atomicAdd(&histogram[bin], atomicLoad(&table[bin]));\n"
        ]
      ]
    },
    {
      "name": "no-atomic-in-the-table",
      "strategy": "local",
      "sentence": "Work-items of one group count in its table without an atomic, as if local memory belonged to each of them.",
      "called": "lost-updates",
      "words": "--constant 127 --random 1000003",
      "changes": [
        [
          "    // Step 3: count, striding by all work-items of the launch.\n    for (var i = group.x * GROUP_SIZE + item; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicAdd(&table[pixel(i)], 1u);\n",
          "    // Step 3: count, striding by all work-items of the launch.\n    for (var i = group.x * GROUP_SIZE + item; i < the.count; i += groups.x * GROUP_SIZE) {\n        atomicStore(&table[pixel(i)], atomicLoad(&table[pixel(i)]) + 1u);\n"
        ]
      ]
    },
    {
      "name": "no-barrier-after-zeroing",
      "strategy": "local",
      "sentence": "Nobody waits until the table is zero: the barrier between zeroing and counting is missing.",
      "called": "no-barrier-after-zeroing",
      "words": "--random 100003",
      "changes": [["    // Step 2: nobody counts before all bins are zero.\n    workgroupBarrier();\n", ""]]
    },
    {
      "name": "no-barrier-before-merge",
      "strategy": "local",
      "sentence": "Nobody waits until all have counted: the barrier between counting and merging is missing.",
      "called": "no-barrier-before-merge",
      "words": "--random 100003",
      "changes": [["    // Step 4: nobody reads the table before all have counted.\n    workgroupBarrier();\n", ""]]
    },
    {
      "name": "table-not-zeroed",
      "strategy": "local",
      "sentence": "Nobody zeroes the table of the group: it begins with what was left in local memory.",
      "called": "nothing",
      "words": "--random 100003 --groups 5000",
      "changes": [["    // Step 1: zero the group's table. WGSL does it before, too; OpenCL and CUDA do not.\n    for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicStore(&table[bin], 0u);\n    }\n", ""]]
    },
    {
      "name": "last-copy-left-out",
      "strategy": "lane-bins",
      "sentence": "The last copy of the table is not added to the histogram.",
      "called": "last-copy-skipped",
      "words": "--random 100003",
      "changes": [
        [
          "        for (var n = 0u; n < COPIES; n += 1u) {\n            // Each work-item begins with another copy: the banks take turns here, too.\n            sum += atomicLoad(&table[bin * COPIES + (item + n) % COPIES]);\n        }\n",
          "        for (var n = 0u; n < COPIES - 1u; n += 1u) {\n            sum += atomicLoad(&table[bin * COPIES + n]);\n        }\n"
        ]
      ]
    },
    {
      "name": "only-copy-0-merged",
      "strategy": "lane-bins",
      "sentence": "Of the copies of the table only the first is added to the histogram.",
      "called": "only-the-first-copy",
      "words": "--random 100003",
      "changes": [["        for (var n = 0u; n < COPIES; n += 1u) {\n            // Each work-item begins with another copy: the banks take turns here, too.\n            sum += atomicLoad(&table[bin * COPIES + (item + n) % COPIES]);\n        }\n", "        sum = atomicLoad(&table[bin * COPIES]);\n"]]
    }
  ],
  "inputs": {
    "size-0": "--random 0",
    "size-1": "--random 1",
    "size-2": "--random 2",
    "size-3": "--random 3",
    "size-15": "--random 15",
    "size-16": "--random 16",
    "size-17": "--random 17",
    "size-255": "--random 255",
    "size-256": "--random 256",
    "size-257": "--random 257",
    "prime": "--random 1048573",
    "constant-0": "--constant 0 --random 100003",
    "constant-127": "--constant 127 --random 100003",
    "constant-255": "--constant 255 --random 100003",
    "constant-large": "--constant 127 --random 17M",
    "two-values": "--random 300007 --values 2 --seed 2",
    "four-values": "--random 300007 --values 4 --seed 3",
    "ramp": "--ramp --random 70001",
    "contention-10": "--random 300007 --contention 10",
    "contention-40": "--random 300007 --contention 40",
    "contention-90": "--random 300007 --contention 90",
    "landscape": "images/landscape.bmp",
    "tiled": "images/landscape.bmp --tile 1000003"
  }
};
if (typeof module === "object") module.exports = labData;
else root.labData = labData;
})(globalThis);
