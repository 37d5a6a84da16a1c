// Memory that runs out and files that fail, at every place where they can: each time one exception
// that says so, nothing leaked (the sanitizer builds watch that), nothing half-written.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stb_image_write.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>

#include "common/files/input_file.hpp"
#include "common/files/output_file.hpp"
#include "common/image/image.hpp"
#include "common/report/document.hpp"
#include "common/status/status.hpp"
#include "common/tests/support.hpp"

namespace {

// Which one is to fail: 1 is the next, 0 none.
std::atomic<int> failing_allocation = 0;
std::atomic<int> failing_call = 0;

bool is_the_one(std::atomic<int>& countdown) {
    return countdown > 0 && --countdown == 0;
}

void* allocated(std::size_t size) noexcept {
    return is_the_one(failing_allocation) ? nullptr : std::malloc(size == 0 ? 1 : size);
}

}  // namespace

void* operator new(std::size_t size) {
    void* const memory = allocated(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return allocated(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

// From here on the file fails as a disk does, whatever is done with it.
void spoil(std::FILE* file) {
    const int folder = open("/", O_RDONLY);
    dup2(folder, fileno(file));
    close(folder);
}

int failed_with(int error) {
    errno = error;
    return -1;
}

bool is_on_disk = true;  // what has been written

// A file system that takes A for a, as that of macOS does.
bool is_case_blind = false;
class Seen {
 public:
    explicit Seen(const char* path) {
        std::size_t last = 0;
        for (std::size_t i = 0; path[i] != '\0' && i + 1 < name_.size(); ++i) {
            name_[i] = path[i];
            if (path[i] == '/') last = i;
        }
        for (char* at = &name_[last]; is_case_blind && *at != '\0'; ++at)
            *at = static_cast<char>(std::tolower(static_cast<unsigned char>(*at)));
    }
    operator const char*() const { return name_.data(); }

 private:
    std::array<char, 4096> name_{};  // not on the heap, which may be what fails
};

}  // namespace

// The names are the linker's, which puts these in place of the C library's (see CMakeLists.txt).
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
int __real_open(const char* path, int flags, ...);
int __real_stat(const char* path, struct stat* about);
int __real_unlink(const char* path);
std::FILE* __real_fdopen(int number, const char* mode);
std::size_t __real_fread(void* to, std::size_t size, std::size_t count, std::FILE* file);
ssize_t __real_write(int file, const void* from, std::size_t size);
int __real_fsync(int file);
int __real_rename(const char* from, const char* to);

int __wrap_open(const char* path, int flags, mode_t mode) {
    return is_the_one(failing_call) ? failed_with(EMFILE) : __real_open(Seen(path), flags, mode);
}
int __wrap_stat(const char* path, struct stat* about) {
    return __real_stat(Seen(path), about);
}
int __wrap_unlink(const char* path) {
    return __real_unlink(Seen(path));
}
std::FILE* __wrap_fdopen(int number, const char* mode) {
    if (!is_the_one(failing_call)) return __real_fdopen(number, mode);
    errno = ENOMEM;
    return nullptr;
}
std::size_t __wrap_fread(void* to, std::size_t size, std::size_t count, std::FILE* file) {
    if (is_the_one(failing_call)) spoil(file);
    return __real_fread(to, size, count, file);
}
// As on a disk that becomes full: first a part is written, then nothing.
ssize_t __wrap_write(int file, const void* from, std::size_t size) {
    if (is_the_one(failing_call)) return failed_with(ENOSPC);
    is_on_disk = false;
    return __real_write(file, from, size > 100 ? size / 2 : size);
}
int __wrap_fsync(int file) {
    if (is_the_one(failing_call)) return failed_with(EIO);
    is_on_disk = true;
    return __real_fsync(file);
}
int __wrap_rename(const char* from, const char* to) {
    EXPECT_TRUE(is_on_disk) << "where the power fails now, neither file is whole";
    return is_the_one(failing_call) ? failed_with(EIO) : __real_rename(from, to);
}
}
// NOLINTEND(bugprone-reserved-identifier)

namespace {

// Calls it until nothing fails any more, first with the first one failing, then with the second,
// and so on; gives how many there are. What fails must end in an exception.
int fail_each(
    std::atomic<int>& countdown, const std::function<void()>& call,
    const std::function<void()>& after_each = [] {}) {
    for (int n = 1;; ++n) {
        SCOPED_TRACE("the one that fails is number " + std::to_string(n));
        std::string said;
        countdown = n;
        try {
            call();
        } catch (const std::bad_alloc&) {
            said = "out of memory";
        } catch (const common::BadInput& error) {
            said = error.what();
        }
        const bool failed = countdown.exchange(0) == 0;
        after_each();
        EXPECT_EQ(failed, !said.empty()) << said;
        if (&countdown == &failing_allocation && failed) {
            EXPECT_TRUE(tests::has(said, "out of memory"));
        }
        if (!failed) return n - 1;
    }
}

class Failures : public testing::Test {
 protected:
    tests::TemporaryFolder folder_;
};

void append(void* to, void* bytes, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes),
                                          static_cast<std::size_t>(size));
}

