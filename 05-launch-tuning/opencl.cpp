// Chapter 05 in OpenCL: the same kernels, fed properly. The kernels are in histogram.cl.
//
//   two-per-sm  chapter 03's kernel, two groups of 256 for each compute unit
//   occupancy   as many work-items as the device holds, walked over the picture down and across
//   vector      one table for each group, 16 pixels to a load
//   tuned       the best kernel in the best launch for this device, in one launch
//
// Run it:  build/05-launch-tuning/opencl --tile 100M
//          build/05-launch-tuning/opencl --tune
//          build/05-launch-tuning/opencl --tile 100M --variant tuned --kernel lane-bins --copies 8
//          build/05-launch-tuning/opencl --tile 1G --end-to-end
//
// cuda.cu does the same in CUDA, in the same steps.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/end_to_end.hpp"
#include "05-launch-tuning/launch.hpp"
#include "05-launch-tuning/tuning/run.hpp"
#include "05-launch-tuning/tuning/tuning.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/opencl/opencl.hpp"
#include "common/opencl/read_ceiling.hpp"
#include "common/options/options.hpp"
#include "common/report/report.hpp"
#include "common/status/status.hpp"
#include "common/timing/timing.hpp"
#include "common/verify/verify.hpp"

using common::Histogram;
using common::kBins;

const common::Program kProgram{"05-launch-tuning",
                               "opencl",
                               "OpenCL",
                               "the same kernels, launched as this device likes it",
                               {{"two-per-sm", "chapter 03's kernel, two groups for each unit"},
                                {"occupancy", "as many work-items as the device holds"},
                                {"vector", "one table for each group, 16 pixels to a load"},
                                {"tuned", "the best kernel in the best launch for this device"}}};

// ---- What the device has ----

std::string extensions_of(cl_device_id device) {
    std::size_t length = 0;
    CHECK_CL(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, nullptr, &length));
    std::string extensions(length, ' ');
    CHECK_CL(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, length, extensions.data(), nullptr));
    return extensions;
}

// `tuned` finishes in one launch where there are 64-bit atomics, which OpenCL 1.2 leaves to an
// extension.
bool has_64_bit_atomics(cl_device_id device) {
    return extensions_of(device).find("cl_khr_int64_base_atomics") != std::string::npos;
}

// How many work-items a compute unit holds at once, and how that is known.
struct Resident {
    std::size_t items;
    std::string source;
};

// OpenCL has no question for it. An extension of NVIDIA's tells the compute capability, and the
// table of those is in the CUDA C++ Programming Guide ("maximum number of resident threads per
// SM"). Elsewhere what one group may have is taken.
Resident resident_items(cl_device_id device) {
    constexpr cl_device_info kCapabilityMajor = 0x4000;  // of cl_nv_device_attribute_query
    constexpr cl_device_info kCapabilityMinor = 0x4001;
    if (extensions_of(device).find("cl_nv_device_attribute_query") == std::string::npos) {
        return {common::opencl::most_work_items(device), "what one group may have"};
    }
    cl_uint major = 0;
    cl_uint minor = 0;
    CHECK_CL(clGetDeviceInfo(device, kCapabilityMajor, sizeof major, &major, nullptr));
    CHECK_CL(clGetDeviceInfo(device, kCapabilityMinor, sizeof minor, &minor, nullptr));
    const cl_uint capability = 10 * major + minor;
    const bool fewer = capability == 86 || capability == 87 || capability == 89 || major >= 12;
    return {
        capability == 75 ? 1024U
        : fewer          ? 1536U
                         : 2048U,
        "NVIDIA's for compute capability " + std::to_string(major) + "." + std::to_string(minor)};
}

// ---- A kernel and the launch that it was built for ----

struct Launch {
    cl_program program = nullptr;
    cl_kernel kernel = nullptr;
    Shape shape;
    std::size_t local_bytes = 0;  // that the host gives it
};

// The context, the device and where its commands go.
struct Session {
    cl_context context = nullptr;
    cl_device_id device = nullptr;
    cl_command_queue queue = nullptr;
    bool one_launch = true;  // `tuned` needs no zeroing before
};

