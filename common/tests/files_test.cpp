#include "common/files/output_file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

#include "common/tests/support.hpp"

namespace {

namespace fs = std::filesystem;

using common::require_writable;
using common::write_whole;
using Names = std::vector<std::string>;

class Files : public testing::Test {
 protected:
    tests::TemporaryFolder folder_;
};

// While it lives no file may grow beyond `bytes`: what a full disk looks like to a program.
class FullDisk {
 public:
    explicit FullDisk(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() {
        setrlimit(RLIMIT_FSIZE, &before_);
        signal(SIGXFSZ, handler_);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

 private:
    rlimit before_{};
    void (*handler_)(int);
};

TEST_F(Files, WritesEveryByteAndLeavesNothingElse) {
    std::string all;
    for (int i = 0; i < 256; ++i)
        all += static_cast<char>(i);
    write_whole(folder_ / "out", all);
    EXPECT_EQ(tests::bytes_of(folder_ / "out"), all);
    EXPECT_EQ(folder_.names(), Names{"out"});
}

TEST_F(Files, WritesNoBytesAtAll) {
    write_whole(folder_ / "out", "");
    EXPECT_EQ(tests::bytes_of(folder_ / "out"), "");
}

TEST_F(Files, ReplacesAnOldFileWhole) {
    tests::write_bytes(folder_ / "out", "old and much longer than the new");
    write_whole(folder_ / "out", "new");
    EXPECT_EQ(tests::bytes_of(folder_ / "out"), "new");
    EXPECT_EQ(folder_.names(), Names{"out"});
}

TEST_F(Files, WritesByANameWithoutAFolder) {
    const fs::path before = fs::current_path();
    fs::current_path(folder_.path());
    EXPECT_NO_THROW(require_writable("out"));
    EXPECT_NO_THROW(write_whole("out", "here"));
    fs::current_path(before);
    EXPECT_EQ(tests::bytes_of(folder_ / "out"), "here");
    EXPECT_EQ(folder_.names(), Names{"out"});
}

TEST_F(Files, ALinkStaysALinkAndItsFileIsReplaced) {
    tests::write_bytes(folder_ / "file", "old");
    fs::create_symlink("file", folder_ / "link");
    write_whole(folder_ / "link", "new");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(tests::bytes_of(folder_ / "file"), "new");
    EXPECT_EQ(folder_.names(), (Names{"file", "link"}));
}

TEST_F(Files, ALinkToAFileThatIsNotThereYetStaysALink) {
    fs::create_symlink("file", folder_ / "link");
    write_whole(folder_ / "link", "new");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(tests::bytes_of(folder_ / "link"), "new");
    EXPECT_EQ(folder_.names(), (Names{"file", "link"}));
}

TEST_F(Files, AMissingFolderIsRefusedByName) {
    const fs::path path = folder_ / "nosuch" / "out.json";
    for (const std::string& text : {tests::bad_input([&] { write_whole(path, "x"); }),
                                    tests::bad_input([&] { require_writable(path); })}) {
        EXPECT_TRUE(tests::has(text, "cannot write " + path.string()));
        EXPECT_TRUE(tests::has(text, "No such file or directory"));
    }
    EXPECT_EQ(folder_.names(), Names{});
}

TEST_F(Files, AFolderIsRefused) {
    fs::create_directory(folder_ / "out");
    tests::write_bytes(folder_ / "out" / "inside", "kept");
    EXPECT_TRUE(tests::has(tests::bad_input([&] { require_writable(folder_ / "out"); }),
                           (folder_ / "out").string() + ": it is a folder"));
    EXPECT_TRUE(tests::has(tests::bad_input([&] { write_whole(folder_ / "out", "x"); }),
                           "cannot write " + (folder_ / "out").string()));
    EXPECT_EQ(folder_.names(), Names{"out"});
    EXPECT_EQ(tests::bytes_of(folder_ / "out" / "inside"), "kept");
}

TEST_F(Files, AnEmptyNameIsRefused) {
    EXPECT_TRUE(tests::has(tests::bad_input([] { require_writable(""); }), "the name is empty"));
    tests::bad_input([] { write_whole("", "x"); });
}

TEST_F(Files, AFileInPlaceOfAFolderIsRefused) {
    tests::write_bytes(folder_ / "file", "x");
    EXPECT_TRUE(tests::has(tests::bad_input([&] { require_writable(folder_ / "file" / "out"); }),
                           "Not a directory"));
}

TEST_F(Files, AFolderWithoutPermissionIsRefused) {
    if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    fs::create_directory(folder_ / "closed");
    fs::permissions(folder_ / "closed", fs::perms::owner_read | fs::perms::owner_exec);
    const fs::path path = folder_ / "closed" / "out";
    EXPECT_TRUE(tests::has(tests::bad_input([&] { require_writable(path); }), "Permission denied"));
    EXPECT_TRUE(tests::has(tests::bad_input([&] { write_whole(path, "x"); }), "Permission denied"));
}

TEST_F(Files, AskingBeforehandChangesNothing) {
    tests::write_bytes(folder_ / "old", "kept");
    EXPECT_NO_THROW(require_writable(folder_ / "old"));
    EXPECT_NO_THROW(require_writable(folder_ / "new"));
    EXPECT_EQ(folder_.names(), Names{"old"});
    EXPECT_EQ(tests::bytes_of(folder_ / "old"), "kept");
}

TEST_F(Files, OnAFullDiskTheOldFileIsKept) {
    tests::write_bytes(folder_ / "out", "old");
    const std::string large(100'000, 'x');
    std::string text;
    {
        const FullDisk full(1000);
        text = tests::bad_input([&] { write_whole(folder_ / "out", large); });
    }
    EXPECT_TRUE(
        tests::has(text, "cannot write " + (folder_ / "out").string() + ": File too large"));
    EXPECT_EQ(tests::bytes_of(folder_ / "out"), "old");
    EXPECT_EQ(folder_.names(), Names{"out"});
}

// The bytes still wait in the C library's buffer when fwrite has taken them, and fail at the flush.
TEST_F(Files, OnAFullDiskAFewBytesFailToo) {
    std::string text;
    {
        const FullDisk full(0);
        text = tests::bad_input([&] { write_whole(folder_ / "out", "few"); });
    }
    EXPECT_TRUE(tests::has(text, "File too large"));
    EXPECT_EQ(folder_.names(), Names{});
}

TEST_F(Files, AFullDeviceIsReported) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
    EXPECT_TRUE(tests::has(tests::bad_input([] { write_whole("/dev/full", "x"); }),
                           "cannot write /dev/full: No space left"));
}

TEST_F(Files, APipeIsWrittenToDirectly) {
    const fs::path pipe = folder_ / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_NO_THROW(require_writable(pipe));  // and does not wait for a reader
    std::string received;
    std::jthread reader([&] { received = tests::bytes_of(pipe); });
    write_whole(pipe, "through the pipe");
    reader.join();
    EXPECT_EQ(received, "through the pipe");
    EXPECT_TRUE(fs::is_fifo(pipe));
    EXPECT_EQ(folder_.names(), Names{"pipe"});
}

TEST_F(Files, StandardOutputIsWrittenToDirectly) {
    if (!fs::exists("/dev/stdout")) GTEST_SKIP() << "this system has no /dev/stdout";
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    std::fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    std::string problem;
    try {
        require_writable("/dev/stdout");
        write_whole("/dev/stdout", "results");
    } catch (const std::exception& error) {
        problem = error.what();
    }
    dup2(before, STDOUT_FILENO);
    close(before);
    close(ends[1]);
    std::array<char, 64> buffer{};
    const ssize_t got = read(ends[0], buffer.data(), buffer.size());
    close(ends[0]);
    EXPECT_EQ(problem, "");
    EXPECT_EQ(std::string(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))),
              "results");
}

}  // namespace
