#include "common/process/status.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <new>

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

TEST(Shown, WhatCanBeReadStaysAsItIs) {
    for (const std::string text :
         {"", "plain 'text', 100 %", "a\\nb", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC2\xA0"})
        EXPECT_EQ(common::shown(text), text);
}

TEST(Shown, WhatControlsATerminalOrIsNotUtf8IsWrittenOut) {
    using namespace std::string_literals;
    const std::pair<std::string, const char*> all[] = {
        {"a\nb\tc\rd", "a\\nb\\tc\\x0dd"},
        {"\0\x1b[2J\x7f"s, "\\x00\\x1b[2J\\x7f"},
        {"\xC2\x9B", "\\xc2\\x9b"},  // U+009B, ESC and [ in one
        // Cut short, too long for what it says, half a pair, or beyond the last character.
        {"\x80", "\\x80"},
        {"\xC3", "\\xc3"},
        {"\xC3(\xE2\x82", "\\xc3(\\xe2\\x82"},
        {"\xC0\xAF", "\\xc0\\xaf"},
        {"\xE0\x80\x80", "\\xe0\\x80\\x80"},
        {"\xED\xA0\x80", "\\xed\\xa0\\x80"},
        {"\xF0\x80\x80\x80", "\\xf0\\x80\\x80\\x80"},
        {"\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
    };
    for (const auto& [text, as_shown] : all)
        EXPECT_EQ(common::shown(text), as_shown);
}

TEST(ShellWord, IsWhatAShellTakesForIt) {
    EXPECT_EQ(common::shell_word("../images/a-b_1.bmp"), "../images/a-b_1.bmp");
    EXPECT_EQ(common::shell_word(""), "''");
    EXPECT_EQ(common::shell_word("two words"), "'two words'");
    EXPECT_EQ(common::shell_word("it's $HOME"), "'it'\\''s $HOME'");
    EXPECT_EQ(common::shell_word("{a,b}"), "'{a,b}'");
}

TEST(Shown, ASecondTimeChangesNothing) {
    std::string all;
    for (int i = 0; i < 256; ++i)
        all += static_cast<char>(i);
    EXPECT_EQ(common::shown(common::shown(all)), common::shown(all));
    EXPECT_EQ(common::BadInput(all).what(), common::shown(all));
    EXPECT_EQ(common::NothingToRunOn(all).what(), common::shown(all));
}

}  // namespace