// The kernel is compiled for the shape of its groups, the copies and the loads.
Launch build_launch(const Session& session, const std::string& kernel, const Shape& shape,
                    unsigned copies, unsigned loads) {
    Launch launch;
    launch.shape = shape;
    launch.program = common::opencl::build_program(
        session.context, session.device, "histogram.cl",
        common::opencl::read_kernel_file("histogram.cl", CHAPTER_FOLDER),
        "-DWANT_" + kernel + " -DGROUP_X=" + std::to_string(shape.items_x) +
            " -DGROUP_Y=" + std::to_string(shape.items_y) + " -DCOPIES=" + std::to_string(copies) +
            " -DLOADS=" + std::to_string(loads) + (session.one_launch ? " -DIN_ONE_LAUNCH" : ""));
    cl_int error = CL_SUCCESS;
    launch.kernel = clCreateKernel(launch.program, kernel.c_str(), &error);
    CHECK_CL(error, "clCreateKernel");
    return launch;
}

void release(const Launch& launch) {
    if (launch.kernel == nullptr) return;
    CHECK_CL(clReleaseKernel(launch.kernel));
    CHECK_CL(clReleaseProgram(launch.program));
}

// The launch that a choice means for a picture of this size.
Launch build_tuned(const Session& session, const tuning::Choice& choice, const Picture& picture,
                   std::size_t groups) {
    static const std::map<std::string, std::string> kKernels{{"local", "tuned_local"},
                                                             {"lane-bins", "tuned_lanes"},
                                                             {"byte-bins", "tuned_bytes"},
                                                             {"item-bins", "tuned_items"}};
    Launch launch = build_launch(
        session, kKernels.at(choice.kernel),
        lay_over(picture.as_one_row(), choice.group_size, groups, pixels_at_once(choice)),
        choice.copies, choice.loads);
    launch.local_bytes = tuning::local_bytes_of(choice);
    return launch;
}

// The first five arguments of every kernel: the buffer, and where the picture lies in it.
void set_picture(cl_kernel kernel, cl_mem pixels, const Picture& picture) {
    const cl_ulong first = picture.first;
    const cl_ulong count = picture.count;
    const cl_ulong width = picture.width;
    const cl_ulong pitch = picture.pitch;
    CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
    CHECK_CL(clSetKernelArg(kernel, 1, sizeof first, &first));
    CHECK_CL(clSetKernelArg(kernel, 2, sizeof count, &count));
    CHECK_CL(clSetKernelArg(kernel, 3, sizeof width, &width));
    CHECK_CL(clSetKernelArg(kernel, 4, sizeof pitch, &pitch));
}

// @return the event of the launch, for the caller to release
cl_event enqueue(cl_command_queue queue, const Launch& launch, cl_event wait_for = nullptr) {
    const std::size_t local_size[] = {launch.shape.items_x, launch.shape.items_y};
    const std::size_t global_size[] = {launch.shape.groups_x * local_size[0],
                                       launch.shape.groups_y * local_size[1]};
    cl_event done = nullptr;
    CHECK_CL(clEnqueueNDRangeKernel(queue, launch.kernel, 2, nullptr, global_size, local_size,
                                    wait_for != nullptr ? 1 : 0,
                                    wait_for != nullptr ? &wait_for : nullptr, &done));
    return done;
}

// @return the event of the zeroing, for the caller to release
cl_event enqueue_zero(cl_command_queue queue, cl_mem histogram) {
    const cl_uint zero = 0;
    cl_event zeroed = nullptr;
    CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram), 0,
                                 nullptr, &zeroed));
    return zeroed;
}

// The first and the last of the commands that are timed together; they may be the same.
struct Commands {
    cl_event first = nullptr;
    cl_event last = nullptr;
};

void release(const Commands& commands) {
    CHECK_CL(clReleaseEvent(commands.last));
    if (commands.first != commands.last) CHECK_CL(clReleaseEvent(commands.first));
}

// From the beginning of the first to the end of the last, which have completed; releases both.
double milliseconds(const Commands& commands) {
    const double time_ms = common::opencl::elapsed_ms(commands.first, commands.last);
    release(commands);
    return time_ms;
}

// 256 totals of 64 bits, zeroed once: every launch of `tuned` leaves zeros behind.
constexpr std::size_t kTotalsBytes = kBins * sizeof(cl_ulong);

cl_mem create_totals(const Session& session) {
    std::vector<cl_ulong> zeros(kBins);
    cl_int error = CL_SUCCESS;
    const cl_mem totals = clCreateBuffer(session.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                         kTotalsBytes, zeros.data(), &error);
    CHECK_CL(error, "clCreateBuffer(totals)");
    return totals;
}

