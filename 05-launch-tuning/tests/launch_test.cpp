// Where a picture lies in its buffer, how a launch is laid over it, and how `tuned` chooses.
#include "05-launch-tuning/layout.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/tune/found.hpp"
#include "common/histogram/histogram.hpp"
#include "common/status/status.hpp"
#include "common/tests/support.hpp"

namespace {

using tests::bad_input;
using tests::has;
using tuning::Choice;
using Words = std::vector<const char*>;

const tuning::Kernel* const lane = &tuning::kLaneBins;
const tuning::Kernel* const item = &tuning::kItemBins;
constexpr std::uint64_t kGi = std::uint64_t{1} << 30;

Arguments parsed(Words words) {
    static const common::Program program{
        "05-launch-tuning", "opencl", "OpenCL", "", {{"tuned", ""}, {"vector", ""}}};
    words.insert(words.begin(), "program");
    return parse_arguments(static_cast<int>(words.size()), words.data(), program, add_places);
}

common::Input input_of(std::size_t count, std::size_t width) {
    common::Input input;
    input.width = width;
    input.pixels.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        input.pixels[i] = static_cast<std::uint8_t>(i % 251);
    return input;
}

TEST(Rows, KnowTheirNumberAndBytes) {
    struct Case {
        Rows rows;
        std::uint64_t number, bytes;
        bool gaps;
    };
    const std::vector<Case> cases = {
        {{0, 0, 1, 1}, 0, 1, false},  // a buffer of nothing is an error
        {{0, 0, 0, 0}, 0, 1, false},
        {{5, 0, 4, 10}, 0, 5, false},
        {{0, 12, 4, 4}, 3, 12, false},
        {{0, 4, 4, 9}, 1, 4, false},                // one row has none
        {{5, 12, 4, 10}, 3, 5 + 2 * 10 + 4, true},  // nor is there one behind the last row
        {{5, 13, 4, 10}, 4, 5 + 3 * 10 + 1, true},
        {{0, 3 * kGi, 1 << 16, 1 << 17}, 3 << 14, 6 * kGi - (1 << 16), true}};
    for (const Case& c : cases) {
        SCOPED_TRACE(c.bytes);
        EXPECT_EQ(c.rows.number(), c.number);
        EXPECT_EQ(c.rows.bytes(), c.bytes);
        EXPECT_EQ(c.rows.have_gaps(), c.gaps);
        const Rows one = c.rows.as_one();
        EXPECT_EQ(one.first, c.rows.first);
        EXPECT_EQ(one.count, c.rows.count);
        EXPECT_EQ(one.width, c.gaps ? c.rows.width : c.rows.count);
        EXPECT_EQ(one.pitch, c.gaps ? c.rows.pitch : c.rows.count);
    }
}

TEST(LayOver, WalksAcrossARowAndBelowIt) {
    const Rows one{0, 1000, 1000, 1000}, none{0, 0, 0, 0};
    const Rows small{0, std::uint64_t{512} * 512, 512, 600};
    const Rows wide{0, std::uint64_t{4096} * 100, 4096, 5000};
    struct Case {
        Rows rows;
        std::size_t group_size, groups, at_once;
        Shape shape;
    };
    const std::vector<Case> cases = {
        // One row is walked by all groups side by side.
        {one, 256, 20, 16, {256, 1, 20, 1}},
        {none, 256, 20, 16, {256, 1, 20, 1}},
        // 512 pixels, 16 at a time: 32 steps, fewer than the group is wide.
        {small, 256, 20, 16, {32, 8, 1, 20}},
        {small, 96, 20, 16, {32, 3, 1, 20}},
        {small, 7, 20, 16, {7, 1, 5, 4}},
        {small, 1, 20, 16, {1, 1, 20, 1}},
        // 4096 steps of one pixel: 16 groups of 256 beside each other, and room for two such rows.
        {wide, 256, 40, 1, {256, 1, 16, 2}},
        {wide, 256, 3, 1, {256, 1, 3, 1}}};
    for (const Case& c : cases)
        EXPECT_EQ(lay_over(c.rows, c.group_size, c.groups, c.at_once), c.shape) << &c - &cases[0];
    EXPECT_EQ(side_by_side(64, 100'000), (Shape{64, 1, 100'000, 1}));
    EXPECT_EQ(below_each_other(64, 9), (Shape{64, 1, 1, 9}));
    EXPECT_EQ(below_each_other(64, 100'000), (Shape{64, 1, 1, 65535}));
}

TEST(LayOver, NeverHasMoreGroupsThanItMayOrOtherGroupSizes) {
    for (const std::size_t group_size : {1U, 2U, 3U, 31U, 32U, 33U, 64U, 96U, 1000U, 1024U}) {
        for (const std::size_t groups : {1U, 2U, 7U, 264U, 5000U, 100000U}) {
            for (const std::uint64_t width : {1U, 2U, 31U, 33U, 512U, 4099U, 1U << 20}) {
                const Shape shape =
                    lay_over({0, width * 3 + 1, width, width + 1}, group_size, groups, 16);
                EXPECT_EQ(shape.items_x * shape.items_y, group_size);
                EXPECT_GE(shape.groups_x * shape.groups_y, 1U);
                EXPECT_LE(shape.groups_x * shape.groups_y, groups);
                EXPECT_LE(shape.groups_y, 65535U);
            }
        }
    }
}

TEST(GroupsWithWork, AreAsManyAsThereIsWorkForAndAtLeastOne) {
    EXPECT_EQ(groups_with_work(0, 256, 16, 100), 1U);
    EXPECT_EQ(groups_with_work(4096, 256, 16, 100), 1U);
    EXPECT_EQ(groups_with_work(4097, 256, 16, 100), 2U);
    EXPECT_EQ(groups_with_work(4 * kGi, 256, 16, 100), 100U);
}

TEST(WithGaps, PutsRowsInTheirPlacesAndAPatternBetween) {
    const common::PixelBuffer bytes = with_gaps(input_of(10, 4), {3, 10, 4, 6});
    const std::uint8_t gap = common::kPoisonByte;
    EXPECT_EQ(bytes, (common::PixelBuffer{gap, gap, gap, 0, 1, 2, 3, gap, gap, 4, 5, 6, 7, gap, gap,
                                          8, 9}));
}

TEST(PlaceRows, IsWithoutGapsUnlessAskedFor) {
    const common::Input input = input_of(10, 4);
    EXPECT_EQ(place_rows(parsed({}), input).bytes(), 10U);
    const Rows placed = place_rows(parsed({"--offset", "3", "--pitch", "6"}), input);
    EXPECT_EQ(placed.first, 3U);
    EXPECT_EQ(placed.count, 10U);
    EXPECT_EQ(placed.width, 4U);
    EXPECT_EQ(placed.pitch, 6U);
    EXPECT_EQ(place_rows(parsed({"--pitch", "4"}), input).bytes(), 10U);
    EXPECT_EQ(bad_input([&] {
                  place_rows(parsed({"--pitch", "3"}), input);
              }),
              "--pitch 3: a row of this picture has 4 pixels");
    EXPECT_EQ(place_rows(parsed({}), input_of(0, 0)).count, 0U);
}

TEST(Arguments, RefuseWhatCannotBe) {
    const std::vector<std::pair<Words, const char*>> cases = {
        {{"--tune"}, "--tune is a program of its own: build/05-launch-tuning/tune/opencl"},
        {{"--end-to-end"},
         "--end-to-end is a program of its own: build/05-launch-tuning/end-to-end/opencl"},
        {{"--kernel", "item-bins", "--copies", "2"},
         "--copies is for --kernel lane-bins: item-bins keeps one table"},
        {{"--kernel", "item-bins", "--group-size", "2"},
         "--kernel item-bins, groups of 2: item-bins takes at most 1"},
        {{"--kernel", "nosuch"}, "--kernel"},
        {{"--kernel", "local"}, "--kernel"},  // only the search has it
        {{"--copies", "3"}, "--copies"},
        {{"--copies", "64"}, "--copies"},
        {{"--loads", "0"}, "--loads"},
        {{"--loads", "5"}, "--loads"},
        {{"--pitch", "0"}, "--pitch"},
        {{"--offset", "1048577"}, "--offset"}};
    for (const auto& [words, text] : cases)
        EXPECT_TRUE(has(bad_input([&, &arguments = words] { parsed(arguments); }), text));
}

TEST(Arguments, AreAsTheyWereGiven) {
    const Arguments none = parsed({});
    EXPECT_EQ(none.kernel, nullptr);
    EXPECT_FALSE(none.copies || none.loads || none.pitch || none.two_launches);
    const Arguments all =
        parsed({"--kernel", "lane-bins", "--copies", "32", "--loads", "4", "--two-launches"});
    EXPECT_EQ(all.kernel, lane);
    EXPECT_EQ(all.copies, 32U);
    EXPECT_EQ(all.loads, 4U);
    EXPECT_TRUE(all.two_launches);
    EXPECT_EQ(parsed({"--kernel", "item-bins", "--copies", "1"}).kernel, item);
}

class ChooseTuned : public testing::Test {
 protected:
    ChooseTuned() { xdg_.set(folder_.path().string()); }

    static Choice chosen(const Words& words, const tuning::Facts& facts, std::string* said) {
        Choice choice;
        *said = tests::said([&] { choice = choose_tuned(parsed(words), facts, kGi); });
        return choice;
    }

    tests::TemporaryFolder folder_;
    tests::Environment xdg_{"XDG_CACHE_HOME"};
    const tuning::Facts gpu_{"OpenCL", "Test GPU", "driver", false, 10, 1024, 48 << 10, {lane}};
    const tuning::Facts cpu_{"OpenCL", "CPU", "driver", true, 10, 1024, 48 << 10, {lane, item}};
};

TEST_F(ChooseTuned, TakesTheDefaultAndWhatTheCommandLineChanges) {
    tuning::Facts small = gpu_;
    small.local_bytes = 8 << 10;
    const std::string as_it_is = "(the default, as tune has not run here)\n";
    const std::string changed =
        "(the default, as tune has not run here; changed by the command line)\n";
    struct Case {
        Words words;
        const tuning::Facts& facts;
        Choice choice;
        std::string said;
    };
    const std::vector<Case> cases = {
        {{}, gpu_, {lane, 32, 3, 1024, 1}, as_it_is},
        {{"--groups", "4"}, gpu_, {lane, 32, 3, 1024, 1}, changed},
        {{"--loads", "1"}, gpu_, {lane, 32, 1, 1024, 1}, changed},
        {{"--copies", "8", "--group-size", "96"}, gpu_, {lane, 8, 3, 96, 1}, changed},
        {{"--kernel", "lane-bins"}, gpu_, {lane, 32, 3, 1024, 1}, as_it_is},
        {{}, cpu_, {item, 1, 3, 1, 1}, as_it_is},
        {{"--group-size", "1"}, cpu_, {item, 1, 3, 1, 1}, as_it_is},
        // Not in groups of one, which suit item-bins alone; and copies are lane-bins'.
        {{"--group-size", "64"}, cpu_, {lane, 32, 3, 64, 1}, changed},
        {{"--kernel", "lane-bins"}, cpu_, {lane, 32, 3, 256, 1}, changed},
        {{"--copies", "1"}, cpu_, {lane, 1, 3, 256, 1}, changed},
        // Fewer copies where not all of them fit.
        {{"--copies", "32"},
         small,
         {lane, 8, 3, 1024, 1},
         "1024, 1 for each unit does not fit 8192 bytes of local memory\n  tuned, 1024 Mi "
         "pixels: "}};
    for (const Case& c : cases) {
        SCOPED_TRACE(&c - &cases[0]);
        std::string said;
        EXPECT_EQ(chosen(c.words, c.facts, &said), c.choice);
        EXPECT_TRUE(has(said, c.said));
    }
}

TEST_F(ChooseTuned, TakesWhatWasFound) {
    const Choice best{lane, 4, 2, 64, 8};
    tuning::Tuning found{gpu_.api, gpu_.device, gpu_.driver, "2026-01-31T12:00:00Z"};
    found.trials = {{best, kGi, tuning::Outcome::kMeasured, 1, ""}};
    tuning::keep(gpu_, found);
    std::string said;
    EXPECT_EQ(chosen({}, gpu_, &said), best);
    EXPECT_EQ(
        said,
        "  tuned, 1024 Mi pixels: lane-bins, 4 copies, 2 loads, groups of 64, 8 for each unit "
        "(found by tune on 2026-01-31T12:00:00Z)\n");
    EXPECT_EQ(chosen({"--loads", "3"}, gpu_, &said), (Choice{lane, 4, 3, 64, 8}));
    EXPECT_TRUE(
        has(said, "(found by tune on 2026-01-31T12:00:00Z; changed by the command line)\n"));
}

TEST_F(ChooseTuned, RefusesWhatTheDeviceCannot) {
    const auto refusal = [](const Words& words, const tuning::Facts& facts) {
        return bad_input([&] { choose_tuned(parsed(words), facts, kGi); });
    };
    EXPECT_TRUE(has(refusal({"--group-size", "2048"}, gpu_),
                    "tuned, lane-bins, 32 copies, 3 loads, groups of 2048, 1 for each unit: groups "
                    "of 2048: this device runs at most 1024"));
    EXPECT_TRUE(has(refusal({"--kernel", "item-bins"}, gpu_), "no kernel 'item-bins'"));
}

}  // namespace