TEST_F(Failures, APictureWithoutTheMemoryForIt) {
    tests::Bmp bmp;
    bmp.palette = tests::grey_palette();
    bmp.rows = {{1, 2, 3}};
    const common::PixelBuffer colours(std::size_t{16} * 16 * 3);
    std::string png, jpeg;
    ASSERT_NE(stbi_write_png_to_func(append, &png, 16, 16, 3, colours.data(), 48), 0);
    ASSERT_NE(stbi_write_jpg_to_func(append, &jpeg, 16, 16, 3, colours.data(), 90), 0);
    for (const std::string& bytes :
         {tests::bmp_file(bmp), png, jpeg, std::string("P5 1 1 9\n\1")}) {
        const auto path = folder_ / "picture";
        tests::write_bytes(path, bytes);
        EXPECT_GT(fail_each(failing_allocation, [&] { common::load_picture(path); }), 1);
    }
}

TEST_F(Failures, APictureThatCannotBeReadOn) {
    const auto path = folder_ / "picture";
    tests::write_bytes(path, "P5 500 500 255\n" + std::string(250'000, 'x'));
    EXPECT_GT(fail_each(failing_call, [&] { common::load_picture(path); }), 3);
}

TEST_F(Failures, ResultsAreWrittenWholeOrNotAtAll) {
    const auto path = folder_ / "out.json";
    const std::string text = common::to_json_text(common::RunDocument{});
    const auto write = [&] { common::write_whole(path, text); };
    for (std::atomic<int>* countdown : {&failing_allocation, &failing_call}) {
        tests::write_bytes(path, "old");
        const int failures = fail_each(*countdown, write, [&] {
            const std::string now = tests::bytes_of(path);
            EXPECT_TRUE(now == "old" || now == text) << now;
            EXPECT_EQ(folder_.names(), std::vector<std::string>{"out.json"});
        });
        EXPECT_GE(failures, 5);
        EXPECT_EQ(tests::bytes_of(path), text);
    }
}

TEST_F(Failures, WhatIsAskedForBeforehandLeavesNothing) {
    tests::write_bytes(folder_ / "in", "kept");
    const auto ask = [&] {
        common::require_output_files({{"--json", folder_ / "a"}, {"--plot", folder_ / "b"}},
                                     {{"IMAGE", folder_ / "in"}});
    };
    for (std::atomic<int>* countdown : {&failing_allocation, &failing_call}) {
        const int failures = fail_each(
            *countdown, ask, [&] { EXPECT_EQ(folder_.names(), std::vector<std::string>{"in"}); });
        EXPECT_GE(failures, 2);
    }
}

TEST_F(Failures, TwoNamesOfOneFileWhereCaseDoesNotMatter) {
    const auto refusal = [&](const std::string& input) {
        return tests::bad_input([&] {
            is_case_blind = true;
            common::require_output_files({{"--json", folder_ / "new"}, {"--plot", folder_ / "NEW"}},
                                         {{"IMAGE", folder_ / input}});
        });
    };
    EXPECT_EQ(refusal("in"), "--json and --plot name the same file");
    tests::write_bytes(folder_ / "new", "kept");
    EXPECT_EQ(refusal("New"), "IMAGE and --json name the same file");
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"new"});
    is_case_blind = false;
    EXPECT_NO_THROW(common::require_output_files(
        {{"--json", folder_ / "new"}, {"--plot", folder_ / "NEW"}}, {}));
}

TEST_F(Failures, ResultsThatCannotBeReadAgain) {
    const auto path = folder_ / "in.json";
    tests::write_bytes(path, common::to_json_text(common::RunDocument{}));
    EXPECT_GT(fail_each(failing_call, [&] { common::read_document(path); }), 2);
}

}  // namespace
