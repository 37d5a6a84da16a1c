// Where a picture lies in its buffer, how a launch is laid over it, and how `tuned` is launched.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "05-launch-tuning/layout.hpp"
#include "05-launch-tuning/tuned.hpp"
#include "common/histogram/histogram.hpp"
#include "common/tests/support.hpp"

namespace {

using tests::bad_input;
using tests::has;
using tests::said;
using namespace tuning;
using Words = std::vector<const char*>;

constexpr std::uint64_t kMi = std::uint64_t{1} << 20;
constexpr std::uint64_t kGi = 1024 * kMi;
const Kernel* const replicated = &kReplicated;
const Kernel* const items = &kItemBins;

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

// CUDA: the kernels with four loads have registers for 512 threads.
DeviceLimits gpu(std::uint64_t local_bytes = 48 << 10, std::size_t max_group_size = 1024) {
    return {.api = "CUDA",
            .device = "Test GPU 9000",
            .driver = "driver 1",
            .units = 10,
            .max_group_size = max_group_size,
            .local_bytes = local_bytes,
            .kernels = {replicated},
            .max_threads = [](const LaunchConfig& config) {
                return std::size_t{config.loads == 4 ? 512U : 1024U};
            }};
}

DeviceLimits cpu(std::uint64_t local_bytes = 48 << 10) {
    return {"OpenCL", "CPU", "driver", true, 10, 1024, local_bytes, {replicated, items}};
}

TEST(LaunchConfig, IsSaidInWordsAndHasNoMoreGroupsThanWork) {
    const LaunchConfig config{replicated, 32, 4, 512, 2};
    EXPECT_EQ(config.text(), "replicated, 32 copies, 4 loads, groups of 512, 2 for each unit");
    EXPECT_EQ(config.launch_text(264), "replicated, 32 copies, 4 loads, 264 groups of 512");
    EXPECT_EQ(config.macros(), "-DGROUP_X=512 -DGROUP_Y=1 -DCOPIES=32 -DLOADS=4");
    EXPECT_EQ((LaunchConfig{items}.launch_text(1)), "item-bins, 1 load, 1 group of 1");
    EXPECT_EQ(config.groups(10, 0), 1U);
    EXPECT_EQ(config.groups(10, 32768), 1U);
    EXPECT_EQ(config.groups(10, 32769), 2U);
    EXPECT_EQ(config.groups(10, kGi), 20U);
}

TEST(Fallback, IsTheLargestThatFits) {
    struct Case {
        DeviceLimits limits;
        std::uint64_t pixels;
        LaunchConfig config;
    };
    const std::vector<Case> cases = {{gpu(), 8 * kMi, {replicated, 32, 3, 1024, 1}},
                                     {gpu(), 8 * kMi - 1, {replicated, 32, 1, 1024, 1}},
                                     {gpu(33 << 10), kGi, {replicated, 32, 3, 1024, 1}},
                                     {gpu(32 << 10), kGi, {replicated, 16, 3, 1024, 1}},
                                     {gpu(1 << 10, 300), kGi, {replicated, 1, 3, 300, 1}},
                                     {cpu(), 1, {items, 1, 3, 1, 1}},
                                     {cpu(8 << 10), 1, {replicated, 4, 3, 256, 1}}};
    for (const Case& c : cases)
        EXPECT_EQ(fallback(c.limits, c.pixels), c.config) << &c - &cases[0];
}

TEST(UnsupportedReason, NamesWhatRulesALaunchOut) {
    EXPECT_EQ(unsupported_reason({replicated, 32, 3, 1024, 1}, gpu()), "");
    for (const LaunchConfig& none : {LaunchConfig{replicated, 3, 1, 64, 1},
                                     {replicated, 64, 1, 64, 1},
                                     {replicated, 1, 5, 64, 1},
                                     {replicated, 1, 0, 64, 1},
                                     {replicated, 1, 1, 0, 1},
                                     {replicated, 1, 1, 64, 0}})
        EXPECT_EQ(unsupported_reason(none, gpu()), "there is no such launch") << none.text();
    EXPECT_EQ(unsupported_reason({items, 1, 1, 1, 1}, gpu()),
              "this program has no kernel 'item-bins'");
    EXPECT_EQ(unsupported_reason({replicated, 32, 1, 64, 1}, gpu(32767)),
              "32768 bytes of local memory: this device has 32767");
    EXPECT_EQ(unsupported_reason({items, 1, 1, 2, 1}, cpu()),
              "groups of 2: item-bins takes at most 1");
}

// ---- what was found, and what is asked for ------------------------------------------------------

class Tuned : public testing::Test {
 protected:
    Tuned() { xdg_.set(folder_.path().string()); }

