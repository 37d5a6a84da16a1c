#include "common/files/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "common/tests/support.hpp"

namespace {

namespace fs = std::filesystem;

using common::write_whole;
using namespace std::string_literals;
using Names = std::vector<std::string>;

void require_writable(const fs::path& path) {
    common::require_outputs({{"--json", path}}, {});
}

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

TEST_F(Files, ReplacesAnOldFileWholeAndLeavesNothingElse) {
    std::string all;
    for (int i = 0; i < 256; ++i)
        all += static_cast<char>(i);
    for (const std::string& bytes : {all, "new"s, ""s}) {
        write_whole(folder_ / "out", bytes);
        EXPECT_EQ(tests::bytes_of(folder_ / "out"), bytes);
        EXPECT_EQ(folder_.names(), Names{"out"});
    }
    // By a name without a folder, too.
    const fs::path before = fs::current_path();
    fs::current_path(folder_.path());
    EXPECT_NO_THROW(require_writable("out"));
    EXPECT_NO_THROW(write_whole("out", "here"));
    fs::current_path(before);
    EXPECT_EQ(tests::bytes_of(folder_ / "out"), "here");
}

TEST_F(Files, ALinkStaysALinkAndItsFileIsReplaced) {
    fs::create_symlink("file", folder_ / "link");
    for (const std::string& bytes : {"not there before"s, "new"s}) {
        write_whole(folder_ / "link", bytes);
        EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
        EXPECT_EQ(tests::bytes_of(folder_ / "file"), bytes);
        EXPECT_EQ(folder_.names(), (Names{"file", "link"}));
    }
}

TEST_F(Files, WhereNoFileCanBeIsRefusedByName) {
    fs::create_directory(folder_ / "folder");
    tests::write_bytes(folder_ / "folder" / "inside", "kept");
    tests::write_bytes(folder_ / "file", "x");
    fs::create_directory(folder_ / "closed");
    fs::permissions(folder_ / "closed", fs::perms::owner_read | fs::perms::owner_exec);
    std::vector<std::pair<fs::path, std::string>> all{
        {folder_ / "nosuch" / "out.json", "No such file or directory"},
        {folder_ / "folder", ""},
        {"", ""},
        {folder_ / "file" / "out", "Not a directory"}};
    if (geteuid() != 0) all.emplace_back(folder_ / "closed" / "out", "Permission denied");
    for (const auto& [path, reason] : all) {
        for (const std::string& text : {tests::bad_input([&] { write_whole(path, "x"); }),
                                        tests::bad_input([&] { require_writable(path); })}) {
            EXPECT_TRUE(tests::has(text, "cannot write " + path.string()));
            EXPECT_TRUE(tests::has(text, reason));
        }
    }
    EXPECT_TRUE(tests::has(tests::bad_input([&] { require_writable(folder_ / "folder"); }),
                           (folder_ / "folder").string() + ": it is a folder"));
    EXPECT_TRUE(tests::has(tests::bad_input([] { require_writable(""); }), "the name is empty"));
    EXPECT_EQ(folder_.names(), (Names{"closed", "file", "folder"}));
    EXPECT_EQ(tests::bytes_of(folder_ / "folder" / "inside"), "kept");
}

TEST_F(Files, AskingBeforehandChangesNothing) {
    tests::write_bytes(folder_ / "old", "kept");
    EXPECT_NO_THROW(require_writable(folder_ / "old"));
    EXPECT_NO_THROW(require_writable(folder_ / "new"));
    EXPECT_EQ(folder_.names(), Names{"old"});
    EXPECT_EQ(tests::bytes_of(folder_ / "old"), "kept");
}

// A few bytes still wait in the C library's buffer when fwrite has taken them, and fail at the
// flush.
TEST_F(Files, OnAFullDiskTheOldFileIsKept) {
    tests::write_bytes(folder_ / "out", "old");
    for (const auto& [room, bytes] : {std::pair{1000, 100'000}, std::pair{0, 3}}) {
        std::string text;
        {
            const FullDisk full(static_cast<rlim_t>(room));
            text = tests::bad_input([&, size = static_cast<std::size_t>(bytes)] {
                write_whole(folder_ / "out", std::string(size, 'x'));
            });
        }
        EXPECT_TRUE(
            tests::has(text, "cannot write " + (folder_ / "out").string() + ": File too large"));
        EXPECT_EQ(tests::bytes_of(folder_ / "out"), "old");
        EXPECT_EQ(folder_.names(), Names{"out"});
    }
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

// What /dev/stdout leads to is being written to: another file must not take its place.
TEST_F(Files, AFileThatIsOpenIsWrittenToDirectly) {
    const int out = open((folder_ / "out").c_str(), O_CREAT | O_RDWR, 0600);
    ASSERT_NE(out, -1);
    write_whole("/dev/fd/" + std::to_string(out), "results");
    struct stat about {};
    EXPECT_EQ(fstat(out, &about), 0);
    EXPECT_EQ(about.st_nlink, 1U);
    EXPECT_EQ(about.st_size, 7);
    close(out);
}

}  // namespace
