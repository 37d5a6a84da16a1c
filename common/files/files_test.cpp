#include "common/files/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <tuple>
#include <utility>

#include "common/tests/support.hpp"

namespace {

namespace fs = std::filesystem;

using common::write_atomically;
using namespace std::string_literals;
using Names = std::vector<std::string>;

void require_writable(const fs::path& path) {
    common::require_output_files({{"--json", path}}, {});
}

class Files : public testing::Test {
 protected:
    tests::TemporaryFolder folder_;
};

TEST_F(Files, ReplacesAnOldFileWholeAndLeavesNothingElse) {
    std::string all;
    for (int i = 0; i < 256; ++i)
        all += static_cast<char>(i);
    for (const std::string& bytes : {all, "new"s, ""s}) {
        write_atomically(folder_ / "out", bytes);
        EXPECT_EQ(tests::bytes_of(folder_ / "out"), bytes);
        EXPECT_EQ(folder_.names(), Names{"out"});
    }
    EXPECT_NO_THROW(require_writable(folder_ / "new"));  // which changes nothing
    EXPECT_EQ(folder_.names(), Names{"out"});
    // By a name without a folder, too.
    const fs::path before = fs::current_path();
    fs::current_path(folder_.path());
    EXPECT_NO_THROW(require_writable("out"));
    EXPECT_NO_THROW(write_atomically("out", "here"));
    fs::current_path(before);
    EXPECT_EQ(tests::bytes_of(folder_ / "out"), "here");
}

TEST_F(Files, ALinkStaysALinkAndItsFileIsReplaced) {
    fs::create_symlink("file", folder_ / "link");
    tests::write_bytes(folder_ / "file", "old");
    write_atomically(folder_ / "link", "new");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(tests::bytes_of(folder_ / "file"), "new");
    EXPECT_EQ(folder_.names(), (Names{"file", "link"}));
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
        for (const std::string& text : {tests::bad_input([&] { write_atomically(path, "x"); }),
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

TEST_F(Files, AFileKeepsItsModeAndALinkToOneThatIsNotThereLeadsToIt) {
    tests::write_bytes(folder_ / "file", "old");
    fs::permissions(folder_ / "file", fs::perms(0750));
    write_atomically(folder_ / "file", "new");
    EXPECT_EQ(fs::status(folder_ / "file").permissions(), fs::perms(0750));
    fs::create_symlink("more", folder_ / "link");
    fs::create_symlink("not yet", folder_ / "more");
    write_atomically(folder_ / "link", "new");
    EXPECT_EQ(tests::bytes_of(folder_ / "not yet"), "new");
    EXPECT_EQ(folder_.names(), (Names{"file", "link", "more", "not yet"}));
    if (geteuid() == 0) return;
    fs::permissions(folder_ / "file", fs::perms(0440));
    EXPECT_TRUE(tests::has(tests::bad_input([&] { require_writable(folder_ / "file"); }),
                           "Permission denied"));
}

TEST_F(Files, ANameMayBeAsLongAsTheSystemTakesIt) {
    const std::string name(255, 'n');
    EXPECT_NO_THROW(require_writable(folder_ / name));
    EXPECT_NO_THROW(write_atomically(folder_ / name, "x"));
    EXPECT_EQ(folder_.names(), Names{name});
    EXPECT_TRUE(tests::has(tests::bad_input([&] { require_writable(folder_ / (name + 'n')); }),
                           "File name too long"));
}

TEST_F(Files, APipeIsWrittenToDirectlyAndANamedOneIsNotWaitedFor) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const fs::path name = "/dev/fd/" + std::to_string(ends[1]);
    EXPECT_NO_THROW(require_writable(name));
    write_atomically(name, "through the pipe");
    std::string received(16, '\0');
    EXPECT_EQ(read(ends[0], received.data(), received.size()), 16);
    EXPECT_EQ(received, "through the pipe");
    for (const int end : ends)
        close(end);
    ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    ASSERT_EQ(mknod((folder_ / "socket").c_str(), S_IFSOCK | 0600, 0), 0);
    for (const char* const file : {"pipe", "socket"})
        EXPECT_TRUE(tests::has(tests::bad_input([&] { require_writable(folder_ / file); }),
                               "a named pipe, a socket or a disk"));
}

// The file behind /dev/stdout is being written to: another file must not take its place, and its
// content so far is a result.
TEST_F(Files, AFileThatIsOpenIsWrittenToDirectly) {
    const int out = open((folder_ / "out").c_str(), O_CREAT | O_RDWR, 0600);
    ASSERT_EQ(write(out, "table, ", 7), 7);
    write_atomically("/dev/fd/" + std::to_string(out), "results");
    EXPECT_EQ(tests::bytes_of(folder_ / "out"), "table, results");
    struct stat about {};
    EXPECT_EQ(fstat(out, &about), 0);
    EXPECT_EQ(about.st_nlink, 1U);
    // Standard output goes on behind it.
    const int before = dup(STDOUT_FILENO);
    dup2(out, STDOUT_FILENO);
    fs::create_symlink("/dev/stdout", folder_ / "link");
    ASSERT_EQ(ftruncate(out, 0), 0);
    ASSERT_EQ(lseek(out, 0, SEEK_SET), 0);
    write_atomically("/dev/stdout", "first, ");
    write_atomically(folder_ / "link", "second, ");
    const std::string refusal = tests::bad_input([&] { require_writable(folder_ / "out"); });
    const ssize_t last = write(STDOUT_FILENO, "last", 4);
    dup2(before, STDOUT_FILENO);
    EXPECT_EQ(last, 4);
    EXPECT_EQ(refusal, "standard output and --json name the same file");
    EXPECT_EQ(tests::bytes_of(folder_ / "out"), "first, second, last");
    close(before);
    close(out);
}

// Whatever name or link leads to it.
TEST_F(Files, AnOutputReplacesNoInputAndNoOtherOutput) {
    tests::write_bytes(folder_ / "in", "kept");
    fs::create_symlink("in", folder_ / "link");
    fs::create_hard_link(folder_ / "in", folder_ / "hard");
    for (const char* name : {"in", "./in", "link", "hard"}) {
        for (const auto& [other, outputs, inputs] :
             {std::tuple("IMAGE", std::vector<common::NamedFile>{},
                         std::vector<common::NamedFile>{{"IMAGE", folder_ / "in"}}),
              {"--plot", {{"--plot", folder_ / "in"}}, {}}}) {
            std::vector<common::NamedFile> all = outputs;
            all.push_back({"--json", folder_ / name});
            EXPECT_EQ(
                tests::bad_input([&, &in = inputs] { common::require_output_files(all, in); }),
                std::string(other) + " and --json name the same file")
                << name;
        }
    }
    // One that is read later, too.
    common::require_output_files({{"--json", folder_ / "link"}}, {});
    EXPECT_EQ(tests::bad_input([&] { common::read_kernel_file("in", folder_.path()); }),
              "the kernels and --json name the same file");
    // Nor where the file is not there yet.
    fs::create_directory(folder_ / "folder");
    fs::create_symlink("folder", folder_ / "same");
    fs::create_symlink("folder/new", folder_ / "dangling");
    for (const char* name : {"folder/new", "./folder/../folder/new", "same/new", "dangling"})
        EXPECT_EQ(tests::bad_input([&] {
                      common::require_output_files(
                          {{"--json", folder_ / "folder/new"}, {"--plot", folder_ / name}}, {});
                  }),
                  "--json and --plot name the same file")
            << name;
    EXPECT_NO_THROW(common::require_output_files(
        {{"--json", folder_ / "a"}, {"--plot", folder_ / "in"}},
        {{"IMAGE", folder_ / "nosuch"}, {"--raw", "/dev/null"}, {"--plot", folder_ / "in"}}));
    EXPECT_NO_THROW(require_writable("/dev/null"));
    EXPECT_EQ(tests::bytes_of(folder_ / "in"), "kept");
    EXPECT_EQ(folder_.names(), (Names{"dangling", "folder", "hard", "in", "link", "same"}));
}

}  // namespace
