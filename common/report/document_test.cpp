#include "common/report/report.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "common/report/json.hpp"

namespace {

using common::Check;
using common::Json;
using common::RunDocument;

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
    document.results[1].launch = common::Launch{3, 64};
    document.results[1].counts = common::Histogram{7, 0, 0xFFFF'FFFF};
    document.results[1].only_later = true;
    document.results[1].timed_by_host = true;
    return document;
}

TEST(Document, HasEveryFieldOfTheDescription) {
    Json json = common::parsed(common::to_json_text(sample()));
    Json results = json.at("results");
    Json counts = json.at("counts");
    json.erase("results");
    json.erase("counts");
    EXPECT_EQ(json, common::parsed(R"({
        "chapter": "03-local-atomics", "api": "OpenCL",
        "device": "NVIDIA \"H200\"\\µ", "driver": "driver 1",
        "input": {"name": "uniform, seed 18446744073709551615",
                  "pixels": 4294967295, "seed": 18446744073709551615},
        "read_ceiling_gb_s": 4000.5, "serial_ms": 2000})"));
    ASSERT_EQ(counts.size(), 256U);
    EXPECT_EQ(counts[0], 1000);
    EXPECT_EQ(counts[255], 1255);

    ASSERT_EQ(results.size(), 3U);
    EXPECT_DOUBLE_EQ(results[0].at("gb_s").get<double>(), 2147.4836475);
    EXPECT_DOUBLE_EQ(results[0].at("percent_of_ceiling").get<double>(),
                     100 * 2147.4836475 / 4000.5);
    results[0].erase("gb_s");
    results[0].erase("percent_of_ceiling");
    EXPECT_EQ(results[0], common::parsed(R"({
        "variant": "local", "check": "match", "reason": "",
        "kernel_ms": {"median": 2, "min": 1.5, "max": 3.25, "runs": 9}, "clock": "device",
        "speedup_over_serial": 1000, "end_to_end_ms": 812.5, "launch": "2 groups of 256",
        "groups": 2, "group_size": 256, "only_later": false,
        "diagnosis": null, "counts": null})"));
    const Json wrong_counts = results[1].at("counts");
    ASSERT_EQ(wrong_counts.size(), 256U);
    EXPECT_EQ(wrong_counts[0], 7);
    EXPECT_EQ(wrong_counts[2], 4'294'967'295);
    results[1].erase("counts");
    // A wrong result has a time and no speed; what was skipped, nothing.
    EXPECT_EQ(results[1], common::parsed(R"({
        "variant": "local-subhist", "check": "mismatch", "reason": "2 of 256 bins wrong",
        "kernel_ms": {"median": 4, "min": 4, "max": 4, "runs": 1}, "clock": "host",
        "gb_s": null, "percent_of_ceiling": null, "speedup_over_serial": null,
        "end_to_end_ms": null, "launch": "", "groups": 3, "group_size": 64,
        "only_later": true, "diagnosis": null})"));
    EXPECT_EQ(results[2], common::parsed(R"({
        "variant": "vector", "check": "skipped", "reason": "no local memory",
        "kernel_ms": null, "clock": null, "gb_s": null, "percent_of_ceiling": null,
        "speedup_over_serial": null, "end_to_end_ms": null, "launch": "", "groups": null,
        "group_size": null, "only_later": false, "diagnosis": null,
        "counts": null})"));
}

TEST(Document, APixelMayHaveTwoBytes) {
    RunDocument document = sample();
    document.pixel_bytes = 2;
    const std::string text = common::to_json_text(document);
    EXPECT_EQ(common::parsed(text).at("input").at("pixel_bytes"), 2);
    document.seed = 0;  // which is one
    EXPECT_EQ(common::parsed(common::to_json_text(document)).at("input").at("seed"), 0);
    EXPECT_DOUBLE_EQ(*document.gb_s(document.results[0]), 2 * 2147.4836475);
}

TEST(Document, ATimeOfNothingGivesNoInfinity) {
    RunDocument document = sample();
    document.results = {{"local", Check::kMatch, "", {0, 0, 0, 1}, std::nullopt}};
    const Json row = common::parsed(common::to_json_text(document)).at("results")[0];
    EXPECT_EQ(row.at("gb_s"), 0);
    EXPECT_TRUE(row.at("speedup_over_serial").is_null());
}

TEST(Document, ADeviceMayCallItselfAnything) {
    RunDocument document = sample();
    document.device = "caf\xE9 \x01\n\xFF";
    std::string text;
    ASSERT_NO_THROW(text = common::to_json_text(document));
    const std::string device = common::parsed(text).at("device");
    EXPECT_TRUE(device.starts_with("caf")) << device;
}

}  // namespace
