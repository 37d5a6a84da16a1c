// What the programs of many pictures share, without a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "05-launch-tuning/workshops/many/pictures.hpp"
#include "common/histogram/histogram.hpp"
#include "common/tests/support.hpp"

namespace {

using common::Histogram;
using common::kBins;
using tests::bad_input;
using tests::has;
using tests::said;
using namespace many;

// ---- sizes --------------------------------------------------------------------------------------

PictureOptions of_sides(const std::string& text) {
    PictureOptions pictures;
    parse_sides(text, pictures);
    return pictures;
}

TEST(Sides, AreOneOrARange) {
    EXPECT_EQ(of_sides("512").most_side, 512U);
    EXPECT_EQ(of_sides("64..2048").least_side, 64U);
    EXPECT_EQ(of_sides("64..2048").most_side, 2048U);
    for (const char* bad :
         {"", "0", "65536", "64..", "..64", "64..32", "64...65", "x", "64..65x"}) {
        EXPECT_TRUE(has(bad_input([&] { of_sides(bad); }), "--side: ")) << bad;
    }
}

TEST(Sizes, MakeUpAllPixels) {
    EXPECT_EQ(sizes(of_sides("4"), 9, 1, 40), (std::vector<std::uint64_t>{16, 16, 8}));
    EXPECT_EQ(sizes({}, 9, 1, 18), (std::vector<std::uint64_t>{9, 9}));
    EXPECT_EQ(sizes({}, 9, 1, 0), (std::vector<std::uint64_t>{0}));
    const std::vector<std::uint64_t> mixed = sizes(of_sides("2..50"), 9, 1, 1'000'000);
    EXPECT_EQ(std::reduce(mixed.begin(), mixed.end()), 1'000'000U);
    EXPECT_NE(mixed, sizes(of_sides("2..50"), 9, 2, 1'000'000));
    EXPECT_GT(std::count(mixed.begin(), mixed.end(), 0U), 5);
    EXPECT_GT(std::count(mixed.begin(), mixed.end(), 1U), 5);
}

// ---- shared out ---------------------------------------------------------------------------------

std::vector<std::uint64_t> begins(const std::vector<std::uint64_t>& sizes) {
    std::vector<std::uint64_t> first{0};
    for (const std::uint64_t size : sizes)
        first.push_back(first.back() + size);
    return first;
}

// Walks over the shares as the kernels do, and finds out whether each byte has one group, and each
// picture the groups and totals that its places say.
void expect_right(const std::vector<std::uint64_t>& first, std::size_t groups) {
    const std::vector<Place> places = share_out(first, groups);
    ASSERT_EQ(places.size(), groups + 1);
    std::vector<std::uint64_t> counted(first.size() - 1);
    std::vector<int> whole(first.size() - 1);
    std::map<std::uint64_t, std::uint32_t> parts;
    std::map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> told;
    std::uint64_t largest = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        const Place from = places[g];
        const Place to = places[g + 1];
        std::uint64_t cost = 0;
        const std::uint64_t behind = to.picture + (to.byte > first[to.picture] ? 1 : 0);
        for (std::uint64_t p = from.picture; p < behind; ++p) {
            const std::uint64_t begin = p == from.picture ? from.byte : first[p];
            const std::uint64_t end = p == to.picture ? to.byte : first[p + 1];
            ASSERT_LE(begin, end);
            ASSERT_EQ(begin, first[p] + counted[p]) << "a gap, or a byte twice";
            counted[p] += end - begin;
            cost += kTableCost + end - begin;
            if (begin == first[p] && end == first[p + 1]) {
                ++whole[p];
                continue;
            }
            const Place& cut = begin > first[p] ? from : to;
            if (parts[p]++ == 0) told[p] = {cut.first_group, cut.groups};
            EXPECT_EQ(told[p], std::pair(cut.first_group, cut.groups));
        }
        largest = std::max(largest, cost);
    }
    for (std::size_t p = 0; p + 1 < first.size(); ++p) {
        ASSERT_EQ(counted[p], first[p + 1] - first[p]) << p;
        ASSERT_EQ(whole[p], parts[p] == 0 ? 1 : 0) << p;
        if (parts[p] > 0) {
            EXPECT_EQ(told[p].second, parts[p]);
        }
    }
    // No two pictures use the totals of one group.
    std::vector<std::uint32_t> owners;
    for (const auto& [p, of] : told)
        owners.push_back(of.first);
    std::sort(owners.begin(), owners.end());
    EXPECT_EQ(std::adjacent_find(owners.begin(), owners.end()), owners.end());
    const std::uint64_t all = first.back() + (first.size() - 1) * kTableCost;
    EXPECT_LE(largest, all / groups * 3 / 2 + 2 * kTableCost + 256);
}