// The launch of `tuned`: the only command, or behind a zeroing where it needs one.
Commands enqueue_tuned(const Session& session, const Launch& launch, cl_mem pixels,
                       const Picture& picture, cl_mem totals, cl_mem histogram,
                       cl_event wait_for = nullptr) {
    const cl_event zeroed = session.one_launch ? nullptr : enqueue_zero(session.queue, histogram);
    set_picture(launch.kernel, pixels, picture.as_one_row());
    CHECK_CL(clSetKernelArg(launch.kernel, 5, sizeof(cl_mem), &totals));
    CHECK_CL(clSetKernelArg(launch.kernel, 6, sizeof(cl_mem), &histogram));
    CHECK_CL(clSetKernelArg(launch.kernel, 7, launch.local_bytes, nullptr));  // local memory
    const cl_event counted = enqueue(session.queue, launch, wait_for);
    return {zeroed != nullptr ? zeroed : counted, counted};
}

// They hold no poison before a run, as other buffers do, so it is looked whether they are zero.
void require_zero(const Session& session, cl_mem totals) {
    std::vector<cl_ulong> words(kBins);
    CHECK_CL(clEnqueueReadBuffer(session.queue, totals, CL_TRUE, 0, kTotalsBytes, words.data(), 0,
                                 nullptr, nullptr));
    if (std::any_of(words.begin(), words.end(), [](cl_ulong word) { return word != 0; })) {
        throw std::runtime_error("the last launch did not leave its totals at zero");
    }
}

// ---- --tune: measure every launch worth a try ----

