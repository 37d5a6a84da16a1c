// What the programs of more bins share, without a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "05-launch-tuning/workshops/bins/values.hpp"
#include "common/histogram/histogram.hpp"
#include "common/tests/support.hpp"

namespace {

using namespace bins;
using tests::has;
using tests::said;

const common::Program kProgram{
    "05-launch-tuning",
    "workshops/bins/opencl",
    "OpenCL",
    "",
    {{"local", ""}},
    {{"channels", {"3", "4"}, ""}, {"passes", {"2", "8"}, ""}, {"cluster", {"2", "8"}, ""}}};

struct Loaded : Values {
    explicit Loaded(const std::vector<std::string>& words) {
        const std::vector<const char*> argv = common::argv_of("bins", words);
        options = common::parse_options(static_cast<int>(argv.size()), argv.data(), kProgram,
                                        [&](CLI::App& app) { add_options(app); });
        input = load(options);
        sum = common::reference_histogram(input.pixels);
    }
    common::Options options;
    common::Input input;
    common::Histogram sum{};
};

TEST(Values, AreColoursOrHave16Bits) {
    for (const auto& [words, says] : std::vector<std::pair<std::vector<std::string>, const char*>>{
             {{"--bins", "256", "--channels", "3"}, "--bins is for pixels of 16 bits"},
             {{"--bins", "257"}, "257 is no power of two"},
             {{"--bins", "128"}, "--bins"}})
        EXPECT_TRUE(has(tests::bad_input([&] { Loaded{words}; }), says)) << says;
    const Loaded rgb({"--ramp", "--random", "7"});
    ASSERT_EQ(rgb.expected.size(), 768U);
    // Values 0 to 6: red, green, blue, red ...
    for (const std::size_t counter : {0U, 256U + 1, 512U + 2, 3U, 256U + 4, 512U + 5, 6U})
        EXPECT_EQ(rgb.expected[counter], 1U) << counter;
    EXPECT_EQ(std::reduce(rgb.expected.begin(), rgb.expected.end()), 7U);

    const Loaded sixteen({"--ramp", "--random", "3", "--bins", "4096"});
    ASSERT_EQ(sixteen.expected.size(), 4096U);
    EXPECT_EQ(sixteen.sixteen.size(), 6U);
    for (const std::size_t value : {0x0000U, 0x0101U, 0x0202U})
        EXPECT_EQ(sixteen.expected[value >> 4], 1U) << value;
    EXPECT_EQ(sixteen.input.pixel_bytes, 2U);

    // All 65,536 values occur, so the halves are drawn one by one.
    const Loaded uniform({"--random", "2M", "--bins", "65536"});
    EXPECT_EQ(std::count(uniform.expected.begin(), uniform.expected.end(), 0U), 0);
}

TEST(Values, AreThoseOfAPicture) {
    const tests::TemporaryFolder folder;
    tests::write_bytes(folder / "a.ppm", "P6 2 1 255\n\x01\x02\x03\x04\x05\x06");
    const std::string file = (folder / "a.ppm").string();
    EXPECT_EQ(Loaded({file}).input.pixels, (common::PixelBuffer{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(Loaded({file, "--channels", "4"}).input.pixels,
              (common::PixelBuffer{1, 2, 3, 255, 4, 5, 6, 255}));
    tests::write_bytes(folder / "b.pgm", "P5 1 1 255\n\x80");
    EXPECT_EQ(Loaded({(folder / "b.pgm").string(), "--bins", "65536"}).expected[0x8080], 1U);
}

TEST(Judge, NamesTheFirstCounterThatIsWrong) {
    const Loaded values({"--random", "1000", "--bins", "4096"});
    std::vector<std::uint32_t> counted = values.expected;
    common::Histogram result{};
    const auto judged = [&](const Loaded& by) {
        return said([&] { result = by.judge(counted, by.sum); });
    };
    EXPECT_EQ(judged(values), "");
    EXPECT_EQ(result, values.sum);
    // Neighbours of one bin of 256: their sum is right.
    ++counted[33];
    --counted[40];
    EXPECT_TRUE(
        has(judged(values), "2 of 4096 counters are wrong; the first is bin 33 of channel 0: "));
    EXPECT_EQ(result[2], values.sum[2] + 1);
    // The blue of another pixel.
    const Loaded rgb({"--random", "1000"});
    counted = rgb.expected;
    ++counted[512 + 9];
    EXPECT_TRUE(has(judged(rgb), "bin 9 of channel 2"));
    EXPECT_EQ(result[9], rgb.sum[9] + 1);
}

TEST(Plan, KeepsAsManyCopiesAsFit) {
    const DeviceLimits h100{.units = 132, .max_group_size = 1024, .local_bytes = 227 << 10};
    const auto plan_of = [&](const char* strategy, std::vector<std::string> words) {
        words.insert(words.end(), {"--random", "2M"});
        const Loaded values(words);
        return plan(strategy, values, values.options, h100, 1024);
    };
    EXPECT_EQ(plan_of("local", {}).slice.copies, 32U);
    EXPECT_EQ(plan_of("local", {"--bins", "4096"}).slice.copies, 8U);
    EXPECT_EQ(plan_of("local", {"--bins", "4096"}).groups, 132U);
    EXPECT_EQ(plan_of("local", {"--bins", "65536"}).unsupported_reason,
              "a table of 262144 bytes, and a group has 232448 of local memory");
    EXPECT_EQ(plan_of("local", {"--bins", "32768", "--groups", "513"}).unsupported_reason,
              "513 groups write rows of 32768 counters: more than 64 MiB");
    EXPECT_EQ(plan_of("passes", {}).slices, 3U);
    EXPECT_EQ(plan_of("passes", {"--bins", "65536"}).slices, 2U);
    EXPECT_EQ(plan_of("passes", {"--bins", "65536", "--passes", "8"}).slice.counters, 8192U);
    EXPECT_EQ(plan_of("cluster", {"--bins", "65536"}).slice.counters, 32768U);
    EXPECT_EQ(plan_of("cluster", {}).slice.counters, 512U);
    EXPECT_EQ(plan_of("cluster", {"--cluster", "8", "--groups", "17"}).groups, 16U);
}

}  // namespace
