// Written by docs/site/play_data.py from docs/results.
(function (root) {
const playData = {
  "lanes": {"device": "NVIDIA H100 80GB HBM3", "api": "CUDA", "size": "256 MiB", "date": "2026-11-23", "ms": {"photo": {"32": 0.09373, "1": 0.115, "8": 0.1181}, "uniform": {"32": 0.09642, "1": 0.1262, "8": 0.1203}, "constant": {"32": 0.09594, "1": 0.09411, "8": 0.09589}, "ramp": {"32": 0.09357, "1": 0.2841, "8": 0.09606}}},
  "walks": [
    {"device": "NVIDIA H100 80GB HBM3", "api": "CUDA", "size": "256 MiB", "date": "2026-11-22", "strategy": "local", "launches": {"264 groups of 256": {"interleaved": 1.512, "blocked": 0.8473}, "1056 groups of 256": {"interleaved": 0.3925, "blocked": 1.521}}},
    {"device": "pthread-skylake-avx512-Intel(R) Xeon(R) Processor", "api": "OpenCL", "size": "16 MiB", "date": "2026-11-22", "strategy": "racy", "launches": {"1 group of 256": {"interleaved": 137.1, "blocked": 26.59}, "2 groups of 256": {"interleaved": 100.8, "blocked": 39.09}}}
  ],
  "underWay": [
    {
      "device": "NVIDIA H100 80GB HBM3",
      "api": "CUDA",
      "size": "256 MiB",
      "date": "2026-11-23",
      "units": 132,
      "ceiling": 3133.0,
      "answer_ns": 382.1,
      "few": 1024,
      "points": [
        [32, 11.5, "lane-bins", "1 group of 32"],
        [64, 22.5, "lane-bins", "1 group of 64"],
        [128, 43.7, "lane-bins", "1 group of 128"],
        [128, 43.7, "local", "1 group of 128"],
        [256, 88.0, "lane-bins", "1 group of 256"],
        [256, 88.1, "local", "2 groups of 128"],
        [512, 151.5, "lane-bins", "1 group of 32, 16 bytes a load"],
        [512, 177.7, "lane-bins", "1 group of 512"],
        [512, 176.2, "lane-bins", "2 groups of 256"],
        [512, 178.8, "local", "2 groups of 256"],
        [512, 178.6, "local", "4 groups of 128"],
        [768, 268.7, "local", "6 groups of 128"],
        [1024, 352.9, "lane-bins", "1 group of 1024"],
        [1024, 305.1, "lane-bins", "1 group of 64, 16 bytes a load"],
        [1024, 353.8, "local", "8 groups of 128"],
        [2048, 592.1, "lane-bins", "1 group of 128, 16 bytes a load"],
        [2048, 421.4, "lane-bins", "1 group of 32, 16 bytes a load, 4 loads"],
        [2048, 684.2, "local", "8 groups of 256"],
        [4096, 1115.7, "lane-bins", "1 group of 256, 16 bytes a load"],
        [4096, 824.1, "lane-bins", "1 group of 64, 16 bytes a load, 4 loads"],
        [8192, 1498.0, "lane-bins", "1 group of 128, 16 bytes a load, 4 loads"],
        [8192, 1924.0, "lane-bins", "1 group of 512, 16 bytes a load"],
        [16384, 2610.8, "lane-bins", "1 group of 1024, 16 bytes a load"],
        [16384, 2261.7, "lane-bins", "1 group of 256, 16 bytes a load, 4 loads"],
        [16384, 2240.5, "lane-bins", "2 groups of 128, 16 bytes a load, 4 loads"],
        [32768, 2760.3, "lane-bins", "1 group of 512, 16 bytes a load, 4 loads"],
        [32768, 2747.7, "lane-bins", "2 groups of 256, 16 bytes a load, 4 loads"],
        [32768, 2675.8, "lane-bins", "4 groups of 128, 16 bytes a load, 4 loads"],
        [49152, 2628.8, "lane-bins", "6 groups of 128, 16 bytes a load, 4 loads"],
        [65536, 2815.0, "lane-bins", "1 group of 1024, 16 bytes a load, 4 loads"]
      ]
    },
    {
      "device": "NVIDIA H100 80GB HBM3",
      "api": "OpenCL",
      "size": "256 MiB",
      "date": "2026-11-23",
      "units": 132,
      "ceiling": 3133.0,
      "answer_ns": 383.8,
      "few": 1024,
      "points": [
        [32, 11.5, "lane-bins", "1 group of 32"],
        [64, 22.5, "lane-bins", "1 group of 64"],
        [128, 43.7, "lane-bins", "1 group of 128"],
        [128, 43.7, "local", "1 group of 128"],
        [256, 87.4, "lane-bins", "1 group of 256"],
        [256, 88.0, "local", "2 groups of 128"],
        [512, 148.2, "lane-bins", "1 group of 32, 16 bytes a load"],
        [512, 176.1, "lane-bins", "1 group of 512"],
        [512, 176.3, "lane-bins", "2 groups of 256"],
        [512, 177.4, "local", "2 groups of 256"],
        [512, 178.0, "local", "4 groups of 128"],
        [768, 267.1, "local", "6 groups of 128"],
        [1024, 349.2, "lane-bins", "1 group of 1024"],
        [1024, 294.3, "lane-bins", "1 group of 64, 16 bytes a load"],
        [1024, 349.6, "local", "8 groups of 128"],
        [2048, 569.7, "lane-bins", "1 group of 128, 16 bytes a load"],
        [2048, 403.7, "lane-bins", "1 group of 32, 16 bytes a load, 4 loads"],
        [2048, 668.1, "local", "8 groups of 256"],
        [4096, 1055.6, "lane-bins", "1 group of 256, 16 bytes a load"],
        [4096, 775.1, "lane-bins", "1 group of 64, 16 bytes a load, 4 loads"],
        [8192, 1396.9, "lane-bins", "1 group of 128, 16 bytes a load, 4 loads"],
        [8192, 1735.3, "lane-bins", "1 group of 512, 16 bytes a load"],
        [16384, 2235.2, "lane-bins", "1 group of 1024, 16 bytes a load"],
        [16384, 2036.6, "lane-bins", "1 group of 256, 16 bytes a load, 4 loads"],
        [16384, 2000.6, "lane-bins", "2 groups of 128, 16 bytes a load, 4 loads"],
        [32768, 2396.1, "lane-bins", "1 group of 512, 16 bytes a load, 4 loads"],
        [32768, 2476.0, "lane-bins", "2 groups of 256, 16 bytes a load, 4 loads"],
        [32768, 2412.6, "lane-bins", "4 groups of 128, 16 bytes a load, 4 loads"],
        [49152, 2377.0, "lane-bins", "6 groups of 128, 16 bytes a load, 4 loads"],
        [65536, 2513.8, "lane-bins", "1 group of 1024, 16 bytes a load, 4 loads"]
      ]
    }
  ]
};
if (typeof module === "object") module.exports = playData;
else root.playData = playData;
})(globalThis);