int tune(const Arguments& arguments, const tuning::Facts& facts, const Session& session) {
    const auto pictures = tuning::test_pictures(facts);
    cl_int error = CL_SUCCESS;
    std::vector<cl_mem> buffers;
    for (const tuning::TestPicture& picture : pictures) {
        buffers.push_back(clCreateBuffer(session.context, CL_MEM_READ_ONLY, picture.pixels.size(),
                                         nullptr, &error));
        CHECK_CL(error, "clCreateBuffer(picture)");
        CHECK_CL(clEnqueueWriteBuffer(session.queue, buffers.back(), CL_TRUE, 0,
                                      picture.pixels.size(), picture.pixels.data(), 0, nullptr,
                                      nullptr));
    }
    const cl_mem totals = create_totals(session);
    const cl_mem histogram =
        clCreateBuffer(session.context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    const cl_mem unread =
        clCreateBuffer(session.context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(unread)");

    // What was compiled for one size of picture serves the others: only the number of groups
    // differs.
    std::map<std::string, Launch> built;
    const int status = tuning::run(
        arguments, facts, pictures,
        [&](const tuning::Choice& choice, std::size_t which, std::span<const Picture> parts,
            Histogram& result) {
            std::vector<Commands> launches;
            try {
                Launch& launch =
                    built[choice.kernel + " " + std::to_string(choice.copies) + " " +
                          std::to_string(choice.loads) + " " + std::to_string(choice.group_size)];
                const std::size_t groups = groups_of(choice, facts, parts.front().count);
                if (launch.kernel == nullptr) {
                    launch = build_tuned(session, choice, parts.front(), groups);
                }
                launch.shape.groups_x = groups;
                // Only the last launch writes what is read: no other can be right in its place.
                common::opencl::poison(session.queue, histogram, sizeof(Histogram));
                for (const Picture& part : parts) {
                    launches.push_back(enqueue_tuned(session, launch, buffers[which], part, totals,
                                                     &part == &parts.back() ? histogram : unread));
                }
                CHECK_CL(clEnqueueReadBuffer(session.queue, histogram, CL_TRUE, 0,
                                             sizeof(Histogram), result.data(), 0, nullptr,
                                             nullptr));
                // Without the gaps between them: noting the times makes those larger.
                double time_ms = 0;
                for (; !launches.empty(); launches.pop_back())
                    time_ms += milliseconds(launches.back());
                return time_ms;
            } catch (const std::exception& refusal) {
                for (const Commands& commands : launches)
                    release(commands);
                throw tuning::Refused(refusal.what());
            }
        });
    for (const auto& [name, launch] : built)
        release(launch);
    CHECK_CL(clReleaseMemObject(unread));
    CHECK_CL(clReleaseMemObject(histogram));
    CHECK_CL(clReleaseMemObject(totals));
    for (const cl_mem buffer : buffers)
        CHECK_CL(clReleaseMemObject(buffer));
    return status;
}

// ---- --end-to-end: three ways to copy and count ----
//
// pageable   the pixels from where they happen to be, then the count
// pinned     from memory that the driver can copy from without a detour
// pipelined  the same in chunks: while one is counted, the next is on its way

int end_to_end(const Arguments& arguments, const common::Input& input, const Histogram& expected,
               const common::opencl::Device& device, const tuning::Facts& facts,
               const std::optional<tuning::Tuning>& known, const Session& session) {
    EndToEnd report(kProgram, arguments, input, expected, device.name, device.driver_line());
    const std::size_t count = input.pixels.size();
    const Picture whole{0, count, count, count};
    const std::size_t chunks = (count + kChunkPixels - 1) / kChunkPixels;

    // A launch for the whole picture, and one for a chunk.
    const auto build_for = [&](const Picture& picture) {
        const tuning::Choice choice = choose_tuned(arguments, known, facts, picture.count);
        return build_tuned(
            session, choice, picture,
            arguments.common.groups.value_or(groups_of(choice, facts, picture.count)));
    };
    const Launch count_whole = build_for(whole);
    const Launch count_chunk = build_for({0, std::min(count, kChunkPixels), count, count});

    // Pinned memory is what CL_MEM_ALLOC_HOST_PTR gives when it is mapped.
    cl_int error = CL_SUCCESS;
    const auto create = [&](cl_mem_flags flags, std::size_t bytes) {
        const cl_mem buffer = clCreateBuffer(session.context, flags, bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer");
        return buffer;
    };
    const cl_mem staging = create(CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR, count);
    void* const pinned = clEnqueueMapBuffer(session.queue, staging, CL_TRUE, CL_MAP_WRITE, 0, count,
                                            0, nullptr, nullptr, &error);
    CHECK_CL(error, "clEnqueueMapBuffer");
    std::memcpy(pinned, input.pixels.data(), count);
    const cl_mem pixels = create(CL_MEM_READ_ONLY, count);
    const cl_mem totals = create_totals(session);
    // Each chunk has a histogram of its own: a row of 1 KiB, which any device can address.
    const cl_mem rows = create(CL_MEM_READ_WRITE, chunks * sizeof(Histogram));
    std::vector<cl_mem> row_of_chunk;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        const cl_buffer_region region{chunk * sizeof(Histogram), sizeof(Histogram)};
        row_of_chunk.push_back(clCreateSubBuffer(rows, CL_MEM_READ_WRITE,
                                                 CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
        CHECK_CL(error, "clCreateSubBuffer");
    }
    // A queue keeps the order of its commands, so what is to overlap needs two.
    const cl_command_queue copies =
        clCreateCommandQueue(session.context, session.device, 0, &error);
    CHECK_CL(error, "clCreateCommandQueue");

    const auto copy_all = [&](const void* from) {
        CHECK_CL(clEnqueueWriteBuffer(session.queue, pixels, CL_FALSE, 0, count, from, 0, nullptr,
                                      nullptr));
    };
    const auto count_all = [&](Histogram& result) {
        release(enqueue_tuned(session, count_whole, pixels, whole, totals, row_of_chunk.front()));
        CHECK_CL(clEnqueueReadBuffer(session.queue, row_of_chunk.front(), CL_TRUE, 0,
                                     sizeof(Histogram), result.data(), 0, nullptr, nullptr));
    };
    report.measure_copy([&] {
        copy_all(pinned);
        CHECK_CL(clFinish(session.queue));
    });
    report.measure_way("pageable", [&](Histogram& result) {
        copy_all(input.pixels.data());
        count_all(result);
    });
    report.measure_way("pinned", [&](Histogram& result) {
        copy_all(pinned);
        count_all(result);
    });
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
            release(enqueue_tuned(session, count_chunk, pixels, {first, length, length, length},
                                  totals, row_of_chunk[chunk], copied));
            CHECK_CL(clFlush(session.queue));
            CHECK_CL(clReleaseEvent(copied));
        }
        std::vector<std::uint32_t> counted(chunks * kBins);
        CHECK_CL(clEnqueueReadBuffer(session.queue, rows, CL_TRUE, 0, chunks * sizeof(Histogram),
                                     counted.data(), 0, nullptr, nullptr));
        common::add_rows(counted.data(), chunks, result);
    });
    require_zero(session, totals);

    CHECK_CL(clReleaseCommandQueue(copies));
    for (const cl_mem row : row_of_chunk)
        CHECK_CL(clReleaseMemObject(row));
    CHECK_CL(clEnqueueUnmapMemObject(session.queue, staging, pinned, 0, nullptr, nullptr));
    CHECK_CL(clFinish(session.queue));
    for (const cl_mem buffer : {rows, totals, pixels, staging})
        CHECK_CL(clReleaseMemObject(buffer));
    release(count_chunk);
    release(count_whole);
    return report.finish();
}

int main(int argc, char** argv) try {
    // 1. What is asked for.
    const Arguments arguments = parse_arguments(argc, argv, kProgram);
    const common::Options& options = arguments.common;
    if (options.list_devices) {
        std::fputs(common::opencl::list(common::opencl::devices()).c_str(), stdout);
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, the right answer, and where the picture is to lie in its buffer.
    //    (--tune has pictures of its own.)
    const common::Input input = arguments.tune ? common::Input() : common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const Picture picture = place_in_buffer(arguments, input);

    // 3. The device, what it allows, and what --tune has found on it.
    const common::opencl::Device device = common::opencl::choose_device(options.device);
    tuning::Facts facts{"OpenCL", device.name, device.driver_line()};
    facts.cpu = (device.type & CL_DEVICE_TYPE_CPU) != 0;
    facts.units = common::opencl::compute_units(device.id);
    facts.most_items = common::opencl::most_work_items(device.id);
    cl_ulong local_bytes = 0;
    CHECK_CL(clGetDeviceInfo(device.id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes,
                             nullptr));
    facts.local_bytes = local_bytes;
    cl_ulong memory_bytes = 0;
    cl_ulong most_bytes = 0;
    CHECK_CL(clGetDeviceInfo(device.id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory_bytes,
                             &memory_bytes, nullptr));
    CHECK_CL(clGetDeviceInfo(device.id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most_bytes,
                             &most_bytes, nullptr));
    facts.picture_bytes = std::min(memory_bytes / 4, most_bytes);
    facts.kernels = tuning::kernel_names();
    common::opencl::require_group_size(device.id, options.group_size.value_or(1));
    const std::optional<tuning::Tuning> known =
        arguments.tune ? std::nullopt : tuning::recall(facts);

    // 4. Where its commands go: a context for the device, and a queue that keeps their order and
    //    notes when each began and ended.
    cl_int error = CL_SUCCESS;
    const cl_context context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const cl_command_queue queue =
        clCreateCommandQueue(context, device.id, CL_QUEUE_PROFILING_ENABLE, &error);
    CHECK_CL(error, "clCreateCommandQueue");
    const Session session{context, device.id, queue,
                          has_64_bit_atomics(device.id) && !arguments.two_launches};
    const auto release_session = [&] {
        CHECK_CL(clReleaseCommandQueue(queue));
        CHECK_CL(clReleaseContext(context));
    };
    if (arguments.tune) {
        const int status = tune(arguments, facts, session);
        release_session();
        return status;
    }
    if (arguments.end_to_end) {
        const int status = end_to_end(arguments, input, expected, device, facts, known, session);
        release_session();
        return status;
    }
    common::Report report(kProgram, options, input, expected, device.name, device.driver_line());
    if (options.read_ceiling) {
        report.set_read_ceiling(common::opencl::read_ceiling_gb_s(context, queue, picture.count));
    }

    // 5. The launches. two-per-sm: two groups of 256 for each compute unit. occupancy: groups of
    //    512, as many as fill the device, one below the other. vector: as many, side by side.
    //    tuned: what was measured.
    const std::size_t two_size = options.group_size.value_or(256);
    const std::size_t two_groups = options.groups.value_or(2 * facts.units);
    const std::size_t full_size =
        options.group_size.value_or(std::min<std::size_t>(512, facts.most_items));
    const Resident resident = resident_items(device.id);
    const std::size_t full_groups =
        options.groups.value_or(std::max<std::size_t>(facts.units * resident.items / full_size, 1));
    const tuning::Choice choice = choose_tuned(arguments, known, facts, picture.count);
    const std::size_t tuned_groups =
        options.groups.value_or(groups_of(choice, facts, picture.count));
    for (const std::size_t size : {two_size, full_size, choice.group_size}) {
        common::opencl::require_group_size(device.id, size);
    }
    if (options.wants("occupancy")) {
        std::fprintf(stderr,
                     "  occupancy: %zu compute units x %zu work-items on each (%s) / groups of %zu "
                     "= %zu groups\n",
                     facts.units, resident.items, resident.source.c_str(), full_size, full_groups);
    }

    // 6. The kernels. They are compiled now, each for its launch; what is not wanted is left out.
    Launch two_per_sm;
    Launch occupancy;
    Launch vector;
    Launch tuned;
    if (options.wants("two-per-sm")) {
        two_per_sm = build_launch(session, "histogram_local",
                                  lay_over(picture.as_one_row(), two_size, two_groups, 1), 1, 1);
    }
    if (options.wants("occupancy")) {
        occupancy =
            build_launch(session, "histogram_occupancy", {full_size, 1, 1, full_groups}, 1, 1);
    }
    if (options.wants("vector")) {
        vector = build_launch(session, "histogram_vector",
                              lay_over(picture.as_one_row(), full_size, full_groups, 16), 1, 1);
    }
    if (options.wants("tuned")) tuned = build_tuned(session, choice, picture, tuned_groups);

    // 7. Memory on the device.
    const cl_mem pixels =
        clCreateBuffer(context, CL_MEM_READ_ONLY, picture.bytes(), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(pixels)");
    const cl_mem histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    const cl_mem totals = create_totals(session);
    const common::PixelBuffer placed =
        picture.bytes() == input.pixels.size() ? common::PixelBuffer() : with_gaps(input, picture);
    const std::uint8_t* const bytes = placed.empty() ? input.pixels.data() : placed.data();
    const auto write_pixels = [&] {
        CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, picture.bytes(), bytes, 0,
                                      nullptr, nullptr));
    };
    const auto read_histogram = [&](Histogram& result) {
        CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram), result.data(),
                                     0, nullptr, nullptr));
    };

    // 8. two-per-sm, occupancy, vector: zero the histogram, count, copy it out.
    const auto count_in_two = [&](const Launch& launch, const Picture& part, Histogram& result) {
        const cl_event zeroed = enqueue_zero(queue, histogram);
        set_picture(launch.kernel, pixels, part);
        CHECK_CL(clSetKernelArg(launch.kernel, 5, sizeof(cl_mem), &histogram));
        const cl_event counted = enqueue(queue, launch);
        read_histogram(result);
        return milliseconds({zeroed, counted});
    };

    // 9. tuned: one launch, which zeroes and finishes by itself (two, where it cannot).
    const auto count_in_one = [&](Histogram& result) {
        const Commands commands = enqueue_tuned(session, tuned, pixels, picture, totals, histogram);
        read_histogram(result);
        return milliseconds(commands);
    };

    // 10. Each variant that is asked for: poisoned, checked, timed, and checked again.
    const auto poison = [&] {
        common::opencl::poison(queue, histogram, sizeof(Histogram));
        require_zero(session, totals);
    };
    const auto run = [&](const char* variant, const auto& count, const std::string& launch = {}) {
        if (!options.wants(variant)) return;
        common::Result result = common::verify_and_time(
            variant, expected, options.repeat, common::DeviceRun{poison, write_pixels, count});
        result.launch = launch;
        report.add(std::move(result));
    };
    const auto run_in_two = [&](const char* variant, const Launch& launch, const Picture& part) {
        run(variant, [&](Histogram& result) { return count_in_two(launch, part, result); });
    };
    run_in_two("two-per-sm", two_per_sm, picture.as_one_row());
    run_in_two("occupancy", occupancy, picture);
    run_in_two("vector", vector, picture.as_one_row());
    run("tuned", count_in_one, launch_text(choice, tuned.shape.groups_x * tuned.shape.groups_y));
    require_zero(session, totals);

    // 11. What was created is released, in the opposite order.
    for (const cl_mem buffer : {totals, histogram, pixels}) {
        CHECK_CL(clReleaseMemObject(buffer));
    }
    for (const Launch& launch : {tuned, vector, occupancy, two_per_sm})
        release(launch);
    release_session();

    // 12. The table, and the exit status that tells the truth.
    return report.finish();
} catch (...) {
    return common::report_exception("05-launch-tuning/opencl");
}
