#include "common/report/report.hpp"

#include <gtest/gtest.h>

#include "common/report/json.hpp"
#include "common/tests/support.hpp"

namespace {

using common::Check;
using common::Result;

// A report on ten thousand pixels of one value, and what it says at its end.
class ReportTest : public testing::Test {
 protected:
    ReportTest() {
        input_.name = "constant 7";
        input_.width = input_.height = 100;
        input_.pixels = common::constant_pixels(10'000, 7);
        expected_ = common::reference_histogram(input_.pixels);
        options_.repeat = 3;
        options_.diagnosis = false;
    }

    int finish(const std::vector<Result>& results,
               std::optional<double> read_ceiling = std::nullopt) {
        testing::internal::CaptureStderr();
        testing::internal::CaptureStdout();
        common::Report report(program_, options_, input_, expected_, "a device", "a driver");
        if (read_ceiling) report.set_read_ceiling(*read_ceiling);
        for (const Result& result : results)
            report.add(result);
        report.document().serial_ms = report.document().serial_row_ms().value_or(0);
        const int status = report.finish();
        std::fflush(stdout);
        out_ = testing::internal::GetCapturedStdout();
        err_ = testing::internal::GetCapturedStderr();
        return status;
    }

    static Result row(const std::string& variant, Check check, const std::string& reason = "") {
        return {variant, check, reason, {2, 1, 4, 3}, std::nullopt};
    }

    common::Json written() const { return common::parsed(tests::bytes_of(*options_.json)); }

    tests::TemporaryFolder folder_;
    common::Program program_{"03-local-atomics", "opencl", "OpenCL", "", {}};
    common::Options options_;
    common::Input input_;
    common::Histogram expected_{};
    std::string out_;
    std::string err_;
};

// Names are whatever somebody called a file or a device: the terminal is not to obey them, and the
// JSON has them as they are.
TEST_F(ReportTest, ShowsNamesThatWouldControlTheTerminal) {
    const std::string name = "a\nb\x1b[2J.bmp, 1 x 1";
    const std::string as_shown = "a\\nb\\x1b[2J.bmp, 1 x 1";
    input_.name = name;
    options_.json = folder_ / "out\n.json";
    options_.plot = folder_ / "out\x1b.png";
    finish({row("local", Check::kSkipped, name)});
    EXPECT_TRUE(tests::has(out_, "\ninput: " + as_shown + " (10000 pixels)\n"));
    EXPECT_TRUE(tests::has(out_, "skipped: " + as_shown + "\n"));
    EXPECT_TRUE(tests::has(out_, "/out\\x1b.png (highest bar: 10000 of value 7)\n"));
    EXPECT_EQ(written()["input"]["name"], name);
    EXPECT_EQ(written()["results"][0]["reason"], name);
}

TEST_F(ReportTest, SaysWhatWasAskedForOfTheLaunch) {
    options_.json = folder_ / "out.json";
    options_.groups = 2;
    Result chosen = row("tuned", Check::kMatch);
    chosen.launch_text = "1 group of 8";
    finish({row("local", Check::kMatch), chosen});
    EXPECT_TRUE(tests::has(out_, "(10000 pixels)\nlaunch: as asked for with --groups 2\n"));
    EXPECT_EQ(written()["results"][0]["launch"], "--groups 2");
    EXPECT_EQ(written()["results"][1]["launch"], "1 group of 8");
    options_.groups.reset();
    finish({row("local", Check::kMatch)});
    EXPECT_FALSE(tests::has(out_, "launch:"));
    EXPECT_EQ(written()["results"][0]["launch"], "");
}

// Without a launch there is no device whose clock could be wrong.
TEST_F(ReportTest, OnlyOfALaunchTheHostsClockIsNews) {
    Result timed = row("local", Check::kMatch);
    timed.timed_by_host = true;
    finish({timed});
    EXPECT_FALSE(tests::has(out_, "by the host's clock"));
    timed.launch = common::Launch{2, 256};
    finish({timed});
    EXPECT_TRUE(tests::has(out_, "times: by the host's clock"));
}

TEST_F(ReportTest, OneMismatchAnywhereIsFailure) {
    const Result match = row("local", Check::kMatch);
    const Result mismatch = row("wrong", Check::kMismatch, "2 of 256 bins wrong");
    const Result skipped{"vector", Check::kSkipped, "no local memory", {}, std::nullopt};
    EXPECT_EQ(finish({match, match}), 0);
    EXPECT_EQ(finish({match, skipped}), 0);
    EXPECT_EQ(finish({skipped}), 77);
    EXPECT_TRUE(tests::has(out_, "skipped: no local memory\n"));
    EXPECT_EQ(finish({mismatch, match, match}), 1);
    EXPECT_EQ(finish({match, mismatch, match}), 1);
    EXPECT_EQ(finish({match, match, mismatch}), 1);
    EXPECT_TRUE(tests::has(out_, "mismatch: 2 of 256 bins wrong\n"));
}

TEST_F(ReportTest, TheSerialLoopOfTheSameRunIsOne) {
    const Result serial{"serial", Check::kMatch, "", {10, 10, 10, 3}, std::nullopt};
    finish({serial, row("local", Check::kMatch), row("wrong", Check::kMismatch, "2 bins wrong")},
           0.01);
    EXPECT_TRUE(tests::has(out_, "read ceiling: 0.0100 GB/s"));
    EXPECT_TRUE(tests::has(out_,
                           "serial        10.0   10.0..10.0 (3)  0.00100          10.0      1.00"
                           "              -  match\n"));
    EXPECT_TRUE(tests::has(out_,
                           "local         2.00   1.00..4.00 (3)  0.00500          50.0      5.00"
                           "              -  match\n"));
    // A wrong result has a time and no speed.
    EXPECT_TRUE(tests::has(out_,
                           "wrong         2.00   1.00..4.00 (3)        -             -         -"
                           "              -  mismatch: 2 bins wrong\n"));
}

TEST_F(ReportTest, NothingIsHeldAgainstASerialLoopThatIsWrong) {
    options_.json = folder_ / "out.json";
    finish({{"serial", Check::kMismatch, "", {1e9, 1e9, 1e9, 3}, std::nullopt},
            row("local", Check::kMatch)});
    EXPECT_TRUE(written()["serial_ms"].is_null());
}

TEST_F(ReportTest, SaysWhatARaceLostOnPurpose) {
    testing::internal::CaptureStderr();
    common::Report report(program_, options_, input_, expected_, "a device", "a driver");
    report.add(row("racy", Check::kMatch));
    common::Histogram last = expected_;
    report.say_what_was_lost(last);
    last[7] -= 2500;
    report.say_what_was_lost(last);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(tests::has(said, "racy lost nothing this time."));
    EXPECT_TRUE(tests::has(said, "racy lost 2500 of 10000 counts (25 %)."));
}

TEST(Table, ColumnsAreAsWideAsTheyNeed) {
    EXPECT_EQ(common::text_table(
                  {{"variant"}, {"ms", true}, {"check"}},
                  {{"serial", "1.25", "match"}, {"threads-atomic", "11.25", "mismatch: x"}}),
              "variant            ms  check\n"
              "--------------  -----  -----------\n"
              "serial           1.25  match\n"
              "threads-atomic  11.25  mismatch: x\n");
}

TEST(Number, HasThreeSignificantDigitsOrIsADash) {
    const std::pair<std::optional<double>, const char*> all[] = {
        {3251.4, "3251"},   {325.14, "325"},      {32.514, "32.5"},    {3.2514, "3.25"},
        {0.32514, "0.325"}, {0.032514, "0.0325"}, {std::nullopt, "-"}, {-100, "-100"},
        {100, "100"},       {10, "10.0"},         {1, "1.00"},         {0.1, "0.100"},
        {0.01, "0.0100"},   {0, "0.000"},         {99.97, "100"},      {99.9999, "100"},
        {9.996, "10.0"},    {0.9996, "1.00"}};
    for (const auto& [value, text] : all)
        EXPECT_EQ(common::number(value), text);
}

}  // namespace
