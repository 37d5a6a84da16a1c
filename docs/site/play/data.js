// Written by docs/site/play_data.py from docs/results.
(function (root) {
const playData = {
 "lanes": {
  "device": "NVIDIA H100 80GB HBM3",
  "api": "CUDA",
  "size": "256 MiB",
  "date": "2026-11-22",
  "ms": {
   "photo": {
    "32": 0.09406,
    "1": 0.1105,
    "8": 0.1187
   },
   "uniform": {
    "32": 0.09603,
    "1": 0.1257,
    "8": 0.1169
   },
   "constant": {
    "32": 0.09418,
    "1": 0.09355,
    "8": 0.09475
   },
   "ramp": {
    "32": 0.09389,
    "1": 0.2804,
    "8": 0.09482
   }
  }
 },
 "walks": [
  {
   "device": "NVIDIA H100 80GB HBM3",
   "api": "CUDA",
   "size": "256 MiB",
   "date": "2026-11-22",
   "strategy": "local",
   "launches": {
    "264 groups of 256": {
     "interleaved": 1.512,
     "blocked": 0.8473
    },
    "1056 groups of 256": {
     "interleaved": 0.3925,
     "blocked": 1.521
    }
   }
  },
  {
   "device": "pthread-skylake-avx512-Intel(R) Xeon(R) Processor",
   "api": "OpenCL",
   "size": "16 MiB",
   "date": "2026-11-22",
   "strategy": "racy",
   "launches": {
    "1 group of 256": {
     "interleaved": 137.1,
     "blocked": 26.59
    },
    "2 groups of 256": {
     "interleaved": 100.8,
     "blocked": 39.09
    }
   }
  }
 ],
 "underWay": [
  {
   "device": "NVIDIA H100 80GB HBM3",
   "api": "CUDA",
   "size": "256 MiB",
   "date": "2026-11-22",
   "units": 132,
   "ceiling": 3133.0,
   "answer_ns": 382.3,
   "few": 1024,
   "points": [
    [
     128,
     43.7,
     "local",
     "1 group of 128"
    ],
    [
     256,
     88.1,
     "local",
     "2 groups of 128"
    ],
    [
     512,
     176.7,
     "lane-bins",
     "2 groups of 256"
    ],
    [
     512,
     178.8,
     "local",
     "2 groups of 256"
    ],
    [
     512,
     178.6,
     "local",
     "4 groups of 128"
    ],
    [
     768,
     268.7,
     "local",
     "6 groups of 128"
    ],
    [
     1024,
     351.1,
     "lane-bins",
     "1 group of 1024"
    ],
    [
     1024,
     353.8,
     "local",
     "8 groups of 128"
    ],
    [
     2048,
     684.2,
     "local",
     "8 groups of 256"
    ],
    [
     8192,
     1490.2,
     "lane-bins",
     "1 group of 128, 16 bytes a load, 4 loads"
    ],
    [
     8192,
     1885.1,
     "lane-bins",
     "2 groups of 256, 16 bytes a load"
    ],
    [
     16384,
     2604.3,
     "lane-bins",
     "1 group of 1024, 16 bytes a load"
    ],
    [
     16384,
     2240.5,
     "lane-bins",
     "2 groups of 128, 16 bytes a load, 4 loads"
    ],
    [
     32768,
     2656.3,
     "lane-bins",
     "2 groups of 256, 16 bytes a load, 4 loads"
    ],
    [
     32768,
     2675.8,
     "lane-bins",
     "4 groups of 128, 16 bytes a load, 4 loads"
    ],
    [
     49152,
     2628.8,
     "lane-bins",
     "6 groups of 128, 16 bytes a load, 4 loads"
    ],
    [
     65536,
     2795.3,
     "lane-bins",
     "1 group of 1024, 16 bytes a load, 4 loads"
    ]
   ]
  },
  {
   "device": "NVIDIA H100 80GB HBM3",
   "api": "OpenCL",
   "size": "256 MiB",
   "date": "2026-11-22",
   "units": 132,
   "ceiling": 3133.0,
   "answer_ns": 384.5,
   "few": 1024,
   "points": [
    [
     128,
     43.7,
     "local",
     "1 group of 128"
    ],
    [
     256,
     88.0,
     "local",
     "2 groups of 128"
    ],
    [
     512,
     175.6,
     "lane-bins",
     "2 groups of 256"
    ],
    [
     512,
     177.4,
     "local",
     "2 groups of 256"
    ],
    [
     512,
     178.0,
     "local",
     "4 groups of 128"
    ],
    [
     768,
     267.1,
     "local",
     "6 groups of 128"
    ],
    [
     1024,
     348.5,
     "lane-bins",
     "1 group of 1024"
    ],
    [
     1024,
     349.6,
     "local",
     "8 groups of 128"
    ],
    [
     2048,
     668.1,
     "local",
     "8 groups of 256"
    ],
    [
     8192,
     1384.5,
     "lane-bins",
     "1 group of 128, 16 bytes a load, 4 loads"
    ],
    [
     8192,
     1733.9,
     "lane-bins",
     "2 groups of 256, 16 bytes a load"
    ],
    [
     16384,
     2219.2,
     "lane-bins",
     "1 group of 1024, 16 bytes a load"
    ],
    [
     16384,
     2000.6,
     "lane-bins",
     "2 groups of 128, 16 bytes a load, 4 loads"
    ],
    [
     32768,
     2392.0,
     "lane-bins",
     "2 groups of 256, 16 bytes a load, 4 loads"
    ],
    [
     32768,
     2412.6,
     "lane-bins",
     "4 groups of 128, 16 bytes a load, 4 loads"
    ],
    [
     49152,
     2377.0,
     "lane-bins",
     "6 groups of 128, 16 bytes a load, 4 loads"
    ],
    [
     65536,
     2460.0,
     "lane-bins",
     "1 group of 1024, 16 bytes a load, 4 loads"
    ]
   ]
  }
 ]
};
if (typeof module === "object") module.exports = playData;
else root.playData = playData;
})(globalThis);
