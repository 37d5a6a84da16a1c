#include "common/explanation/explanation.hpp"

#include <gtest/gtest.h>

#include "common/files/files.hpp"
#include "common/report/json.hpp"
#include "common/tests/support.hpp"

namespace {

using common::Check;
using common::Result;

// A run with two wrong results between right ones, and explainers that are scripts.
class Explain : public testing::Test {
 protected:
    Explain() {
        input_.width = 100;
        input_.pixels = common::constant_pixels(1000, '7');
        document_.chapter = "03-local-atomics";
        document_.api = "OpenCL";
        document_.device = "a device";
        document_.pixels = input_.pixels.size();
        document_.counts = common::reference_histogram(input_.pixels);
        document_.results = {row("right", Check::kMatch), row("first", Check::kMismatch),
                             row("skipped", Check::kSkipped), row("second", Check::kMismatch),
                             row("racy", Check::kMismatch)};
        document_.results[3].changes = document_.results[4].broken_on_purpose = true;
    }

    static Result row(const std::string& variant, Check check) {
        Result result{variant, check, "", {}, std::nullopt};
        result.launch = {2, 64};
        if (check == Check::kMismatch) result.counts.emplace();
        return result;
    }

    // What is said when an explainer does this, as a shell script.
    std::string said_by(const std::string& script, std::chrono::milliseconds at_most = kLong) {
        tests::write_bytes(explainer_, "#!/bin/sh\n" + script + "\n");
        std::filesystem::permissions(explainer_, std::filesystem::perms::owner_all);
        return said(at_most);
    }

    std::string said(std::chrono::milliseconds at_most = kLong) {
        return tests::said(
            [&] { common::explain_wrong(document_, options_, input_, explainer_, at_most); });
    }

    // One that cannot explain them leaves the report as it was, and takes one line to say so.
    void expect_no_more_than_a_line(const std::string& script,
                                    std::chrono::milliseconds at_most = kLong) {
        const std::string before = common::to_json_text(document_);
        const std::string text = said_by(script, at_most);
        EXPECT_TRUE(tests::has(text, "first, second: looking into it")) << script;
        EXPECT_TRUE(tests::has(text, "\nno diagnosis by ")) << script;
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << script << text;
        EXPECT_EQ(common::to_json_text(document_), before) << script;
    }

    // A script reads the line and the pixels; its standard input does not end.
    const std::string kReads = "IFS= read -r line; head -c 1000 > /dev/null; ";
    static constexpr std::chrono::milliseconds kLong = std::chrono::seconds(20);
    tests::TemporaryFolder folder_;
    std::filesystem::path explainer_ = folder_ / "explainer";
    common::Options options_;
    common::Input input_;
    common::RunDocument document_;
};

TEST_F(Explain, TellsWhatWasCountedAndTakesTheAnswer) {
    options_.device = "a device";
    options_.kernels = "my own.cl";
    options_.program_options = {"--copies", "4"};
    const std::string text = said_by(R"(printf '%s\n' "$@" > "$0.words"; IFS= read -r line
printf '%s\n' "$line" > "$0.asked"; head -c 1000 >> "$0.asked"
printf '%s\n' '[null, {"variant": "second", "text": "  why: I know\n", "findings": [{"name": "it"}]}]')");
    EXPECT_EQ(text,
              "first, second: looking into it, with runs that tell mistakes apart\n"
              "  why: I know\n");
    EXPECT_FALSE(document_.results[1].diagnosis);
    EXPECT_EQ(document_.results[3].diagnosis, R"([{"name":"it"}])");

    EXPECT_EQ(tests::bytes_of(folder_ / "explainer.words"), common::program_path().string() + '\n');
    const std::string asked = tests::bytes_of(folder_ / "explainer.asked");
    const std::size_t end = asked.find('\n');
    EXPECT_EQ(asked.substr(end + 1), std::string(1000, '7'));
    const auto json = common::parsed(asked.substr(0, end));
    EXPECT_EQ(json.at("width"), 100);
    EXPECT_EQ(json.at("words"), common::Json::array({"--device", "a device", "--kernels",
                                                     "my own.cl", "--copies", "4"}));
    EXPECT_EQ(json.at("changes"), common::Json::array({false, true}));
    ASSERT_EQ(json.at("run").at("results").size(), 2);
    EXPECT_EQ(json.at("run").at("results").at(0).at("variant"), "first");
}

TEST_F(Explain, OneThatIsNotThereIsNotMissed) {
    EXPECT_EQ(said(), "");
}

TEST_F(Explain, OneThatEndsIsSaid) {
    expect_no_more_than_a_line("exit 0");
    expect_no_more_than_a_line("exit 3");
    expect_no_more_than_a_line(kReads + "echo one line >&2; exit 2");
    expect_no_more_than_a_line(kReads + "kill -SEGV $$");
    expect_no_more_than_a_line(kReads + "printf '[null, null]'");  // half a line
}

TEST_F(Explain, OneThatTalksNonsenseIsSaid) {
    for (const char* answer : {"rubbish", "{}", "[null]", R"([null, {"text": "no findings"}])",
                               R"([{"text": "the first alone", "findings": []}, 3])"})
        expect_no_more_than_a_line(kReads + "echo '" + answer + "'");
}

TEST_F(Explain, OneThatHangsIsEnded) {
    constexpr std::chrono::milliseconds at_most{100};
    const auto begin = std::chrono::steady_clock::now();
    expect_no_more_than_a_line(kReads + "exec sleep 60", at_most);
    // It does not even read the pixels, which are more than a pipe holds.
    input_.pixels = common::constant_pixels(10'000'000, 7);
    expect_no_more_than_a_line("exec sleep 60", at_most);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(Explain, IsNotAskedWhereItHasNothingToSay) {
    const std::string touch = "touch \"$0.started\"";
    options_.diagnosis = false;
    EXPECT_EQ(said_by(touch), "");
    options_.diagnosis = true;
    document_.api = "C++";
    EXPECT_EQ(said_by(touch), "");
    document_.api = "OpenCL";
    document_.device = "Oclgrind Simulator";
    EXPECT_EQ(said_by(touch), "");
    document_.device = "a device";
    for (Result& result : document_.results)
        result.check = Check::kMatch;
    EXPECT_EQ(said_by(touch), "");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "explainer.started"));
}

}  // namespace
