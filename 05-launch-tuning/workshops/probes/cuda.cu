// Small kernels that each measure one thing, in CUDA: what additions to few counters cost, how long
// an answer takes, and what counting adds to reading. The kernels are in probes.cuh; opencl.cpp
// does the same in OpenCL, in the same steps.
//
// Run it:  build/05-launch-tuning/workshops/probes/cuda --random 32M --variant contention
// --counters 1024

#include "05-launch-tuning/workshops/probes/answers.hpp"
#include "05-launch-tuning/workshops/probes/probes.cuh"
#include "common/cuda/cuda.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::cuda;

const Program kProgram = probes::program("workshops/probes/cuda", "CUDA");

int main(int argc, char** argv) try {
    // 1. What is asked for, and the pixels.
    Lesson lesson(argc, argv, kProgram);
    const std::size_t pixel_count = lesson.pixels.size();
    if (pixel_count == 0 && !lesson.options.list_devices) throw BadInput("there are no pixels");
    const Options& asked = lesson.options;

    // 2. The device, and the launch: two blocks for each multiprocessor, 256 threads in each.
    const int device = choose_device(lesson);
    const auto group_size = static_cast<unsigned>(lesson.group_size(256, max_block_size(device)));
    const auto groups = static_cast<unsigned>(lesson.groups(2 * multiprocessors(device)));

    // 3. Where its commands go: the default stream. Two events note when the work began and ended.
    Event begin, end;
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));
    lesson.read_ceiling([&] { return read_ceiling_gb_s(pixel_count); });

    // 4. The kernels. They were compiled with this file, above.

    // 5. What the probes share: the pixels. Each zeroes the words of its answer, which does not
    //    count, runs, and reads them.
    Memory<std::uint8_t> pixels;
    CHECK_CUDA(cudaMalloc(pixels.out(), pixel_count));

    // 6. contention: the counters lie so many words apart.
    if (lesson.wants("contention")) {
        const std::uint32_t counters = asked.number("counters").value_or(256);
        const std::uint32_t spacing = asked.number("spacing").value_or(4) / 4;
        const std::uint32_t together = asked.number("together").value_or(1);
        const std::vector<std::uint32_t> expected = probes::chosen(pixel_count, counters, together);
        std::vector<std::uint32_t> read(counters * spacing);
        const std::size_t answer_bytes = read.size() * sizeof(std::uint32_t);
        Memory<std::uint32_t> answer;
        CHECK_CUDA(cudaMalloc(answer.out(), answer_bytes));
        Runs runs = lesson.runs("contention", {groups, group_size},
                                unsupported_reason(contention, group_size));
        while (runs.next()) {
            poison(answer, answer_bytes);
            runs.begin();
            CHECK_CUDA(cudaMemset(answer, 0, answer_bytes));
            CHECK_CUDA(cudaEventRecord(begin));
            contention<<<groups, group_size>>>(pixel_count, counters - 1, spacing, together,
                                               answer);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(read.data(), answer, answer_bytes, cudaMemcpyDeviceToHost));
            runs.end(elapsed_ms(begin, end));
            runs.wrong = probes::verdict(probes::every_nth(read, spacing) == expected);
        }
    }

    // 7. chase: one thread, from where the run before has ended.
    if (lesson.wants("chase",
                     pixel_count % 128 == 0 ? "" : "the bytes are not whole lines of 128")) {
        const probes::Chain chain = probes::chain_through(pixel_count);
        std::size_t hops = 0;
        Memory<std::uint32_t> next, at;
        CHECK_CUDA(cudaMalloc(next.out(), pixel_count));
        CHECK_CUDA(cudaMalloc(at.out(), sizeof(std::uint32_t)));
        CHECK_CUDA(cudaMemcpy(next, chain.next.data(), pixel_count, cudaMemcpyHostToDevice));
        CHECK_CUDA(
            cudaMemcpy(at, chain.order.data(), sizeof(std::uint32_t), cudaMemcpyHostToDevice));
        Runs runs = lesson.runs("chase", {1, 1}, unsupported_reason(chase, 1));
        while (runs.next()) {
            std::uint32_t reached = 0;
            runs.begin();
            CHECK_CUDA(cudaEventRecord(begin));
            chase<<<1, 1>>>(next, probes::kHops, at);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(&reached, at, sizeof reached, cudaMemcpyDeviceToHost));
            runs.end(elapsed_ms(begin, end));
            hops += probes::kHops;
            runs.wrong = probes::verdict(reached == chain.order[hops % chain.order.size()]);
        }
    }

    // 8. read: a kernel for each kind of load.
    const unsigned bytes = asked.number("bytes").value_or(16);
    const unsigned loads = asked.number("loads").value_or(1);
    const unsigned counted = asked.number("counted").value_or(loads == 1 ? bytes : 0);
    if (lesson.wants("read", probes::cannot_read(pixel_count, bytes, loads, counted))) {
        Read const kernel = bytes == 16  ? read_with<uint4>(loads, counted)
                            : bytes == 4 ? read_with<std::uint32_t>(loads, counted)
                                         : read_with<std::uint8_t>(loads, counted);
        const auto expected = probes::read_in_loads(lesson.pixels, bytes, counted);
        std::vector<std::uint32_t> read(kBins + 1);
        const std::size_t answer_bytes = read.size() * sizeof(std::uint32_t);
        Memory<std::uint32_t> answer;
        CHECK_CUDA(cudaMalloc(answer.out(), answer_bytes));
        Runs runs =
            lesson.runs("read", {groups, group_size}, unsupported_reason(kernel, group_size));
        while (runs.next()) {
            poison(answer, answer_bytes);
            runs.begin();
            if (runs.copies_in())
                CHECK_CUDA(
                    cudaMemcpy(pixels, lesson.pixels.data(), pixel_count, cudaMemcpyHostToDevice));
            CHECK_CUDA(cudaMemset(answer, 0, answer_bytes));
            CHECK_CUDA(cudaEventRecord(begin));
            kernel<<<groups, group_size>>>(pixels, pixel_count / bytes, answer);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(read.data(), answer, answer_bytes, cudaMemcpyDeviceToHost));
            runs.end(elapsed_ms(begin, end));
            runs.wrong = probes::verdict(read == expected);
        }
    }

    // 9. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
