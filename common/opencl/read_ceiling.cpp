

#include "common/opencl/opencl.hpp"
#include "common/process/status.hpp"
#include "common/timing/timing.hpp"
#include "common/verify/watchdog.hpp"

namespace common::opencl {
namespace {

// A word is written only if the buffer holds anything but zeros. The compiler cannot know that it
// does not, so it has to read everything, and nothing is written. Ways to walk: neighbouring
// work-items read neighbouring words, as a GPU likes it, one or four on their way at once; or each
// work-item reads a stretch of its own, as a CPU likes it, at one position or at four side by side.
const char* const kSource = R"(
uint4 all_of(__global const uint4* words, ulong i, ulong end, ulong step) {
    uint4 sum = (uint4)(0);
    for (; i < end; i += step) {
        sum |= words[i];
    }
    return sum;
}

void tell_if_not_zero(uint4 sum, __global uint* unwritten) {
    if ((sum.x | sum.y | sum.z | sum.w) != 0) {
        *unwritten = 1;
    }
}

__kernel void read_in_turn(__global const uint4* words, ulong count, __global uint* unwritten) {
    tell_if_not_zero(all_of(words, get_global_id(0), count, get_global_size(0)), unwritten);
}

__kernel void read_four_in_turn(__global const uint4* words, ulong count, __global uint* unwritten) {
    uint4 sum = (uint4)(0);
    const ulong stride = get_global_size(0);
    ulong i = get_global_id(0);
    for (; i + 3 * stride < count; i += 4 * stride) {
        sum |= words[i] | words[i + stride] | words[i + 2 * stride] | words[i + 3 * stride];
    }
    tell_if_not_zero(sum | all_of(words, i, count, stride), unwritten);
}

__kernel void read_stretch(__global const uint4* words, ulong count, __global uint* unwritten) {
    const ulong begin = count * get_global_id(0) / get_global_size(0);
    const ulong end = count * (get_global_id(0) + 1) / get_global_size(0);
    tell_if_not_zero(all_of(words, begin, end, 1), unwritten);
}

__kernel void read_four_stretches(__global const uint4* words, ulong count, __global uint* unwritten) {
    uint4 sum = (uint4)(0);
    const ulong begin = count * get_global_id(0) / get_global_size(0);
    const ulong end = count * (get_global_id(0) + 1) / get_global_size(0);
    const ulong length = (end - begin) / 4;
    for (ulong i = begin; i < begin + length; ++i) {
        sum |= words[i] | words[i + length] | words[i + 2 * length] | words[i + 3 * length];
    }
    tell_if_not_zero(sum | all_of(words, begin + 4 * length, end, 1), unwritten);
}
)";

}  // namespace

std::optional<double> read_ceiling_gb_s(cl_context context, cl_command_queue queue,
                                        std::uint64_t pixels) {
    cl_device_id device = nullptr;
    CHECK_CL(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(cl_device_id), &device, nullptr));
    const Device about = described(device);
    if (about.name.starts_with("Oclgrind")) {
        progress("the read ceiling is not measured: Oclgrind simulates a device\n");
        return std::nullopt;
    }
    cl_ulong most = 0;
    CHECK_CL(clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, nullptr));
    const std::size_t bytes = std::min(read_ceiling_bytes(pixels), most / 2) / 16 * 16;
    const cl_ulong words = bytes / 16;

    cl_int error = CL_SUCCESS;
    const ProgramObject program = build_program(context, device, "the read ceiling", kSource, "");
    const Buffer buffer = clCreateBuffer(context, CL_MEM_READ_ONLY, bytes, nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(read ceiling)");
    const Buffer unwritten = clCreateBuffer(context, CL_MEM_READ_WRITE, 4, nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(unwritten)");
    const cl_uint zero = 0;
    CHECK_CL(clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, bytes, 0, nullptr, nullptr));

    double best = 0;
    const auto read_with = [&](const char* name, std::size_t max_group_size) {
        const Kernel kernel = clCreateKernel(program, name, &error);
        CHECK_CL(error, "clCreateKernel(read ceiling)");
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof words, &words));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &unwritten));
        std::size_t group_size = 0;
        CHECK_CL(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE,
                                          sizeof group_size, &group_size, nullptr));
        group_size = std::min({group_size, max_group_size, max_work_group_size(device)});
        for (const std::size_t groups_per_unit : {1U, 2U, 4U, 16U}) {
            const std::size_t global_size = groups_per_unit * compute_units(device) * group_size;
            for (int repeat = 0; repeat < 5; ++repeat) {
                const Deadline deadline("the read ceiling", time_limit(bytes));
                const auto run = [&] {
                    Event done;
                    CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size,
                                                    &group_size, 0, nullptr, done.out()));
                    CHECK_CL(clFinish(queue));
                    return elapsed_ms(done, done);
                };
                const auto read = static_cast<double>(bytes);
                const double time_ms = plausible_ms(run, read);
                best = std::max(best, gigabytes_per_second(read, time_ms));
            }
        }
    };
    if ((about.type & CL_DEVICE_TYPE_CPU) != 0) {
        read_with("read_stretch", 1);
        read_with("read_four_stretches", 1);
    } else {
        for (const char* const kernel : {"read_in_turn", "read_four_in_turn"}) {
            read_with(kernel, 256);
            read_with(kernel, 1024);
        }
    }
    return best;
}

}  // namespace common::opencl
