#include "common/process/status.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <utility>

namespace {

struct Ending {
    int status;
    std::string text;
};

Ending end_by(const std::function<void()>& failing) {
    testing::internal::CaptureStderr();
    int status = -1;
    try {
        failing();
    } catch (...) {
        status = common::report_exception("01-cpu/cpu");
    }
    return {status, testing::internal::GetCapturedStderr()};
}

TEST(Status, EveryEndHasItsNumberAndItsLine) {
    const auto expect_end = [](int status, const std::string& text,
                               const std::function<void()>& failing) {
        const Ending ending = end_by(failing);
        EXPECT_EQ(ending.status, status);
        EXPECT_EQ(ending.text.substr(0, text.size()), text);
    };
    EXPECT_EQ(end_by([] { throw common::Finished(); }).text, "");
    expect_end(0, "", [] { throw common::Finished(); });
    expect_end(2, "01-cpu/cpu: x.bmp: an empty file\n",
               [] { throw common::BadInput("x.bmp: an empty file"); });
    expect_end(77, "01-cpu/cpu: no device\n", [] { throw common::NothingToRunOn("no device"); });
    expect_end(2, "01-cpu/cpu: out of memory", [] { throw std::bad_alloc(); });
    expect_end(2, "01-cpu/cpu: CL_INVALID_VALUE\n",
               [] { throw std::runtime_error("CL_INVALID_VALUE"); });
    expect_end(2, "01-cpu/cpu: failed for a reason that was not given\n", [] { throw 42; });
}

// ---- what a terminal would obey ----------------------------------------------------------------

TEST(Shown, WhatControlsATerminalIsWrittenOut) {
    using namespace std::string_literals;
    const std::pair<std::string, std::string> all[] = {
        {"", ""},
        {"plain 'text', 100 %\\n", "plain 'text', 100 %\\n"},
        {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"a\nb\tc\rd", "a\\nb\\tc\\x0dd"},
        {"\0\x1b[2J\x7f"s, "\\x00\\x1b[2J\\x7f"},
    };
    for (const auto& [text, as_shown] : all) {
        EXPECT_EQ(common::shown(text), as_shown);
        EXPECT_EQ(common::shown(as_shown), as_shown);
        EXPECT_EQ(common::BadInput(text).what(), as_shown);
        EXPECT_EQ(common::NothingToRunOn(text).what(), as_shown);
    }
}

}  // namespace
