// From the pixels in the host's memory to the histogram there, in OpenCL: three ways to copy and
// count.
//
//   pageable   the pixels from where they happen to be, then the count
//   pinned     from memory that the driver can copy from without a detour
//   pipelined  the same in chunks: while one is counted, the next is on its way
//
// Run it:  build/05-launch-tuning/end-to-end/opencl --tile 1G
//
// cuda.cu does the same in CUDA, in the same steps.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/end-to-end/report.hpp"
#include "05-launch-tuning/tune/on_opencl.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/opencl/opencl.hpp"
#include "common/options/options.hpp"
#include "common/status/status.hpp"

using common::Histogram;
using common::kBins;

const common::Program kProgram{"05-launch-tuning",
                               "end-to-end/opencl",
                               "OpenCL",
                               "ways to copy and count, by wall time",
                               {{"pageable", "copied from ordinary memory, then counted"},
                                {"pinned", "copied from pinned memory, then counted"},
                                {"pipelined", "in chunks: one is counted, the next copied"}},
                               {},
                               {{"--plot", "there is nothing to draw"}}};

int main(int argc, char** argv) try {
    // 1. What is asked for.
    const Arguments arguments = parse_arguments(argc, argv, kProgram, {});
    const common::Options& options = arguments.common;
    if (options.list_devices) {
        std::fputs(common::opencl::list(common::opencl::devices()).c_str(), stdout);
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, and the right answer.
    const common::Input input = common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const std::size_t count = input.pixels.size();
    const std::size_t chunks = (count + kChunkPixels - 1) / kChunkPixels;

    // 3. The device.
    const common::opencl::Device device = common::opencl::choose_device(options.device);
    common::opencl::require_memory(device.id, count);
    EndToEnd report(kProgram, options, input, expected, device.name, device.driver_line());

    // 4. Where its commands go: a queue keeps the order of its commands, so what is to overlap
    //    needs two.
    cl_int error = CL_SUCCESS;
    const cl_context context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const cl_command_queue counts = clCreateCommandQueue(context, device.id, 0, &error);
    CHECK_CL(error, "clCreateCommandQueue");
    const cl_command_queue copies = clCreateCommandQueue(context, device.id, 0, &error);
    CHECK_CL(error, "clCreateCommandQueue");

    // 5. The launch of `tuned` for all pixels, and one for a chunk.
    const tuning::Facts facts = tuning::facts_of(device, {&tuning::kLaneBins, &tuning::kItemBins});
    const std::size_t chunk_pixels = std::min<std::size_t>(count, kChunkPixels);
    const tuning::Choice for_all = choose_tuned(arguments, facts, count);
    const tuning::Choice for_chunk = choose_tuned(arguments, facts, chunk_pixels);
    const auto groups = [&](const tuning::Choice& choice, std::size_t pixels) {
        return options.groups.value_or(groups_of(choice, facts, pixels));
    };
    const std::string source =
        common::opencl::read_kernel_file("histogram.cl", CHAPTER_FOLDER, options.kernels);
    const cl_kernel count_all_kernel = tuning::build(context, device.id, source, for_all);
    const cl_kernel count_chunk_kernel = tuning::build(context, device.id, source, for_chunk);

    // 6. Memory. Pinned memory is what CL_MEM_ALLOC_HOST_PTR gives when it is mapped. Each chunk
    // has
    //    a histogram of its own: a row of 1 KiB, which any device can address.
    const auto create = [&](cl_mem_flags flags, std::size_t bytes) {
        const cl_mem buffer = clCreateBuffer(context, flags, bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer");
        return buffer;
    };
    const cl_mem staging = create(CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR, count);
    void* const pinned = clEnqueueMapBuffer(counts, staging, CL_TRUE, CL_MAP_WRITE, 0, count, 0,
                                            nullptr, nullptr, &error);
    CHECK_CL(error, "clEnqueueMapBuffer");
    std::memcpy(pinned, input.pixels.data(), count);
    const cl_mem pixels = create(CL_MEM_READ_ONLY, count);
    const cl_mem rows = create(CL_MEM_READ_WRITE, chunks * sizeof(Histogram));
    std::vector<cl_mem> row_of_chunk;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        const cl_buffer_region region{chunk * sizeof(Histogram), sizeof(Histogram)};
        row_of_chunk.push_back(clCreateSubBuffer(rows, CL_MEM_READ_WRITE,
                                                 CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
        CHECK_CL(error, "clCreateSubBuffer");
    }
    const cl_mem totals = tuning::create_totals(
        context, tuning::has_64_bit_atomics(device.id) && !arguments.two_launches);

    // 7. The copy alone, which no way can be faster than.
    const auto copy_all = [&](const void* from) {
        CHECK_CL(
            clEnqueueWriteBuffer(counts, pixels, CL_FALSE, 0, count, from, 0, nullptr, nullptr));
    };
    const auto count_all = [&](Histogram& result) {
        tuning::release(tuning::enqueue(counts, count_all_kernel, for_all, groups(for_all, count),
                                        pixels, 0, count, totals, row_of_chunk.front()));
        CHECK_CL(clEnqueueReadBuffer(counts, row_of_chunk.front(), CL_TRUE, 0, sizeof(Histogram),
                                     result.data(), 0, nullptr, nullptr));
    };
    report.measure_copy([&] {
        copy_all(pinned);
        CHECK_CL(clFinish(counts));
    });

    // 8. pageable and pinned: copy all, then count all.
    report.measure_way("pageable", [&](Histogram& result) {
        copy_all(input.pixels.data());
        count_all(result);
    });
    report.measure_way("pinned", [&](Histogram& result) {
        copy_all(pinned);
        count_all(result);
    });

    // 9. pipelined: each chunk is counted while the next is copied, and the host adds the rows.
    report.measure_way("pipelined", [&](Histogram& result) {
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
            const std::size_t first = chunk * kChunkPixels;
            const std::size_t length = std::min<std::size_t>(kChunkPixels, count - first);
            cl_event copied = nullptr;
            CHECK_CL(clEnqueueWriteBuffer(copies, pixels, CL_FALSE, first, length,
                                          static_cast<const std::uint8_t*>(pinned) + first, 0,
                                          nullptr, &copied));
            // Without a flush a driver may wait for more commands before it begins.
            CHECK_CL(clFlush(copies));
            tuning::release(tuning::enqueue(counts, count_chunk_kernel, for_chunk,
                                            groups(for_chunk, length), pixels, first, length,
                                            totals, row_of_chunk[chunk], copied));
            CHECK_CL(clFlush(counts));
            CHECK_CL(clReleaseEvent(copied));
        }
        std::vector<std::uint32_t> counted(chunks * kBins);
        CHECK_CL(clEnqueueReadBuffer(counts, rows, CL_TRUE, 0, chunks * sizeof(Histogram),
                                     counted.data(), 0, nullptr, nullptr));
        common::add_rows(counted.data(), chunks, result);
    });
    tuning::require_zero(counts, totals);

    // 10. What was created is released, in the opposite order.
    if (totals != nullptr) CHECK_CL(clReleaseMemObject(totals));
    for (const cl_mem row : row_of_chunk)
        CHECK_CL(clReleaseMemObject(row));
    CHECK_CL(clEnqueueUnmapMemObject(counts, staging, pinned, 0, nullptr, nullptr));
    CHECK_CL(clFinish(counts));
    for (const cl_mem buffer : {rows, pixels, staging})
        CHECK_CL(clReleaseMemObject(buffer));
    CHECK_CL(clReleaseKernel(count_chunk_kernel));
    CHECK_CL(clReleaseKernel(count_all_kernel));
    CHECK_CL(clReleaseCommandQueue(copies));
    CHECK_CL(clReleaseCommandQueue(counts));
    CHECK_CL(clReleaseContext(context));

    // 11. The table, and the exit status that tells the truth.
    return report.finish();
} catch (...) {
    return common::report_exception("05-launch-tuning/end-to-end/opencl");
}
