// A histogram for each of many pictures, in CUDA. The kernels are in histogram.cuh.
//
//   one-by-one  a launch for each picture, and the host waits each time
//   queued      the same launches without waiting
//   graph       the same launches, made into a graph beforehand and launched as one
//   dependent   the same launches, each of which begins before the last has ended
//   group-each  one launch, a block for each picture
//   shared-out  one launch, an even share of all pixels for each block
//
// Run it:  build/05-launch-tuning/many/cuda --pictures 1000 --side 512
//          build/05-launch-tuning/many/cuda --pictures 1000 --side 64..2048
//          build/05-launch-tuning/many/cuda FOLDER --csv counts.csv
//
// opencl.cpp does the same in OpenCL, in the same steps.

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "05-launch-tuning/many/folder.hpp"
#include "05-launch-tuning/many/histogram.cuh"
#include "05-launch-tuning/many/pictures.hpp"
#include "common/cuda/cuda.hpp"
#include "common/cuda/handles.hpp"
#include "common/cuda/read_ceiling.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/report/report.hpp"
#include "common/run/run.hpp"
#include "common/terminal/exit_status.hpp"
#include "common/terminal/terminal.hpp"
#include "common/verify/verify.hpp"

using common::Histogram;

const std::vector<std::string> kStrategies{"one-by-one", "queued",     "graph",
                                           "dependent",  "group-each", "shared-out"};
const common::Program kProgram{
    "05-launch-tuning",
    "many/cuda",
    "CUDA",
    "a histogram for each of many pictures",
    {{"one-by-one", "a launch for each picture, and the host waits each time"},
     {"queued", "a launch for each picture, without waiting"},
     {"graph", "the same launches, as one graph"},
     {"dependent", "the same, each beginning before the last has ended"},
     {"group-each", "one launch, a block for each picture"},
     {"shared-out", "one launch, an even share of all pixels for each block"}},
    {{"copies", {"1", "4", "8", "32"}, "copies of a block's table", kStrategies},
     {"loads", {"1", "2", "4"}, "loads under way at once", kStrategies}}};

// The instances of the kernels: for some copies and loads.
template <unsigned kCopies, unsigned kLoads>
struct Kernels {
    static constexpr auto kPicture = kernels::histogram_picture<kCopies, kLoads, false>;
    static constexpr auto kDependent = kernels::histogram_picture<kCopies, kLoads, true>;
    static constexpr auto kEach = kernels::histogram_group_each<kCopies, kLoads>;
    static constexpr auto kShared = kernels::histogram_shared_out<kCopies, kLoads>;
};

// Calls `use` with those that a launch asks for.
template <unsigned kCopies>
static void with_loads(const many::Launch& launch, const auto& use) {
    if (launch.loads == 1) use(Kernels<kCopies, 1>());
    if (launch.loads == 2) use(Kernels<kCopies, 2>());
    if (launch.loads == 4) use(Kernels<kCopies, 4>());
}
static void with_kernels(const many::Launch& launch, const auto& use) {
    if (launch.copies == 1) with_loads<1>(launch, use);
    if (launch.copies == 4) with_loads<4>(launch, use);
    if (launch.copies == 8) with_loads<8>(launch, use);
    if (launch.copies == 32) with_loads<32>(launch, use);
}

#ifdef ON_CPU_KERNEL
constexpr bool kIsEmulated = true;
#else
constexpr bool kIsEmulated = false;
#endif