    // What the command line makes of it, and what is said of that.
    static LaunchConfig resolved(Words words, const DeviceLimits& limits, std::string* text) {
        const common::Program program{
            "05-launch-tuning", "opencl", limits.api, "", {{"tuned", ""}, {"vector", ""}}};
        words.insert(words.begin(), "program");
        TunedOptions tuned;
        const common::Options options =
            parse_options(static_cast<int>(words.size()), words.data(), program, tuned);
        LaunchConfig config;
        *text = said([&] { config = resolve(tuned, options, limits, kGi); });
        return config;
    }
    static std::string refused(const Words& words, const DeviceLimits& limits) {
        std::string ignored;
        return bad_input([&] { resolved(words, limits, &ignored); });
    }
    static void leave(const DeviceLimits& limits, const std::string& text) {
        std::filesystem::create_directories(cache_file(limits).parent_path());
        tests::write_bytes(cache_file(limits), text);
    }
    // As tune leaves it, shortened to what is read.
    static std::string found(const std::string& trials, const std::string& device = "Test GPU 9000",
                             const std::string& format = kCacheFormat) {
        return R"({"format": ")" + format + R"(", "api": "CUDA", "device": ")" + device +
               R"(", "driver": "driver 1", "date": "2026-01-31", "trials": [)" + trials + "]}";
    }
    static std::string trial(const std::string& kernel, int copies, std::uint64_t pixels,
                             const std::string& ms, const std::string& outcome = "measured") {
        return R"({"kernel": ")" + kernel + R"(", "copies": )" + std::to_string(copies) +
               R"(, "loads": 2, "group_size": 64, "groups_per_unit": 8, "pixels": )" +
               std::to_string(pixels) + R"(, "worst_ms": )" + ms + R"(, "outcome": ")" + outcome +
               "\"}";
    }

    tests::TemporaryFolder folder_;
    tests::Environment xdg_{"XDG_CACHE_HOME"};
    tests::Environment home_{"HOME"};
};

TEST_F(Tuned, IsTheFallbackAndWhatTheCommandLineChanges) {
    const std::string as_it_is = "(the default, as tune has not run here)\n";
    const std::string changed =
        "(the default, as tune has not run here; changed by the command line)\n";
    struct Case {
        Words words;
        DeviceLimits limits;
        LaunchConfig config;
        std::string said;
    };
    const std::vector<Case> cases = {
        {{}, gpu(), {replicated, 32, 3, 1024, 1}, as_it_is},
        {{"--groups", "4"}, gpu(), {replicated, 32, 3, 1024, 1}, changed},
        {{"--copies", "8", "--group-size", "96"}, gpu(), {replicated, 8, 3, 96, 1}, changed},
        // Smaller blocks where registers are short, fewer copies where local memory is.
        {{"--loads", "4"}, gpu(), {replicated, 32, 4, 512, 1}, "does not fit this device\n"},
        {{"--copies", "32"}, gpu(8192), {replicated, 8, 3, 1024, 1}, "does not fit this device\n"},
        {{}, cpu(), {items, 1, 3, 1, 1}, as_it_is},
        {{"--group-size", "1"}, cpu(), {items, 1, 3, 1, 1}, as_it_is},
        // Not in groups of one, which suit item-bins alone; and copies are replicated's.
        {{"--group-size", "64"}, cpu(), {replicated, 32, 3, 64, 1}, changed},
        {{"--kernel", "replicated"}, cpu(), {replicated, 32, 3, 256, 1}, changed},
        {{"--copies", "1"}, cpu(), {replicated, 1, 3, 256, 1}, changed}};
    for (const Case& c : cases) {
        SCOPED_TRACE(&c - &cases[0]);
        std::string text;
        EXPECT_EQ(resolved(c.words, c.limits, &text), c.config);
        EXPECT_TRUE(has(text, c.said));
    }
}

