#include "common/status/status.hpp"

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

TEST(Status, TheNumbersAreThoseThatScriptsAndCtestRelyOn) {
    EXPECT_EQ(common::kEveryVariantMatches, 0);
    EXPECT_EQ(common::kMismatch, 1);
    EXPECT_EQ(common::kBadInput, 2);
    EXPECT_EQ(common::kNothingToRunOn, 77);
}

TEST(Status, FinishedIsSuccessAndSaysNothing) {
    const Ending ending = end_by([] { throw common::Finished(); });
    EXPECT_EQ(ending.status, 0);
    EXPECT_EQ(ending.text, "");
}

TEST(Status, BadInputIsTwo) {
    const Ending ending = end_by([] { throw common::BadInput("x.bmp: an empty file"); });
    EXPECT_EQ(ending.status, 2);
    EXPECT_EQ(ending.text, "01-cpu/cpu: x.bmp: an empty file\n");
}

TEST(Status, NothingToRunOnIsSeventySeven) {
    const Ending ending = end_by([] { throw common::NothingToRunOn("no device"); });
    EXPECT_EQ(ending.status, 77);
    EXPECT_EQ(ending.text, "01-cpu/cpu: no device\n");
}

TEST(Status, OutOfMemoryIsBadInputInPlainWords) {
    const Ending ending = end_by([] { throw std::bad_alloc(); });
    EXPECT_EQ(ending.status, 2);
    EXPECT_NE(ending.text.find("01-cpu/cpu: out of memory"), std::string::npos);
}

TEST(Status, AnyOtherExceptionIsAFailedRun) {
    const Ending ending = end_by([] { throw std::runtime_error("CL_INVALID_VALUE"); });
    EXPECT_EQ(ending.status, 1);
    EXPECT_EQ(ending.text, "01-cpu/cpu: CL_INVALID_VALUE\n");
}

TEST(Status, EvenWhatIsNoExceptionIsReported) {
    const Ending ending = end_by([] { throw 42; });
    EXPECT_EQ(ending.status, 1);
    EXPECT_EQ(ending.text, "01-cpu/cpu: failed for a reason that was not given\n");
}

// ---- what a terminal would obey
// -------------------------------------------------------------------

TEST(Shown, WhatCanBeReadStaysAsItIs) {
    for (const std::string text :
         {"", "plain 'text', 100 %", "a\\nb", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC2\xA0"})
        EXPECT_EQ(common::shown(text), text);
}

TEST(Shown, WhatControlsATerminalIsWrittenOut) {
    using namespace std::string_literals;
    EXPECT_EQ(common::shown("a\nb\tc\rd"), "a\\nb\\tc\\x0dd");
    EXPECT_EQ(common::shown("\0\x1b[2J\x7f"s), "\\x00\\x1b[2J\\x7f");
    EXPECT_EQ(common::shown("\xC2\x9B"), "\\xc2\\x9b");  // U+009B, ESC and [ in one
}

// What is cut short, too long for what it says, half a pair, or beyond the last character.
TEST(Shown, WhatIsNotUtf8IsWrittenOut) {
    EXPECT_EQ(common::shown("\x80"), "\\x80");
    EXPECT_EQ(common::shown("\xC3"), "\\xc3");
    EXPECT_EQ(common::shown("\xC3(\xE2\x82"), "\\xc3(\\xe2\\x82");
    EXPECT_EQ(common::shown("\xC0\xAF"), "\\xc0\\xaf");
    EXPECT_EQ(common::shown("\xE0\x80\x80"), "\\xe0\\x80\\x80");
    EXPECT_EQ(common::shown("\xED\xA0\x80"), "\\xed\\xa0\\x80");
    EXPECT_EQ(common::shown("\xF0\x80\x80\x80"), "\\xf0\\x80\\x80\\x80");
    EXPECT_EQ(common::shown("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
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
