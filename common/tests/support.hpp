// What several of the unit tests need: a folder of their own, files by their bytes, and
// the text of an expected BadInput.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tests {

/// A new, empty folder that goes away with the object.
class TemporaryFolder {
 public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
        return path_ / name;
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// The names of everything in it, sorted.
    [[nodiscard]] std::vector<std::string> names() const;

 private:
    std::filesystem::path path_;
};

std::string bytes_of(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const std::string& bytes);

/// A variable of the environment that is as it was when the object goes away.
class Environment {
 public:
    explicit Environment(const char* name);
    ~Environment();
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    void set(const std::string& value) const;
    void unset() const;

 private:
    const char* name_;
    std::optional<std::string> before_;
};

/// What a call writes to standard error.
std::string said(const std::function<void()>& call);

/// The text of the BadInput that `call` throws. Fails the test where it throws none, and where the
/// text is not one line, since the user reads it as one.
std::string bad_input(const std::function<void()>& call);

/// Whether `text` has `part` in it, for EXPECT_TRUE: a failure shows both.
::testing::AssertionResult has(const std::string& text, const std::string& part);

}  // namespace tests