TEST_F(Tuned, RefusesWhatCannotBe) {
    const std::vector<std::pair<Words, const char*>> cases = {
        {{"--kernel", "item-bins", "--copies", "2"}, "item-bins keeps one table"},
        {{"--kernel", "item-bins", "--group-size", "2"}, "item-bins takes at most 1"},
        {{"--kernel", "local"}, "--kernel"},  // only the search has it
        {{"--copies", "3"}, "--copies"},
        {{"--loads", "5"}, "--loads"},
        {{"--group-size", "2048"}, "groups of 2048: this device runs at most 1024"}};
    for (const auto& [words, text] : cases)
        EXPECT_TRUE(has(refused(words, cpu()), text));
    EXPECT_TRUE(has(refused({"--kernel", "item-bins"}, gpu()), "--kernel"));
    // Nobody asked for smaller blocks.
    EXPECT_TRUE(has(refused({"--loads", "4", "--group-size", "1024"}, gpu()), "registers"));
}

TEST_F(Tuned, IsTheFastestOfTheNearestSizeThatProgramAndDeviceHave) {
    leave(gpu(),
          found(trial("replicated", 1, kMi, "2") + "," + trial("replicated", 2, kMi, "1") + "," +
                trial("uchar-bins", 1, kMi, "0.1") + "," + trial("replicated", 8, 16 * kMi, "9") +
                "," + trial("replicated", 3, kMi, "0.1") + "," +
                trial("replicated", 4, kMi, "null", "wrong")));
    const std::optional<Cache> cache = load(gpu());
    ASSERT_TRUE(cache);
    const auto config = [](unsigned copies) { return LaunchConfig{replicated, copies, 2, 64, 8}; };
    EXPECT_EQ(lookup(cache, gpu(), 0), config(2));
    EXPECT_EQ(lookup(cache, gpu(), 4 * kMi - 1), config(2));  // nearer by ratio, to 4 Mi
    EXPECT_EQ(lookup(cache, gpu(), 4 * kMi + 1), config(8));
    EXPECT_EQ(lookup(cache, gpu(4096), kGi), config(2));  // the next nearest
    EXPECT_EQ(lookup(cache, gpu(1024, 32), kGi), fallback(gpu(1024, 32), kGi));
    std::string text;
    EXPECT_EQ(resolved({}, gpu(), &text), config(8));
    EXPECT_EQ(text,
              "  tuned, 1024 Mi pixels: replicated, 8 copies, 2 loads, groups of 64, 8 for each "
              "unit (found by tune on 2026-01-31)\n");
}

TEST_F(Tuned, PassesOverAFileThatCannotBeUsed) {
    const auto warning_about = [](const std::string& bytes) {
        leave(gpu(), bytes);
        return said([] { EXPECT_FALSE(load(gpu())); });
    };
    EXPECT_EQ(said([] { EXPECT_FALSE(load(gpu())); }), "");  // there is none
    const std::string one = trial("replicated", 1, kMi, "2");
    EXPECT_EQ(warning_about(found(one, "Test GPU 9001")),
              "warning: the tuning in " + cache_file(gpu()).string() +
                  " is passed over: it belongs to another device or driver\n");
    EXPECT_TRUE(has(warning_about(found(one, "Test GPU 9000", "histogram-tutorials tuning 1")),
                    "another version of tune\n"));
    for (const std::string& bytes :
         {std::string(), std::string("{"), std::string("[]"), found("7"), found("{}"),
          found(trial("replicated", 1, kMi, "\"fast\"")), found(one).substr(0, 200)}) {
        const std::string text = warning_about(bytes);
        EXPECT_TRUE(has(text, "is passed over: "));
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    }
}

TEST_F(Tuned, IsKeptInAFileForEachDeviceAndDriver) {
    EXPECT_EQ(cache_file(gpu()),
              folder_ / "histogram-tutorials" / "CUDA-Test-GPU-9000-driver-1.json");
    DeviceLimits odd = gpu();
    odd.device = "../caf\xE9" + std::string(5000, 'W');
    EXPECT_EQ(cache_file(odd).parent_path(), folder_ / "histogram-tutorials");
    EXPECT_LT(cache_file(odd).filename().string().size(), 240U);
    home_.set("/home/somebody");
    for (const char* none : {"", "not/in/full"}) {
        xdg_.set(none);
        EXPECT_TRUE(cache_file(gpu()).string().starts_with("/home/somebody/"));
    }
    home_.unset();
    EXPECT_EQ(cache_file(gpu()), "");
}

}  // namespace
