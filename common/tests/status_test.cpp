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

}  // namespace
