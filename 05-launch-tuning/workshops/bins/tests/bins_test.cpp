// What the programs of more bins share, without a device.
#include <gtest/gtest.h>

#include <tuple>

#include "05-launch-tuning/workshops/bins/values.hpp"
#include "common/tests/support.hpp"

namespace {

using namespace bins;
using tests::has;

const common::Program kProgram{
    "05-launch-tuning", "workshops/bins/cuda", "CUDA", "", {{"local", ""}}};

struct Loaded : Values {
    explicit Loaded(const std::vector<std::string>& words) {
        const std::vector<const char*> argv = common::argv_of("bins", words);
        options = common::parse_options(static_cast<int>(argv.size()), argv.data(), kProgram,
                                        [&](CLI::App& app) { add_options(app); });
        load(options);
    }
    common::Options options;
};

TEST(Values, Have16Bits) {
    for (const auto& [bins, says] : {std::pair{"257", "257 is no power of two"}, {"128", "--bins"}})
        EXPECT_TRUE(has(tests::bad_input([&] { Loaded({"--bins", bins}); }), says)) << bins;
    const Loaded ramp({"--ramp", "--random", "3", "--bins", "4096"});
    ASSERT_EQ(ramp.expected.size(), 4096U);
    EXPECT_EQ(ramp.pixels, (std::vector<std::uint16_t>{0x0000, 0x0101, 0x0202}));
    for (const std::size_t value : {0x0000U, 0x0101U, 0x0202U})
        EXPECT_EQ(ramp.expected[value >> 4], 1U) << value;
    // All 65,536 values occur, so the halves are drawn one by one.
    const Loaded uniform({"--random", "2M", "--bins", "65536"});
    EXPECT_EQ(std::count(uniform.expected.begin(), uniform.expected.end(), 0U), 0);
}

TEST(Judge, NamesTheFirstCounterThatIsWrong) {
    const Loaded values({"--random", "1000", "--bins", "4096"});
    std::vector<std::uint32_t> counted = values.expected;
    EXPECT_EQ(values.what_is_wrong(counted), "");
    // Neighbours of one bin of 256: their sum is right.
    ++counted[33];
    --counted[40];
    EXPECT_TRUE(
        has(values.what_is_wrong(counted), "2 of 4096 counters are wrong; the first is bin 33: "));
    for (const std::size_t bin : {0U, 4095U}) {
        counted = values.expected;
        ++counted[bin];
        EXPECT_TRUE(has(values.what_is_wrong(counted),
                        "1 of 4096 counters is wrong; the first is bin " + std::to_string(bin)));
    }
}

TEST(Plan, KeepsAsManyCopiesAsFit) {
    const DeviceLimits h100{.units = 132, .max_group_size = 1024, .local_bytes = 227 << 10};
    const DeviceLimits usual{.units = 132, .max_group_size = 1024, .local_bytes = 48 << 10};
    const auto plan_of = [&](const char* strategy, std::vector<std::string> words,
                             const DeviceLimits& device) {
        words.insert(words.end(), {"--random", "2M"});
        const Loaded values(words);
        return plan(strategy, values, values.options, device, 1024);
    };
    EXPECT_EQ(plan_of("local", {"--bins", "256"}, h100).slice.copies, 32U);
    EXPECT_EQ(plan_of("local", {"--bins", "4096"}, h100).slice.copies, 8U);
    EXPECT_EQ(plan_of("local", {}, h100).groups, 132U);
    EXPECT_EQ(plan_of("local", {"--bins", "65536"}, h100).unsupported_reason,
              "a table of 262144 bytes, and a group has 232448 of local memory");
    EXPECT_EQ(plan_of("local", {"--bins", "32768", "--groups", "513"}, h100).unsupported_reason,
              "513 groups write rows of 32768 counters: more than 64 MiB");
    EXPECT_EQ(plan_of("passes", {"--bins", "65536"}, h100).slices, 2U);
    EXPECT_EQ(plan_of("passes", {"--bins", "65536"}, usual).slice.counters, 8192U);
    const Plan cluster = plan_of("cluster", {"--bins", "256", "--groups", "7"}, h100);
    EXPECT_EQ(std::tuple(cluster.slices, cluster.groups, cluster.slice.copies),
              std::tuple(2U, 6U, 1U));
    EXPECT_EQ(plan_of("cluster", {"--bins", "256", "--groups", "1"}, h100).groups, 2U);
    EXPECT_EQ(plan_of("cluster", {"--bins", "65536"},
                      {.units = 1, .max_group_size = 1024, .local_bytes = 16 << 10})
                  .unsupported_reason,
              "a cluster has at most 8 blocks");
}

}  // namespace
