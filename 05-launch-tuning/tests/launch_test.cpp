// Where a picture lies in its buffer, how a launch is laid over it, and how `tuned` is launched.
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "05-launch-tuning/launch.hpp"
#include "05-launch-tuning/layout.hpp"
#include "common/histogram/histogram.hpp"
#include "common/tests/support.hpp"

namespace {

using tests::has;
using tests::said;
using Words = std::vector<const char*>;

constexpr std::uint64_t kMi = std::uint64_t{1} << 20;
constexpr std::uint64_t kGi = 1024 * kMi;

common::Input input_of(std::size_t count, std::size_t width) {
    common::Input input;
    input.width = width;
    input.pixels.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        input.pixels[i] = static_cast<std::uint8_t>(i % 251);
    return input;
}

// ---- layout -------------------------------------------------------------------------------------

TEST(Rows, KnowTheirNumberAndBytes) {
    const auto bytes = [](const Rows& rows) { return rows.bytes(); };
    EXPECT_EQ(bytes({0, 0, 0, 0}), 1U);     // a buffer of nothing is an error
    EXPECT_EQ(bytes({0, 4, 4, 9}), 4U);     // one row has no gap
    EXPECT_EQ(bytes({5, 12, 4, 10}), 29U);  // nor is there one behind the last row
    EXPECT_EQ(bytes({5, 13, 4, 10}), 36U);
    EXPECT_EQ(bytes({0, 3 * kGi, 1 << 16, 1 << 17}), 6 * kGi - (1 << 16));
    EXPECT_FALSE((Rows{0, 4, 4, 9}.have_gaps()));
    EXPECT_TRUE((Rows{5, 12, 4, 10}.have_gaps()));
    EXPECT_EQ((Rows{5, 13, 4, 4}.as_one().width), 13U);
}

TEST(LayOver, WalksAcrossARowAndBelowIt) {
    // One row is walked by all groups side by side.
    EXPECT_EQ(lay_over({0, 1000, 1000, 1000}, 256, 20, 16), (Grid{256, 1, 20, 1}));
    // 512 pixels, 16 at a time: 32 steps, fewer than the group is wide.
    EXPECT_EQ(lay_over({0, 512 * 512, 512, 600}, 256, 20, 16), (Grid{32, 8, 1, 20}));
    // 4096 steps of one pixel: 16 groups of 256 beside each other, and room for two such rows.
    EXPECT_EQ(lay_over({0, 4096 * 100, 4096, 5000}, 256, 40, 1), (Grid{256, 1, 16, 2}));
    EXPECT_EQ(below_each_other(64, 100'000), (Grid{64, 1, 1, 65535}));
}

TEST(LayOver, NeverHasMoreGroupsThanItMayOrOtherGroupSizes) {
    for (const std::size_t group_size : {1U, 3U, 31U, 32U, 33U, 96U, 1000U, 1024U}) {
        for (const std::size_t groups : {1U, 7U, 264U, 100000U}) {
            for (const std::uint64_t width : {1U, 31U, 512U, 4099U, 1U << 20}) {
                const Grid grid =
                    lay_over({0, width * 3 + 1, width, width + 1}, group_size, groups, 16);
                EXPECT_EQ(grid.items_x * grid.items_y, group_size);
                EXPECT_GE(grid.groups_x * grid.groups_y, 1U);
                EXPECT_LE(grid.groups_x * grid.groups_y, groups);
                EXPECT_LE(grid.groups_y, 65535U);
            }
        }
    }
}

TEST(WithGaps, PutsRowsWhereTheyBelongAndAPatternBetween) {
    const common::PixelBuffer bytes = with_gaps(input_of(10, 4), {3, 10, 4, 6});
    const std::uint8_t gap = common::kPoisonByte;
    EXPECT_EQ(bytes, (common::PixelBuffer{gap, gap, gap, 0, 1, 2, 3, gap, gap, 4, 5, 6, 7, gap, gap,
                                          8, 9}));
}

// ---- what is launched ---------------------------------------------------------------------------

DeviceLimits gpu(std::uint64_t local_bytes = 48 << 10, std::size_t max_group_size = 1024) {
    return {"CUDA", "Test GPU 9000", "driver 1", false, 10, max_group_size, local_bytes};
}

DeviceLimits cpu(std::uint64_t local_bytes = 48 << 10) {
    return {"OpenCL", "CPU", "driver", true, 10, 1024, local_bytes};
}

// "copies loads group_size groups_per_unit"
std::string numbers(const TunedLaunch& launch) {
    return std::to_string(launch.copies) + ' ' + std::to_string(launch.loads) + ' ' +
           std::to_string(launch.group_size) + ' ' + std::to_string(launch.groups_per_unit);
}

TEST(TunedLaunch, IsSaidInWordsAndHasNoMoreGroupsThanWork) {
    const TunedLaunch launch{32, 4, 512, 2};
    EXPECT_EQ(launch.text(264), "32 copies, 4 loads, 264 groups of 512");
    EXPECT_EQ((TunedLaunch{1, 1, 64, 1}.text(1)), "1 copy, 1 load, 1 group of 64");
    EXPECT_EQ(launch.macros(), " -DCOPIES=32 -DLOADS=4");
    EXPECT_EQ(launch.groups(10, 0), 1U);
    EXPECT_EQ(launch.groups(10, 32768), 1U);
    EXPECT_EQ(launch.groups(10, 32769), 2U);
    EXPECT_EQ(launch.groups(10, kGi), 20U);
}

TEST(RuleOfThumb, IsTheLargestThatFits) {
    EXPECT_EQ(numbers(rule_of_thumb(gpu(), 8 * kMi)), "32 3 1024 1");
    EXPECT_EQ(numbers(rule_of_thumb(gpu(), 8 * kMi - 1)), "32 1 1024 1");
    EXPECT_EQ(numbers(rule_of_thumb(gpu(33 << 10), kGi)), "32 3 1024 1");
    EXPECT_EQ(numbers(rule_of_thumb(gpu(32 << 10), kGi)), "16 3 1024 1");
    EXPECT_EQ(numbers(rule_of_thumb(gpu(1 << 10, 300), kGi)), "1 3 300 1");
    EXPECT_EQ(numbers(rule_of_thumb(cpu(8 << 10), 1)), "4 3 256 1");
}

// ---- what was found, and what is asked for ------------------------------------------------------

class Tuned : public testing::Test {
 protected:
    Tuned() { xdg_.set(folder_.path().string()); }

    // The launch that the command line leads to; the program's words are in `text_`.
    std::string launched(Words words, const DeviceLimits& device, std::uint64_t pixels = kGi) {
        const common::Program program{"05-launch-tuning",
                                      "opencl",
                                      device.api,
                                      "",
                                      {{"tuned", ""}},
                                      {{"copies", {"1", "2", "4", "8", "16", "32"}, ""},
                                       {"loads", {"1", "2", "3", "4"}, ""}}};
        words.insert(words.begin(), "program");
        const common::Options options =
            common::parse_options(static_cast<int>(words.size()), words.data(), program);
        TunedLaunch launch;
        text_ = said([&] { launch = launch_for(device, options, pixels); });
        return numbers(launch);
    }
    void leave(const std::string& text) {
        std::filesystem::create_directories(folder_ / "histogram-tutorials");
        tests::write_bytes(launches_file(), text);
    }

    tests::TemporaryFolder folder_;
    tests::Environment xdg_{"XDG_CACHE_HOME"};
    tests::Environment home_{"HOME"};
    std::string text_;
};

TEST_F(Tuned, IsTheRuleOfThumbAndWhatTheCommandLineChanges) {
    const std::string changed = "as tune has not run here; changed by the command line)\n";
    EXPECT_EQ(launched({}, gpu()), "32 3 1024 1");
    EXPECT_EQ(text_,
              "  tuned, 1073741824 pixels: 32 copies, 3 loads, 10 groups of 1024 (the rule of "
              "thumb, as tune has not run here)\n");
    EXPECT_EQ(launched({"--groups", "4"}, gpu()), "32 3 1024 1");
    EXPECT_TRUE(has(text_, ", 4 groups of 1024 ("));
    EXPECT_TRUE(has(text_, changed));
    EXPECT_EQ(launched({"--copies", "8", "--group-size", "96", "--loads", "4"}, gpu()), "8 4 96 1");
    EXPECT_TRUE(has(text_, changed));
    EXPECT_EQ(launched({"--copies", "32"}, gpu(8192)), "4 3 1024 1");  // no more fit
}

TEST_F(Tuned, IsWhatWasFoundForTheNearestSizeThatTheDeviceHas) {
    const std::string key = key_of(gpu());
    EXPECT_EQ(key, "CUDA\tTest GPU 9000\tdriver 1\t");
    leave(key + "1048576\t2\t2\t64\t8\t2026-01-31\n" + key +
          "16777216\t8\t4\t512\t1\t2026-01-31\n" + key_of(cpu()) +
          "16777216\t1\t1\t1\t1\t2026-01-31\n");
    EXPECT_EQ(launched({}, gpu(), 0), "2 2 64 8");
    EXPECT_EQ(launched({}, gpu(), 4 * kMi - 1), "2 2 64 8");  // nearer by ratio, to 4 Mi
    EXPECT_EQ(launched({}, gpu(), 4 * kMi + 1), "8 4 512 1");
    EXPECT_TRUE(has(text_, "(found by tune on 2026-01-31)"));
    EXPECT_EQ(launched({}, gpu(48 << 10, 256), kGi), "2 2 64 8");  // the next nearest
    EXPECT_EQ(launched({}, gpu(2 << 10, 32), kGi), "1 3 32 1");    // none that it has
}

TEST_F(Tuned, PassesOverLinesThatCannotBeUsed) {
    const std::string key = key_of(gpu());
    for (const std::string line :
         {"", "x", "1048576", "1048576\t2\t2\t64", "0\t2\t2\t64\t8\td", "1\t3\t2\t64\t8\td",
          "1\t64\t2\t64\t8\td", "1\t2\t5\t64\t8\td", "1\t2\t0\t64\t8\td", "1\t2\t2\t0\t8\td",
          "1\t2\t2\t2000\t8\td", "1\t2\t2\t64\t0\td", "1\t-2\t2\t64\t8\td"}) {
        leave(key + line);
        EXPECT_EQ(launched({}, gpu()), "32 3 1024 1") << line;
    }
    leave(std::string("\0\xff\n", 3) + key);
    EXPECT_EQ(launched({}, gpu()), "32 3 1024 1");
}

TEST_F(Tuned, IsKeptInTheCacheOfItsUser) {
    EXPECT_EQ(launches_file(), folder_ / "histogram-tutorials" / "launches.tsv");
    DeviceLimits odd = gpu();
    odd.device = "two\nlines\tand a tab";
    EXPECT_EQ(key_of(odd), "CUDA\ttwo lines and a tab\tdriver 1\t");
    home_.set("/home/somebody");
    for (const char* none : {"", "not/in/full"}) {
        xdg_.set(none);
        EXPECT_EQ(launches_file(), "/home/somebody/.cache/histogram-tutorials/launches.tsv");
    }
    home_.unset();
    EXPECT_EQ(launches_file(), "");
}

}  // namespace