TEST(ShareOut, GivesEachByteToOneGroup) {
    std::mt19937_64 random(1);
    for (const std::size_t groups : {1U, 2U, 3U, 7U, 64U, 500U}) {
        expect_right(begins({0}), groups);
        expect_right(begins({1}), groups);
        expect_right(begins({100'000'000}), groups);
        expect_right(begins({0, 0, 0, 5'000'000, 0, 1, 0}), groups);
        expect_right(begins(std::vector<std::uint64_t>(300, 4096)), groups);
        for (int i = 0; i < 20; ++i) {
            std::vector<std::uint64_t> sizes(random() % 200 + 1);
            for (std::uint64_t& size : sizes)
                size = random() % 3 == 0 ? random() % 3 : random() % 1'000'000;
            expect_right(begins(sizes), groups);
        }
    }
}

// Each would cost two more tables.
TEST(ShareOut, CutsNoPictureThatIsMuchSmallerThanAShare) {
    for (const std::uint64_t size : {100U, 4096U, 65536U, 100'000U}) {
        const std::vector<std::uint64_t> first = begins(std::vector<std::uint64_t>(4000, size));
        const std::uint64_t cost = 4000 * (size + kTableCost);
        for (const Place& place : share_out(first, (cost + 299'999) / 300'000))
            EXPECT_EQ(place.byte, first[place.picture]) << size;
    }
    // In the usual launch a share of 512 x 512 is one picture, of 256 x 256 three or four.
    for (const std::uint64_t size : {65536U, 262144U}) {
        Batch batch;
        batch.first = begins(std::vector<std::uint64_t>(4'000'000'000 / size, size));
        const std::size_t groups = launches(batch, {}, {.units = 132}).shared.groups;
        for (const Place& place : share_out(batch.first, groups))
            ASSERT_EQ(place.byte, batch.first[place.picture]) << size;
        EXPECT_EQ(groups == batch.size(), size == 262144);
    }
}

TEST(Launches, SmallPicturesHaveSmallTables) {
    using Limits = DeviceLimits;
    const Limits usual{.max_group_size = 1024, .local_bytes = 48 << 10};
    const auto of = [](std::uint64_t size, const Limits& limits) {
        Batch batch;
        batch.first = begins(std::vector<std::uint64_t>(1000, size));
        return launches(batch, {}, limits).each.text();
    };
    EXPECT_EQ(of(4096, usual), "4 copies, 1 load, 1000 groups of 256");
    EXPECT_EQ(of(16384, usual), "32 copies, 1 load, 1000 groups of 256");
    EXPECT_EQ(of(65536, usual), "32 copies, 2 loads, 1000 groups of 512");
    EXPECT_EQ(of(65536, {.max_group_size = 128, .local_bytes = 48 << 10}),
              "32 copies, 2 loads, 1000 groups of 128");
    EXPECT_EQ(of(65536, {.max_group_size = 1024, .local_bytes = 32 << 10}),
              "16 copies, 2 loads, 1000 groups of 512");
    EXPECT_EQ(of(65536, {.cpu = true, .local_bytes = 48 << 10}),
              "one work-item, 3 loads, 1000 groups of 1");
}

TEST(ShareOut, DoesNotOverflow) {
    expect_right(begins({std::uint64_t{1} << 42, 7, std::uint64_t{1} << 42}), 100'003);
}

// ---- judging ------------------------------------------------------------------------------------

TEST(Batch, SaysWhichPictureIsWrong) {
    Batch batch;
    std::vector<std::uint32_t> rows;
    for (std::uint32_t p = 0; p < 5; ++p) {
        Histogram histogram{};
        histogram[p] = 10 + p;
        batch.add(10 + p, histogram);
        rows.insert(rows.end(), histogram.begin(), histogram.end());
    }
    Histogram result{};
    EXPECT_EQ(said([&] { batch.judge(rows.data(), result); }), "");
    EXPECT_EQ(result, batch.sum);
    // Two that are each in the other's row: the sum of all would be right.
    std::swap_ranges(rows.begin() + kBins, rows.begin() + 2 * kBins, rows.begin() + 3 * kBins);
    EXPECT_TRUE(has(said([&] { batch.judge(rows.data(), result); }),
                    "2 of 5 pictures are wrong; the first is number 1: 11 pixels from byte 10 on"));
    EXPECT_NE(result, batch.sum);
    EXPECT_EQ(result[1], 0U);
    EXPECT_EQ(result[3], 26U);
}

}  // namespace
