// A histogram for each of many pictures, in CUDA. The kernels are in histogram.cuh.
//
// Run it:  build/05-launch-tuning/workshops/many/cuda --random 250M --side 512

#include "05-launch-tuning/workshops/many/histogram.cuh"
#include "05-launch-tuning/workshops/many/pictures.hpp"
#include "common/cuda/cuda.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::cuda;

const std::vector<std::string_view> kStrategies{"one-by-one", "queued", "graph", "group-each"};
const Program kProgram{"05-launch-tuning",
                       "workshops/many/cuda",
                       "CUDA",
                       "a histogram for each of many pictures",
                       {{"one-by-one", "a launch for each picture, and the host waits each time"},
                        {"queued", "a launch for each picture, without waiting"},
                        {"graph", "the same launches, made into a graph beforehand"},
                        {"group-each", "one launch, a block for each picture"}},
                       {{"copies", {"4", "32"}, "copies of a block's table", kStrategies},
                        {"loads", {"1", "2"}, "loads under way at once", kStrategies}}};

// The instances of the kernels, for some copies and loads.
struct Kernels {
    void (*picture)(const std::uint8_t*, std::uint64_t, std::uint64_t, kernels::Total*,
                    std::uint32_t*);
    void (*each)(const std::uint8_t*, const std::uint64_t*, std::uint64_t, std::uint32_t*);
};

template <unsigned kCopies, unsigned kLoads>
constexpr Kernels kKernels{kernels::histogram_picture<kCopies, kLoads>,
                           kernels::histogram_group_each<kCopies, kLoads>};

template <unsigned kCopies>
static Kernels of_loads(unsigned loads) {
    return loads == 1 ? kKernels<kCopies, 1> : kKernels<kCopies, 2>;
}

static Kernels kernels_for(const many::BatchLaunch& launch) {
    return launch.copies == 4 ? of_loads<4>(launch.loads) : of_loads<32>(launch.loads);
}

#ifndef CUDA_ON_CPU

// A CUDA graph: the commands of a stream are recorded instead of run, and launched as one.
class Graph {
 public:
    /// @param kernel is loaded before, as loading cannot be recorded
    void record(cudaStream_t stream, const auto& kernel, const auto& give) {
        cudaFuncAttributes loaded{};
        CHECK_CUDA(cudaFuncGetAttributes(&loaded, kernel));
        Handle<cudaGraph_t, cudaGraphDestroy> graph;
        CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        give();
        CHECK_CUDA(cudaStreamEndCapture(stream, graph.out()));
        CHECK_CUDA(cudaGraphInstantiate(graph_.out(), graph, 0));
    }
    void launch(cudaStream_t stream) { CHECK_CUDA(cudaGraphLaunch(graph_, stream)); }
    static std::string missing() { return {}; }

 private:
    Handle<cudaGraphExec_t, cudaGraphExecDestroy> graph_;
};

#else  // CUDA on a CPU

struct Graph {
    void record(cudaStream_t, const auto&, const auto&) {}
    void launch(cudaStream_t) {}
    static std::string missing() { return "not in the emulation"; }
};

#endif

