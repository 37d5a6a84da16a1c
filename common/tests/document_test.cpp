#include "common/report/document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/tests/support.hpp"

namespace {

using common::Check;
using common::RunDocument;
using Json = nlohmann::ordered_json;

RunDocument sample() {
    RunDocument document;
    document.chapter = "03-local-atomics";
    document.api = "OpenCL";
    document.device = "NVIDIA \"H200\"\\µ";
    document.driver = "driver 1";
    document.input_name = "uniform, seed 18446744073709551615";
    document.pixels = 4'294'967'295;
    document.seed = std::numeric_limits<std::uint64_t>::max();
    document.read_ceiling_gb_s = 4000.5;
    document.serial_ms = 2000;
    document.results = {
        {"local", Check::kMatch, "", {2, 1.5, 3.25, 9}, 812.5, "2 groups of 256"},
        {"local-subhist", Check::kMismatch, "2 of 256 bins wrong", {4, 4, 4, 1}, std::nullopt},
        {"vector", Check::kSkipped, "no local memory", {}, std::nullopt}};
    for (std::uint32_t bin = 0; bin < common::kBins; ++bin)
        document.counts[bin] = 1000 + bin;
    document.results[0].launch = common::Launch{2, 256};
    document.results[1].counts = common::Histogram{7, 0, 0xFFFF'FFFF};
    document.results[1].only_later = true;
    document.results[1].timed_by_host = true;
    return document;
}

class Document : public testing::Test {
 protected:
    // What reading it complains about, without the file's name, which must lead it.
    std::string complaint(const std::string& text) const {
        tests::write_bytes(path_, text);
        const std::string message = tests::bad_input([&] { common::read_document(path_); });
        EXPECT_TRUE(message.starts_with(path_.string() + ": ")) << message;
        return message.substr(std::min(message.size(), path_.string().size()));
    }

    tests::TemporaryFolder folder_;
    std::filesystem::path path_ = folder_ / "run.json";
};

TEST_F(Document, HasEveryFieldOfTheDescription) {
    const Json json = Json::parse(common::to_json_text(sample()));
    EXPECT_EQ(json.at("chapter"), "03-local-atomics");
    EXPECT_EQ(json.at("api"), "OpenCL");
    EXPECT_EQ(json.at("device"), "NVIDIA \"H200\"\\µ");
    EXPECT_EQ(json.at("driver"), "driver 1");
    EXPECT_EQ(json.at("input").at("name"), "uniform, seed 18446744073709551615");
    EXPECT_EQ(json.at("input").at("pixels"), 4'294'967'295);
    EXPECT_EQ(json.at("input").at("seed"), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(json.at("read_ceiling_gb_s"), 4000.5);
    EXPECT_EQ(json.at("serial_ms"), 2000);
    ASSERT_EQ(json.at("results").size(), 3U);

    const Json& local = json.at("results")[0];
    EXPECT_EQ(local.at("variant"), "local");
    EXPECT_EQ(local.at("check"), "match");
    EXPECT_EQ(local.at("reason"), "");
    EXPECT_EQ(local.at("kernel_ms").at("median"), 2);
    EXPECT_EQ(local.at("kernel_ms").at("min"), 1.5);
    EXPECT_EQ(local.at("kernel_ms").at("max"), 3.25);
    EXPECT_EQ(local.at("kernel_ms").at("runs"), 9);
    EXPECT_EQ(local.at("clock"), "device");
    EXPECT_DOUBLE_EQ(local.at("gb_s").get<double>(), 2147.4836475);
    EXPECT_DOUBLE_EQ(local.at("percent_of_ceiling").get<double>(), 100 * 2147.4836475 / 4000.5);
    EXPECT_EQ(local.at("speedup_over_serial"), 1000);
    EXPECT_EQ(local.at("end_to_end_ms"), 812.5);
    EXPECT_EQ(local.at("launch"), "2 groups of 256");
    EXPECT_EQ(local.at("groups"), 2);
    EXPECT_EQ(local.at("group_size"), 256);
    EXPECT_TRUE(local.at("counts").is_null());

    const Json& wrong = json.at("results")[1];
    EXPECT_EQ(wrong.at("check"), "mismatch");
    EXPECT_EQ(wrong.at("reason"), "2 of 256 bins wrong");
    EXPECT_EQ(wrong.at("clock"), "host");
    EXPECT_TRUE(wrong.at("end_to_end_ms").is_null());
    EXPECT_EQ(wrong.at("launch"), "");
    EXPECT_TRUE(wrong.at("groups").is_null());
    EXPECT_TRUE(wrong.at("group_size").is_null());
    EXPECT_EQ(wrong.at("only_later"), true);
    ASSERT_EQ(wrong.at("counts").size(), 256U);
    EXPECT_EQ(wrong.at("counts")[0], 7);
    EXPECT_EQ(wrong.at("counts")[2], 4'294'967'295);

    ASSERT_EQ(json.at("counts").size(), 256U);
    EXPECT_EQ(json.at("counts")[0], 1000);
    EXPECT_EQ(json.at("counts")[255], 1255);
}

TEST(Counts, AreALineForEachBin) {
    common::Histogram counts{};
    counts[0] = 7;
    counts[254] = 4'294'967'295;
    const std::string text = common::counts_text(counts);
    EXPECT_TRUE(text.starts_with("bin,count\n0,7\n1,0\n2,0\n")) << text;
    EXPECT_TRUE(text.ends_with("\n253,0\n254,4294967295\n255,0\n")) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 257);
}

TEST_F(Document, WhatThereIsNotIsNull) {
    RunDocument document = sample();
    const Json whole = Json::parse(common::to_json_text(document));
    // A wrong result has a time and no speed.
    EXPECT_EQ(whole.at("results")[1].at("kernel_ms").at("median"), 4);
    for (const char* field : {"gb_s", "percent_of_ceiling", "speedup_over_serial"})
        EXPECT_TRUE(whole.at("results")[1].at(field).is_null()) << field;
    const Json& skipped = whole.at("results")[2];
    EXPECT_EQ(skipped.at("check"), "skipped");
    EXPECT_EQ(skipped.at("reason"), "no local memory");
    for (const char* field : {"kernel_ms", "clock", "gb_s", "percent_of_ceiling",
                              "speedup_over_serial", "end_to_end_ms"})
        EXPECT_TRUE(skipped.at(field).is_null()) << field;
    document.read_ceiling_gb_s.reset();
    document.seed.reset();
    const Json json = Json::parse(common::to_json_text(document));
    EXPECT_TRUE(json.at("read_ceiling_gb_s").is_null());
    EXPECT_TRUE(json.at("input").at("seed").is_null());
    EXPECT_TRUE(json.at("results")[0].at("percent_of_ceiling").is_null());
    EXPECT_FALSE(json.at("results")[0].at("gb_s").is_null());
}

TEST_F(Document, ATimeOfNothingGivesNoInfinity) {
    RunDocument document = sample();
    document.results = {{"local", Check::kMatch, "", {0, 0, 0, 1}, std::nullopt}};
    const Json row = Json::parse(common::to_json_text(document)).at("results")[0];
    EXPECT_EQ(row.at("gb_s"), 0);
    EXPECT_TRUE(row.at("speedup_over_serial").is_null());
}

// The text has every field, which the first test holds against its value.
TEST_F(Document, IsReadAsItWasWritten) {
    const std::string written = common::to_json_text(sample());
    tests::write_bytes(path_, written);
    const RunDocument read = common::read_document(path_);
    EXPECT_EQ(common::to_json_text(read), written);
    EXPECT_EQ(read.seed, sample().seed);
    EXPECT_EQ(read.results.at(1).counts, sample().results[1].counts);
}

TEST_F(Document, ADeviceMayCallItselfAnything) {
    RunDocument document = sample();
    document.device = "caf\xE9 \x01\n\xFF";
    std::string text;
    ASSERT_NO_THROW(text = common::to_json_text(document));
    const std::string device = Json::parse(text).at("device");
    EXPECT_TRUE(device.starts_with("caf")) << device;
}

TEST_F(Document, WhatIsNoRunsResultsIsRefused) {
    const std::filesystem::path missing = folder_ / "nosuch.json";
    EXPECT_EQ(tests::bad_input([&] { common::read_document(missing); }),
              missing.string() + ": No such file or directory");
    tests::bad_input([&] { common::read_document(folder_.path()); });
    for (const char* text : {"", "hello\nthere", "{", "{\"chapter\": }", "[]", "null", "42"}) {
        SCOPED_TRACE(text);
        EXPECT_TRUE(tests::has(complaint(text), ": not a run's results: "));
    }
    const std::string whole = common::to_json_text(sample());
    for (std::size_t size = 0; size < whole.size() - 2; size += 7)
        complaint(whole.substr(0, size));
}

TEST_F(Document, EveryFieldThatIsMissingOrOfTheWrongTypeIsNamed) {
    const Json whole = Json::parse(common::to_json_text(sample()));
    const std::pair<const char*, std::vector<const char*>> all[] = {
        {"",
         {"chapter", "api", "device", "driver", "input", "read_ceiling_gb_s", "serial_ms",
          "results"}},
        {"/input", {"name", "pixels", "seed"}},
        {"/results/1",
         {"variant", "check", "reason", "kernel_ms", "end_to_end_ms", "launch", "groups",
          "counts"}},
        {"/results/1/kernel_ms", {"median", "min", "max", "runs"}},
    };
    for (const auto& [place, fields] : all) {
        for (const char* field : fields) {
            Json json = whole;
            json.at(Json::json_pointer(place)).erase(field);
            EXPECT_TRUE(tests::has(complaint(json.dump()), field));
        }
    }
    Json json = whole;
    json["chapter"] = 3;
    complaint(json.dump());
    json = whole;
    json["input"]["pixels"] = "many";
    complaint(json.dump());
    json = whole;
    json["results"][0]["check"] = "probably";
    EXPECT_TRUE(tests::has(complaint(json.dump()), "'probably' is no check"));
}

}  // namespace
