#include "common/tests/support.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include "common/process/status.hpp"

namespace tests {
namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "histogram-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder " + name);
    path_ = fs::canonical(name);
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::names() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

Environment::Environment(const char* name) : name_(name) {
    if (const char* value = std::getenv(name)) before_ = value;
}

Environment::~Environment() {
    before_ ? set(*before_) : unset();
}

void Environment::set(const std::string& value) const {
    setenv(name_, value.c_str(), 1);
}

void Environment::unset() const {
    unsetenv(name_);
}

std::string said(const std::function<void()>& call) {
    testing::internal::CaptureStderr();
    try {
        call();
    } catch (...) {
        testing::internal::GetCapturedStderr();
        throw;
    }
    return testing::internal::GetCapturedStderr();
}

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path << " cannot be read";
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary);
    file << bytes;
    ASSERT_TRUE(file.flush()) << path << " cannot be written";
}

std::string bad_input(const std::function<void()>& call) {
    try {
        call();
    } catch (const common::BadInput& error) {
        std::string text = error.what();
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(text.find('\n'), std::string::npos) << "more than one line: " << text;
        return text;
    } catch (const std::exception& error) {
        ADD_FAILURE() << "not a BadInput: " << error.what();
        return {};
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

::testing::AssertionResult has(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "'" << text << "' does not have '" << part << "'";
}

}  // namespace tests
