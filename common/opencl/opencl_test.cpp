#include "common/opencl/opencl.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/histogram/histogram.hpp"
#include "common/process/status.hpp"
#include "common/tests/support.hpp"

namespace {

namespace opencl = common::opencl;

std::string failure(const std::function<void()>& call) {
    try {
        call();
    } catch (const common::BadInput& error) {
        ADD_FAILURE() << "not for the user to mend: " << error.what();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

// ---- errors -----------------------------------------------------------------------------------

TEST(OpenClError, AFailureNamesErrorCallFileAndLine) {
    EXPECT_NO_THROW(CHECK_CL(CL_SUCCESS));
    const int line = __LINE__ + 1;
    const std::string text = failure([] { CHECK_CL(clReleaseMemObject(nullptr)); });
    EXPECT_TRUE(
        tests::has(text, "CL_INVALID_MEM_OBJECT (-38) from clReleaseMemObject(nullptr) at "));
    EXPECT_TRUE(tests::has(text, "opencl_test.cpp:" + std::to_string(line)));
    const cl_int error = CL_INVALID_KERNEL_NAME;  // of a call that wrote it
    EXPECT_TRUE(tests::has(failure([&] { CHECK_CL(error, "clCreateKernel"); }),
                           "CL_INVALID_KERNEL_NAME (-46) from clCreateKernel at "));
    // Too little memory is for the user to mend.
    for (const cl_int memory : {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_INVALID_BUFFER_SIZE})
        EXPECT_EQ(tests::bad_input([&] { CHECK_CL(memory, "clCreateBuffer"); }),
                  "this device has too little memory: " + opencl::error_name(memory) +
                      " from clCreateBuffer");
    EXPECT_EQ(tests::bad_input([] { CHECK_CL(CL_OUT_OF_HOST_MEMORY, "clFinish"); }),
              "this machine has too little memory: CL_OUT_OF_HOST_MEMORY from clFinish");
}

// ---- kernel files -----------------------------------------------------------------------------

std::filesystem::path own_folder() {
    return std::filesystem::canonical("/proc/self/exe").parent_path();
}

TEST(KernelFile, TheOneBesideTheProgramComesFirst) {
    if (!std::filesystem::exists("/proc/self/exe")) GTEST_SKIP() << "this system has no /proc";
    const tests::TemporaryFolder folder;
    const std::string name = folder.path().filename().string() + ".cl";
    tests::write_bytes(folder / name, "in the source");
    tests::write_bytes(own_folder() / name, "beside");
    const std::string source = common::read_kernel_file(name, folder.path());
    std::filesystem::remove(own_folder() / name);
    EXPECT_EQ(source, "beside");
    EXPECT_EQ(common::read_kernel_file(name, folder.path()), "in the source");
}

TEST(KernelFile, ThatCannotBeReadIsNamed) {
    const tests::TemporaryFolder folder;
    const std::string text =
        tests::bad_input([&] { common::read_kernel_file("nosuch.cl", folder.path()); });
    EXPECT_TRUE(tests::has(text, "no kernel file nosuch.cl"));
    EXPECT_TRUE(tests::has(text, (folder / "nosuch.cl").string()));
    if (std::filesystem::exists("/proc/self/exe")) {
        EXPECT_TRUE(tests::has(text, (own_folder() / "nosuch.cl").string()));
    }
    tests::write_bytes(folder / "empty", "");
    for (const auto& [path, why] : {std::pair(folder / "nosuch.cl", "No such file or directory"),
                                    {folder / ".", "a folder, not a file"},
                                    {folder / "empty", "an empty file"},
                                    {"/dev/zero", "too large: more than 16777216 bytes"}}) {
        EXPECT_TRUE(tests::has(tests::bad_input([&, &path = path] {
                                   common::read_kernel_file("test.cl", folder.path(), path);
                               }),
                               "--kernels " + path.string() + ": " + why));
    }
}

// ---- building programs ------------------------------------------------------------------------

// Each of these needs a device. (Where one is required, the tests of the chapters' programs fail
// without it.)
class OpenClProgram : public testing::Test {
 protected:
    void SetUp() override {
        if (opencl::devices().empty()) GTEST_SKIP() << "no OpenCL device";
        device_ = opencl::choose_device("").id;
        cl_int error = CL_SUCCESS;
        context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
        CHECK_CL(error, "clCreateContext");
    }

    cl_device_id device_ = nullptr;
    opencl::Context context_;
};

TEST_F(OpenClProgram, AMistakeShowsTheCompilersLog) {
    // The name of the file takes the place of a first line that is a comment.
    for (const char* const source :
         {"kernel void broken() {\n  undeclared_name = 1;\n}\n",
          "// a comment\nkernel void broken() { undeclared_name = 1; }\n"}) {
        const std::string text = failure(
            [&] { opencl::build_program(context_, device_, "broken.cl", source, "-DX=1"); });
        EXPECT_TRUE(
            text.starts_with("broken.cl does not build: CL_BUILD_PROGRAM_FAILURE (-11), "
                             "build options '-DX=1'\n"))
            << text;
        EXPECT_TRUE(tests::has(text, "undeclared_name"));
        // NVIDIA's compiler passes over the name, and over the line that gives it.
        EXPECT_TRUE(tests::has(text, "broken.cl:2:") || tests::has(text, "<kernel>:3:") ||
                    tests::has(text, "<kernel>:2:"));
        EXPECT_EQ(text.find('\0'), std::string::npos);
    }
}

TEST_F(OpenClProgram, AnExtensionHasAllOfItsName) {
    const std::string name = "cl_khr_byte_addressable_store";  // part of OpenCL 1.2
    EXPECT_TRUE(opencl::has_extension(device_, name));
    EXPECT_FALSE(opencl::has_extension(device_, name.substr(0, name.size() - 1)));
    EXPECT_FALSE(opencl::has_extension(device_, name.substr(1)));
}

// ---- what a host program asks of a buffer and an event ----------------------------------------

TEST_F(OpenClProgram, ABufferIsPoisonedAsFarAsIsAsked) {
    cl_int error = CL_SUCCESS;
    const opencl::Queue queue =
        clCreateCommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE, &error);
    CHECK_CL(error, "clCreateCommandQueue");
    std::array<cl_uint, 300> words{};
    const opencl::Buffer buffer = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                                 sizeof words, words.data(), &error);
    CHECK_CL(error, "clCreateBuffer");
    opencl::poison(queue, buffer, 257 * sizeof(cl_uint));
    std::array<opencl::Event, 2> events;
    for (opencl::Event& event : events)
        CHECK_CL(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof words, words.data(), 0,
                                     nullptr, event.out()));
    for (std::size_t i = 0; i < words.size(); ++i)
        EXPECT_EQ(words[i], i < 257 ? common::kPoison : 0U);

    const double first = opencl::elapsed_ms(events[0], events[0]);
    const double both = opencl::elapsed_ms(events[0], events[1]);
    EXPECT_GE(first, 0);
    EXPECT_GE(both, first);
    EXPECT_LT(both, 60'000);
}

}  // namespace