int main(int argc, char** argv) try {
    // 1. What is asked for, the pictures, where each begins, and the right answer for each.
    many::Batch batch;
    Lesson lesson(
        argc, argv, kProgram, [&](CLI::App& app) { batch.add_options(app); },
        [&](const Options& options) { return batch.load(options); });

    // 2. The device.
    const int device = choose_device(lesson);
    lesson.group_size(1, max_block_size(device));  // it refuses a --group-size that is too large

    // 3. Where its commands go: a stream that keeps their order; two events note when the work
    //    began and ended. Each is given back at the end of its scope.
    Stream stream;
    CHECK_CUDA(cudaStreamCreate(stream.out()));
    Event begin, end;
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));
    lesson.read_ceiling([&] { return read_ceiling_gb_s(lesson.pixels.size()); });

    // 4. The kernels. They were compiled with this file, for some copies and loads.

    // 5. What the strategies share: the pixels on the device, where each picture begins, a row for
    //    each; and totals, which are zero between two launches.
    const many::Launches launches = many::launches(batch, lesson.options, multiprocessors(device));
    const std::vector<kernels::Total> zeros(kTotalWords);
    const std::size_t rows_bytes = batch.size() * sizeof(Histogram);
    Memory<std::uint8_t> pixels;
    Memory<std::uint64_t> first;
    Memory<std::uint32_t> rows;
    Memory<kernels::Total> totals;
    const auto make = [&](auto& memory, std::size_t bytes, const void* from) {
        CHECK_CUDA(cudaMalloc(memory.out(), bytes));
        if (from != nullptr) CHECK_CUDA(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice));
    };
    make(pixels, batch.bytes(), nullptr);
    make(first, batch.first.size() * sizeof(std::uint64_t), batch.first.data());
    make(rows, rows_bytes, nullptr);
    make(totals, zeros.size() * sizeof(kernels::Total), zeros.data());
    // The totals are not filled with a pattern before a run, as the rows are. In place of that the
    // program checks that the run before has left zeros.
    const auto poison_and_check = [&] {
        poison(rows, rows_bytes);
        std::vector<kernels::Total> words(zeros.size());
        CHECK_CUDA(cudaMemcpy(words.data(), totals, words.size() * sizeof(kernels::Total),
                              cudaMemcpyDeviceToHost));
        many::require_zeros(words);
    };
    std::vector<std::uint32_t> counted(batch.size() * kBins);
    const auto copy_in = [&] {
        CHECK_CUDA(cudaMemcpyAsync(pixels, lesson.pixels.data(), lesson.pixels.size(),
                                   cudaMemcpyHostToDevice, stream));
    };
    const auto copy_out = [&] {
        CHECK_CUDA(
            cudaMemcpyAsync(counted.data(), rows, rows_bytes, cudaMemcpyDeviceToHost, stream));
        CHECK_CUDA(cudaStreamSynchronize(stream));
    };

    // 6. one-by-one and queued: a launch for each picture, of as many blocks as have work. It
    //    zeroes, counts and finishes, as chapter 05's `tuned` does. The host waits for each, or for
    //    the last. graph: it gives them all at once.
    const auto kernel_alone = kernels_for(launches.one).picture;
    const auto blocks = static_cast<unsigned>(launches.one.groups);
    const auto block_size = static_cast<unsigned>(launches.one.group_size);
    const auto queue_all = [&](bool waits) {
        for (std::size_t p = 0; p < batch.size(); ++p) {
            kernel_alone<<<blocks, block_size, 0, stream>>>(
                pixels, batch.first[p], batch.first[p + 1], totals, rows + p * kBins);
            if (waits) CHECK_CUDA(cudaStreamSynchronize(stream));
        }
    };
    Graph graph;
    for (const std::string variant : {"one-by-one", "queued", "graph"}) {
        const bool recorded = variant == "graph";
        if (!lesson.wants(variant, recorded ? Graph::missing() : "")) continue;
        if (recorded) graph.record(stream, kernel_alone, [&] { queue_all(false); });
        Runs runs = lesson.runs(variant, {blocks, block_size},
                                unsupported_reason(kernel_alone, block_size), launches.one.text());
        while (runs.next()) {
            poison_and_check();
            runs.begin();
            if (runs.copies_in()) copy_in();
            CHECK_CUDA(cudaEventRecord(begin, stream));
            recorded ? graph.launch(stream) : queue_all(variant == "one-by-one");
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end, stream));
            copy_out();
            runs.end(elapsed_ms(begin, end));
            runs.wrong = batch.what_is_wrong(counted.data());
        }
    }

    // 7. group-each: one launch, a block for each picture, whose row nobody else writes.
    if (lesson.wants("group-each")) {
        const auto kernel = kernels_for(launches.each).each;
        const auto groups = static_cast<unsigned>(launches.each.groups);
        const auto size = static_cast<unsigned>(launches.each.group_size);
        Runs runs = lesson.runs("group-each", {groups, size}, unsupported_reason(kernel, size),
                                launches.each.text());
        while (runs.next()) {
            poison_and_check();
            runs.begin();
            if (runs.copies_in()) copy_in();
            CHECK_CUDA(cudaEventRecord(begin, stream));
            kernel<<<groups, size, 0, stream>>>(pixels, first, batch.size(), rows);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end, stream));
            copy_out();
            runs.end(elapsed_ms(begin, end));
            runs.wrong = batch.what_is_wrong(counted.data());
        }
    }

    // 8. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
