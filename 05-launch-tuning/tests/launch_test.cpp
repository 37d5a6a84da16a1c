// Where a picture lies in its buffer, how a launch is laid over it, and how `tuned` chooses.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/launch.hpp"
#include "common/histogram/histogram.hpp"
#include "common/status/status.hpp"
#include "common/tests/support.hpp"

namespace {

using tests::bad_input;
using tests::has;

const common::Program kProgram{
    "05-launch-tuning", "opencl", "OpenCL", "", {{"tuned", ""}, {"vector", ""}}};

Arguments parsed(std::vector<const char*> words, const common::Program& program = kProgram) {
    words.insert(words.begin(), "program");
    return parse_arguments(static_cast<int>(words.size()), words.data(), program);
}

common::Input input_of(std::size_t count, std::size_t width) {
    common::Input input;
    input.width = width;
    input.pixels.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        input.pixels[i] = static_cast<std::uint8_t>(i % 251);
    return input;
}

tuning::Facts gpu() {
    tuning::Facts facts{"OpenCL", "Test GPU", "driver"};
    facts.units = 10;
    facts.most_items = 1024;
    facts.local_bytes = 48 * 1024;
    facts.kernels = {"local", "lane-bins", "byte-bins"};
    return facts;
}

TEST(Picture, KnowsItsRowsAndBytes) {
    EXPECT_EQ((Picture{0, 0, 1, 1}).rows(), 0U);
    EXPECT_EQ((Picture{0, 0, 1, 1}).bytes(), 1U);  // a buffer of nothing is an error
    EXPECT_EQ((Picture{0, 0, 0, 0}).rows(), 0U);
    EXPECT_EQ((Picture{0, 12, 4, 4}).rows(), 3U);
    EXPECT_EQ((Picture{0, 12, 4, 4}).bytes(), 12U);
    EXPECT_EQ((Picture{5, 12, 4, 10}).bytes(), 5 + 2 * 10 + 4U);  // no gap behind the last row
    EXPECT_EQ((Picture{5, 13, 4, 10}).rows(), 4U);
    EXPECT_EQ((Picture{5, 13, 4, 10}).bytes(), 5 + 3 * 10 + 1U);
    EXPECT_EQ((Picture{0, std::uint64_t{3} << 31, 1 << 16, 1 << 17}).bytes(),
              (std::uint64_t{3} << 32) - (1 << 16));
}

TEST(Picture, IsOneRowWhereThereAreNoGaps) {
    const Picture row = Picture{7, 13, 4, 4}.as_one_row();
    EXPECT_EQ(row.first, 7U);
    EXPECT_EQ(row.count, 13U);
    EXPECT_EQ(row.width, 13U);
    EXPECT_EQ(row.pitch, 13U);
    EXPECT_EQ(row.rows(), 1U);
    EXPECT_EQ((Picture{7, 13, 4, 5}.as_one_row().rows()), 4U);
}

TEST(LayOver, OneRowIsWalkedByAllGroupsSideBySide) {
    EXPECT_EQ(lay_over({0, 1000, 1000, 1000}, 256, 20, 16), (Shape{256, 1, 20, 1}));
    EXPECT_EQ(lay_over({0, 0, 0, 0}, 256, 20, 16), (Shape{256, 1, 20, 1}));
}

TEST(LayOver, ShortRowsAreSharedByThirtyTwoWorkItems) {
    // 512 pixels, 16 at a time: 32 steps, fewer than the group is wide.
    EXPECT_EQ(lay_over({0, 512 * 512, 512, 600}, 256, 20, 16), (Shape{32, 8, 1, 20}));
    EXPECT_EQ(lay_over({0, 512 * 512, 512, 600}, 96, 20, 16), (Shape{32, 3, 1, 20}));
    EXPECT_EQ(lay_over({0, 512 * 512, 512, 600}, 7, 20, 16), (Shape{7, 1, 5, 4}));
    EXPECT_EQ(lay_over({0, 512 * 512, 512, 600}, 1, 20, 16), (Shape{1, 1, 20, 1}));
}

TEST(LayOver, LongRowsAreWalkedAcrossAndTheOthersBelow) {
    // 4096 steps of one pixel: 16 groups of 256 beside each other, and room for two such rows.
    EXPECT_EQ(lay_over({0, 4096 * 100, 4096, 5000}, 256, 40, 1), (Shape{256, 1, 16, 2}));
    EXPECT_EQ(lay_over({0, 4096 * 100, 4096, 5000}, 256, 3, 1), (Shape{256, 1, 3, 1}));
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
    EXPECT_EQ(groups_with_work(1, 256, 16, 100), 1U);
    EXPECT_EQ(groups_with_work(4096, 256, 16, 100), 1U);
    EXPECT_EQ(groups_with_work(4097, 256, 16, 100), 2U);
    EXPECT_EQ(groups_with_work(std::uint64_t{1} << 32, 256, 16, 100), 100U);
}

TEST(WithGaps, PutsRowsInTheirPlacesAndAPatternBetween) {
    const common::Input input = input_of(10, 4);  // rows of 4, 4 and 2 pixels
    const common::PixelBuffer bytes = with_gaps(input, {3, 10, 4, 6});
    const std::uint8_t gap = common::kPoisonByte;
    EXPECT_EQ(bytes, (common::PixelBuffer{gap, gap, gap, 0, 1, 2, 3, gap, gap, 4, 5, 6, 7, gap, gap,
                                          8, 9}));
}

TEST(PlaceInBuffer, IsWithoutGapsUnlessAskedFor) {
    const common::Input input = input_of(10, 4);
    const Picture plain = place_in_buffer(parsed({}), input);
    EXPECT_EQ(plain.bytes(), 10U);
    const Picture placed = place_in_buffer(parsed({"--offset", "3", "--pitch", "6"}), input);
    EXPECT_EQ(placed.first, 3U);
    EXPECT_EQ(placed.pitch, 6U);
    EXPECT_EQ(bad_input([&] {
                  place_in_buffer(parsed({"--pitch", "3"}), input);
              }),
              "--pitch 3: a row of this picture has 4 pixels");
    // Nothing to count is a picture like any other; nothing to copy is none.
    EXPECT_EQ(place_in_buffer(parsed({}), input_of(0, 0)).count, 0U);
    EXPECT_EQ(bad_input([&] { place_in_buffer(parsed({"--end-to-end"}), input_of(0, 0)); }),
              "--end-to-end: there are no pixels to copy");
}

TEST(Arguments, RefusesWhatExcludesEachOther) {
    const auto refusal = [](std::vector<const char*> words) {
        return bad_input([&] { parsed(std::move(words)); });
    };
    EXPECT_TRUE(has(refusal({"--tune", "--end-to-end"}), "exclude each other"));
    EXPECT_TRUE(has(refusal({"--tune", "--offset", "1"}), "--offset"));
    EXPECT_TRUE(has(refusal({"--end-to-end", "--pitch", "600"}), "--pitch"));
    EXPECT_TRUE(has(refusal({"--kernel", "local", "--copies", "2"}), "one table"));
    EXPECT_TRUE(has(refusal({"--copies", "3"}), "--copies"));
    EXPECT_TRUE(has(refusal({"--loads", "5"}), "--loads"));
    EXPECT_TRUE(has(refusal({"--kernel", "byte-bins", "--loads", "2"}), "a pixel at a time"));
    EXPECT_EQ(parsed({"--kernel", "byte-bins", "--loads", "1"}).loads, 1U);
    for (const char* option :
         {"--tile", "--random", "--group-size", "--groups", "--repeat", "--copies", "--loads"}) {
        EXPECT_TRUE(has(refusal({"--tune", option, "4"}), "with it go --seconds")) << option;
    }
    EXPECT_TRUE(has(refusal({"--tune", "--two-launches"}), "with it go --seconds"));
    EXPECT_TRUE(has(refusal({"--tune", "--kernel", "local"}), "with it go --seconds"));
    EXPECT_TRUE(parsed({"--tune", "--seconds", "3", "--device", "0", "--json", "a"}).tune);
    EXPECT_TRUE(has(refusal({"--kernel", "nosuch"}), "--kernel"));
    EXPECT_TRUE(has(refusal({"--seconds", "0"}), "--seconds"));
    EXPECT_TRUE(parsed({"--two-launches"}).two_launches);
    common::Program cuda = kProgram;
    cuda.api = "CUDA";  // always has 64-bit atomics
    EXPECT_TRUE(has(bad_input([&] { parsed({"--two-launches"}, cuda); }), "--two-launches"));
}

tuning::Choice chosen(std::vector<const char*> words, const tuning::Facts& facts,
                      std::string* said = nullptr) {
    testing::internal::CaptureStderr();
    std::optional<tuning::Choice> choice;
    std::exception_ptr refusal;
    try {
        choice =
            choose_tuned(parsed(std::move(words)), std::nullopt, facts, std::uint64_t{1} << 30);
    } catch (...) {
        refusal = std::current_exception();
    }
    const std::string text = testing::internal::GetCapturedStderr();
    if (said != nullptr) *said = text;
    if (refusal) std::rethrow_exception(refusal);
    return *choice;
}

TEST(ChooseTuned, TakesTheDefaultAndWhatTheCommandLineChanges) {
    std::string said;
    EXPECT_EQ(chosen({}, gpu(), &said), (tuning::Choice{"lane-bins", 32, 3, 1024, 1}));
    EXPECT_TRUE(has(said, "(the default: --tune has not run here)\n"));
    chosen({"--loads", "1"}, gpu(), &said);
    EXPECT_TRUE(has(said, "(the default: --tune has not run here, but changed here)\n"));
    chosen({"--groups", "4"}, gpu(), &said);
    EXPECT_TRUE(has(said, "changed here"));
    EXPECT_EQ(chosen({"--copies", "8", "--loads", "1", "--group-size", "96"}, gpu()),
              (tuning::Choice{"lane-bins", 8, 1, 96, 1}));
    EXPECT_EQ(chosen({"--kernel", "local"}, gpu()), (tuning::Choice{"local", 1, 3, 1024, 1}));
    EXPECT_EQ(chosen({"--kernel", "byte-bins"}, gpu()),
              (tuning::Choice{"byte-bins", 1, 1, 128, 1}));
    tuning::Facts cpu = gpu();
    cpu.cpu = true;
    cpu.kernels.push_back("item-bins");
    EXPECT_EQ(chosen({}, cpu).kernel, "item-bins");
    // Not in groups of one, which suit item-bins alone; and copies are lane-bins'.
    EXPECT_EQ(chosen({"--kernel", "lane-bins"}, cpu), (tuning::Choice{"lane-bins", 1, 3, 256, 1}));
    EXPECT_EQ(chosen({"--copies", "8"}, cpu), (tuning::Choice{"lane-bins", 8, 3, 256, 1}));
    EXPECT_EQ(bad_input([] {
                  chosen({"--kernel", "item-bins"}, gpu());
              }),
              "--kernel item-bins: the OpenCL program has no such kernel");
}

TEST(ChooseTuned, FallsBackWhereItDoesNotFitAndSaysSo) {
    std::string said;
    // 128 work-items would fit, 1024 need 257 KiB.
    const tuning::Choice choice =
        chosen({"--kernel", "byte-bins", "--group-size", "1024"}, gpu(), &said);
    EXPECT_EQ(choice.kernel, "lane-bins");
    EXPECT_EQ(choice.group_size, 1024U);
    EXPECT_TRUE(has(said, "byte-bins, 1 load, groups of 1024, 1 for each unit does not fit 49152"));
    tuning::Facts small = gpu();
    small.local_bytes = 8 * 1024;
    EXPECT_EQ(chosen({"--copies", "32"}, small, &said).copies, 8U);
    EXPECT_TRUE(has(said, "does not fit 8192 bytes"));
}

TEST(LaunchText, SaysWhatWasLaunched) {
    EXPECT_EQ(tuning::launch_text({"lane-bins", 32, 4, 512, 2}, 264),
              "lane-bins, 32 copies, 4 loads, 264 groups of 512");
    EXPECT_EQ(tuning::launch_text({"local", 1, 1, 64, 8}, 1), "local, 1 load, 1 group of 64");
}

TEST(PixelsAtOnce, AreWhatAKernelTakesInOneStep) {
    EXPECT_EQ(pixels_at_once({"lane-bins", 4, 2, 1, 1}), 32U);
    EXPECT_EQ(pixels_at_once({"local", 1, 4, 1, 1}), 4U);
    EXPECT_EQ(pixels_at_once({"byte-bins", 1, 4, 1, 1}), 255U);
}

}  // namespace
