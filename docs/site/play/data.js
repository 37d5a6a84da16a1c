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
 ]
};
if (typeof module === "object") module.exports = playData;
else root.playData = playData;
})(globalThis);
