// Any bytes as a file of kernels, and the same as what a compiler says of it: the driver gets every
// line of the file under its number, and what is thrown has a text.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/opencl/opencl.hpp"
#include "common/status/status.hpp"

namespace {

std::string given;  // to the driver

void must(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

// In the place of the loader's: a driver whose compiler refuses everything.
extern "C" {
cl_program clCreateProgramWithSource(cl_context, cl_uint, const char** texts,
                                     const std::size_t* lengths, cl_int* error) {
    given.assign(texts[0], lengths[0]);
    *error = CL_SUCCESS;
    return reinterpret_cast<cl_program>(&given);
}
cl_int clBuildProgram(cl_program, cl_uint, const cl_device_id*, const char*,
                      void (*)(cl_program, void*), void*) {
    return CL_BUILD_PROGRAM_FAILURE;
}
cl_int clGetProgramBuildInfo(cl_program, cl_device_id, cl_program_build_info, std::size_t size,
                             void* value, std::size_t* needed) {
    if (needed != nullptr) *needed = given.size();
    if (value != nullptr) std::memcpy(value, given.data(), std::min(size, given.size()));
    return CL_SUCCESS;
}
cl_int clReleaseProgram(cl_program) {
    return CL_SUCCESS;
}
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("histogram-fuzz-" + std::to_string(getpid()));
    const std::string text(data, data + size);
    std::ofstream(file, std::ios::binary) << text;
    try {
        const std::string read = common::opencl::read_kernel_file("histogram.cl", "", file);
        must(read == text);
        common::opencl::build_program(nullptr, nullptr, "histogram.cl", read, "");
        must(false);
    } catch (const common::BadInput& error) {
        must(text.empty() && *error.what() != '\0');
    } catch (const std::runtime_error& error) {  // DoesNotBuild, or no word of the compiler
        must(*error.what() != '\0');
        // A first line that is a comment is not there any more.
        const bool second = given.starts_with("#line 2 ");
        const std::size_t from = second ? std::min(text.find('\n'), text.size()) : 0;
        must(given.starts_with(second ? "#line 2 " : "#line 1 "));
        must(given.ends_with(text.substr(from)) && (!second || text.starts_with("//")));
        must(std::count(given.begin(), given.end(), '\n') -
                 std::count(text.begin(), text.end(), '\n') ==
             (second ? 0 : 1));
    }
    std::filesystem::remove(file);
    return 0;
}
