// What served.cpp has besides, for OpenCL: it keeps one context for each device and one built
// program for each text and options. Each context makes PoCL's compiler read its library anew, and
// each build its whole text. The four calls below stand before the driver's, which dlsym finds.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include <map>
#include <string>
#include <utility>

namespace {

template <typename Function>
Function next(Function, const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Never released: where the process ends the driver may have gone before.
std::map<cl_device_id, cl_context> contexts;
using What = std::pair<cl_context, std::string>;
std::map<std::pair<What, std::string>, cl_program> built;  // by text and options
std::map<cl_program, What> texts;                          // of those that are not built yet
std::map<cl_program, cl_program> same_as;                  // the built one that stands for another

}  // namespace

cl_context CL_API_CALL clCreateContext(
    const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
    void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* user, cl_int* error) {
    static const auto real = next(&clCreateContext, "clCreateContext");
    cl_context& context = contexts[devices[0]];
    if (context == nullptr) {
        context = real(properties, count, devices, notify, user, error);
        if (context == nullptr) return nullptr;
    }
    *error = clRetainContext(context);
    return context;
}

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
                                                 const char** strings, const size_t* lengths,
                                                 cl_int* error) {
    static const auto real = next(&clCreateProgramWithSource, "clCreateProgramWithSource");
    const cl_program program = real(context, count, strings, lengths, error);
    if (program != nullptr && lengths == nullptr) {
        same_as.erase(program);  // of one that was, at the same place
        texts[program] = {context, strings[0]};
    }
    return program;
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                                  const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                                  void* user) {
    static const auto real = next(&clBuildProgram, "clBuildProgram");
    const auto text = texts.find(program);
    if (text == texts.end()) return real(program, count, devices, options, notify, user);
    const auto what = std::pair(text->second, std::string(options));
    texts.erase(text);
    if (const auto found = built.find(what); found != built.end()) {
        same_as[program] = found->second;
        return CL_SUCCESS;
    }
    const cl_int error = real(program, count, devices, options, notify, user);
    if (error == CL_SUCCESS && clRetainProgram(program) == CL_SUCCESS) built[what] = program;
    return error;
}

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* name, cl_int* error) {
    static const auto real = next(&clCreateKernel, "clCreateKernel");
    const auto other = same_as.find(program);
    return real(other == same_as.end() ? program : other->second, name, error);
}
