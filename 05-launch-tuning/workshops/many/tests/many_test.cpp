// What the programs of many pictures share, without a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "05-launch-tuning/workshops/many/folder.hpp"
#include "05-launch-tuning/workshops/many/pictures.hpp"
#include "05-launch-tuning/workshops/many/uses.hpp"
#include "common/histogram/histogram.hpp"
#include "common/image/image.hpp"
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
    PictureOptions some = of_sides("2..50");
    some.pictures = 77;
    EXPECT_EQ(sizes(some, 9, 1, 0).size(), 77U);
}

// ---- shared out ---------------------------------------------------------------------------------

std::vector<std::uint64_t> begins(const std::vector<std::uint64_t>& sizes, std::uint64_t offset) {
    std::vector<std::uint64_t> first{offset};
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
    const std::uint64_t all = first.back() - first.front() + (first.size() - 1) * kTableCost;
    EXPECT_LE(largest, all / groups * 3 / 2 + 2 * kTableCost + 256);
}

TEST(ShareOut, GivesEachByteToOneGroup) {
    std::mt19937_64 random(1);
    for (const std::size_t groups : {1U, 2U, 3U, 7U, 64U, 500U}) {
        expect_right(begins({0}, 0), groups);
        expect_right(begins({1}, 5), groups);
        expect_right(begins({100'000'000}, 3), groups);
        expect_right(begins({0, 0, 0, 5'000'000, 0, 1, 0}, 17), groups);
        expect_right(begins(std::vector<std::uint64_t>(300, 4096), 0), groups);
        for (int i = 0; i < 20; ++i) {
            std::vector<std::uint64_t> sizes(random() % 200 + 1);
            for (std::uint64_t& size : sizes)
                size = random() % 3 == 0 ? random() % 3 : random() % 1'000'000;
            expect_right(begins(sizes, random() % 300), groups);
        }
    }
}

// Each would cost two more tables.
TEST(ShareOut, CutsNoPictureThatIsMuchSmallerThanAShare) {
    for (const std::uint64_t size : {100U, 4096U, 65536U, 100'000U}) {
        const std::vector<std::uint64_t> first = begins(std::vector<std::uint64_t>(4000, size), 3);
        const std::uint64_t cost = 4000 * (size + kTableCost);
        for (const Place& place : share_out(first, (cost + 299'999) / 300'000))
            EXPECT_EQ(place.byte, first[place.picture]) << size;
    }
    // In the usual launch a share of 512 x 512 is one picture, of 256 x 256 three or four.
    for (const std::uint64_t size : {65536U, 262144U}) {
        Batch batch;
        batch.first = begins(std::vector<std::uint64_t>(4'000'000'000 / size, size), 0);
        const std::size_t groups = launches(batch, {}, {.units = 132}).shared.groups;
        for (const Place& place : share_out(batch.first, groups))
            ASSERT_EQ(place.byte, batch.first[place.picture]) << size;
        EXPECT_EQ(groups == batch.size(), size == 262144);
    }
}

TEST(Launches, SmallPicturesHaveSmallTables) {
    using Limits = tuning::DeviceLimits;
    const Limits usual{.max_group_size = 1024, .local_bytes = 48 << 10};
    const auto of = [](std::uint64_t size, const Limits& limits) {
        Batch batch;
        batch.first = begins(std::vector<std::uint64_t>(1000, size), 0);
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
    expect_right(begins({std::uint64_t{1} << 42, 7, std::uint64_t{1} << 42}, 0), 100'003);
}

// ---- judging ------------------------------------------------------------------------------------

TEST(Batch, SaysWhichPictureIsWrong) {
    Batch batch;
    batch.first = {3};
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
                    "2 of 5 pictures are wrong; the first is number 1: 11 pixels from byte 13 on"));
    EXPECT_NE(result, batch.sum);
    EXPECT_EQ(result[1], 0U);
    EXPECT_EQ(result[3], 26U);
}

TEST(Batch, RefusesSumsThatDoNotFit) {
    Batch batch;
    Histogram histogram{};
    histogram[9] = 0xFFFF'FFFF;
    batch.add(0xFFFF'FFFF, histogram);
    EXPECT_TRUE(has(bad_input([&] { batch.add(0xFFFF'FFFF, histogram); }), "of the value 9"));
}

// ---- files --------------------------------------------------------------------------------------

TEST(Rows, AreWrittenForNumPyAndAsCsv) {
    std::vector<Histogram> rows(2);
    rows[1][255] = 0x01020304;
    const std::string npy = npy_text(rows);
    ASSERT_EQ(npy.size(), 128 + 2 * sizeof(Histogram));
    EXPECT_EQ(npy.substr(1, 5), "NUMPY");
    EXPECT_TRUE(has(npy, "'shape': (2, 256), }"));
    EXPECT_EQ(npy[127], '\n');
    EXPECT_EQ(npy.substr(npy.size() - 4), "\x04\x03\x02\x01");
    const std::string csv = csv_text(rows, {"a", "b\"c"});
    EXPECT_TRUE(has(csv, "picture,pixels,0,1,2,"));
    EXPECT_TRUE(has(csv, ",255\n\"a\",0,0,0,"));
    EXPECT_TRUE(has(csv, "\n\"b\"\"c\",16909060,0,"));
    EXPECT_TRUE(has(csv_text(rows, {}), "\n1,16909060,0,"));
}

// ---- tiles --------------------------------------------------------------------------------------

TEST(Tiles, HaveEachPixelOnce) {
    for (const Tiles& tiles : {Tiles{7, 5, 3}, {4, 4, 2}, {2, 3, 8}, {1, 1, 4}, {100, 1, 7}}) {
        common::PixelBuffer pixels(tiles.width * tiles.height);
        std::iota(pixels.begin(), pixels.end(), std::uint8_t{0});
        common::PixelBuffer tiled = tiles.one_behind_the_other(pixels);
        const std::vector<std::uint64_t> sizes = tiles.sizes();
        EXPECT_EQ(sizes.size(), tiles.number * tiles.number);
        EXPECT_EQ(std::reduce(sizes.begin(), sizes.end()), pixels.size());
        std::sort(tiled.begin(), tiled.end());
        EXPECT_EQ(tiled, pixels);
    }
    const std::vector<std::uint8_t> four{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const common::PixelBuffer tiled = Tiles{4, 4, 2}.one_behind_the_other(four);
    EXPECT_EQ(std::vector<int>(tiled.begin(), tiled.begin() + 8),
              (std::vector<int>{1, 2, 5, 6, 3, 4, 7, 8}));
}

// Of one tile, whose pixels are these.
common::PixelBuffer equalized_alone(const common::PixelBuffer& pixels) {
    return equalized({pixels.size(), 1, 1}, pixels,
                     std::vector{common::reference_histogram(pixels)});
}

TEST(Equalized, SpreadsGreysThatLieTogether) {
    common::PixelBuffer pixels(25600);
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = static_cast<std::uint8_t>(100 + i % 100);
    const common::PixelBuffer after = equalized_alone(pixels);
    // 256 of each grey, 2.56 times the mean: none is cut.
    for (std::size_t i = 0; i < 100; ++i)
        EXPECT_NEAR(after[i], 255 * (static_cast<double>(i) + 0.5) / 100, 0.51);
    // Already even: nothing changes.
    std::iota(pixels.begin(), pixels.end(), std::uint8_t{0});
    EXPECT_EQ(equalized_alone(pixels), pixels);
}

TEST(Equalized, IsLimitedWhereAllIsOfOneGrey) {
    const common::PixelBuffer grey(1000, 40);
    EXPECT_NEAR(equalized_alone(grey)[0], 40, 3);
}

TEST(Equalized, ChangesGraduallyFromTileToTile) {
    // Left all greys of a half, right the other half: between the middles the map changes slowly.
    const Tiles tiles{512, 8, 2};
    common::PixelBuffer pixels(512 * 8);
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = static_cast<std::uint8_t>(i % 512 < 256 ? i % 128 : 128 + i % 128);
    std::vector<Histogram> histograms;
    const common::PixelBuffer tiled = tiles.one_behind_the_other(pixels);
    std::size_t begin = 0;
    for (const std::uint64_t size : tiles.sizes()) {
        histograms.push_back(common::reference_histogram(std::span(tiled).subspan(begin, size)));
        begin += size;
    }
    common::PixelBuffer flat(pixels.size(), 128);
    const common::PixelBuffer after = equalized(tiles, flat, histograms);
    for (std::size_t x = 1; x < 512; ++x) {
        EXPECT_LE(after[x], after[x - 1]);
        EXPECT_LE(after[x - 1] - after[x], 2);
    }
    EXPECT_GT(after[0], after[511] + 100);
    const std::string png = beside_png(tiles, pixels, after);
    EXPECT_EQ(png.substr(1, 3), "PNG");
}

TEST(Sheet, GoesFromDarkToBright) {
    std::vector<common::Picture> small;
    std::vector<Histogram> histograms;
    for (const std::uint8_t grey : std::vector<std::uint8_t>{200, 10, 90}) {
        small.push_back({8, 8, common::PixelBuffer(64, grey)});
        histograms.push_back(common::reference_histogram(small.back().pixels));
    }
    const std::size_t cell = sheet_cell(3);
    const common::Picture sheet =
        common::decode_picture(sheet_png(small, by_brightness(histograms)));
    ASSERT_EQ(sheet.width, 2 * cell);
    ASSERT_EQ(sheet.height, 2 * cell);
    const auto middle_of = [&](std::size_t column, std::size_t row) {
        return int{sheet.pixels[(row * cell + cell / 2) * sheet.width + column * cell + cell / 2]};
    };
    EXPECT_EQ(middle_of(0, 0), 10);
    EXPECT_EQ(middle_of(1, 0), 90);
    EXPECT_EQ(middle_of(0, 1), 200);
    EXPECT_GT(middle_of(1, 1), 240);
    for (const std::size_t pictures : {1U, 100U, 100'000U})
        EXPECT_LE(sheet_cell(pictures) * sheet_cell(pictures) * pictures, 110'000'000U);
}

TEST(Sheet, GoesFromOneToTheMostSimilar) {
    // So many pixels of a grey, and as many of another.
    const auto half = [](std::size_t one, std::size_t other, std::uint32_t pixels) {
        Histogram histogram{};
        histogram[one] += pixels;
        histogram[other] += pixels;
        return histogram;
    };
    EXPECT_TRUE(by_distance({}).empty());
    // The means are 100, 110, 120, 130; but the first is like the third.
    const std::vector<Histogram> of_two{half(0, 200, 5), half(109, 111, 9), half(20, 220, 1),
                                        half(130, 130, 2)};
    EXPECT_EQ(by_brightness(of_two), (std::vector<std::size_t>{0, 1, 2, 3}));
    EXPECT_EQ(by_distance(of_two), (std::vector<std::size_t>{0, 2, 1, 3}));
}

// ---- folders ------------------------------------------------------------------------------------

class Folder : public ::testing::Test {
 protected:
    // So many pictures; number n has n pixels of the value n and one more of 200.
    void fill(unsigned pictures) {
        for (unsigned n = 1; n <= pictures; ++n) {
            const std::string name = "p" + std::to_string(1000 + n) + ".bmp";
            std::vector<std::uint32_t> row(n, n % 200);
            row.push_back(200);
            tests::write_bytes(folder_ / name,
                               tests::bmp_file({.rows = {row}, .palette = tests::grey_palette()}));
        }
    }

    int count(const CountBatch& count_batch) {
        common::Options options;
        options.image = folder_.path();
        PictureOptions pictures;
        pictures.offset = 5;
        pictures.csv = csv_;
        pictures.files = common::pictures_in(folder_.path());
        struct Captured {
            explicit Captured(std::string& text) : into(text) {
                ::testing::internal::CaptureStdout();
            }
            ~Captured() { into = ::testing::internal::GetCapturedStdout(); }
            std::string& into;
        };
        const Captured captured(out_);
        int status = -1;
        said_ = said([&] {
            status = count_folder({"chapter", "program", "OpenCL", "", {}}, options, pictures, "d",
                                  "v", "shared-out", count_batch);
        });
        return status;
    }

    static void count_rightly(const Batch& batch, std::uint32_t* rows) {
        EXPECT_EQ(batch.first.front(), 5U);
        for (std::size_t p = 0; p < batch.size(); ++p) {
            const Histogram row = common::reference_histogram(
                batch.pixels.subspan(batch.first[p] - 5, batch.first[p + 1] - batch.first[p]));
            std::copy(row.begin(), row.end(), rows + p * kBins);
        }
    }

    tests::TemporaryFolder folder_;
    tests::TemporaryFolder elsewhere_;
    std::filesystem::path csv_ = elsewhere_ / "rows.csv";
    std::string said_, out_;
};

TEST_F(Folder, IsCountedInTheOrderOfItsNames) {
    fill(300);
    EXPECT_EQ(count(count_rightly), 0);
    EXPECT_EQ(said_, "");
    EXPECT_TRUE(has(out_, "300 pictures of 45450 pixels in all\n"));
    const std::string csv = tests::bytes_of(csv_);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 301);
    EXPECT_LT(csv.find("p1001.bmp\",2,"), csv.find("p1300.bmp\",301,"));
}

TEST_F(Folder, DamagedFilesAreNamedAndPassedOver) {
    fill(3);
    tests::write_bytes(folder_ / "p1002.bmp", "BM");
    tests::write_bytes(folder_ / "p1000.png", "no picture");
    EXPECT_EQ(count(count_rightly), 0);
    EXPECT_TRUE(has(said_, "skipped: " + (folder_ / "p1000.png").string() + ": not a picture"));
    EXPECT_TRUE(has(said_, "skipped: " + (folder_ / "p1002.bmp").string()));
    EXPECT_TRUE(has(out_, "2 pictures of 6 pixels in all; 2 could not be read\n"));
    EXPECT_FALSE(has(tests::bytes_of(csv_), "p1002"));
}

TEST_F(Folder, WithoutAPictureIsBadInput) {
    EXPECT_TRUE(has(bad_input([&] { count(count_rightly); }), "no .bmp"));
    tests::write_bytes(folder_ / "a.bmp", "BM");
    EXPECT_TRUE(has(bad_input([&] { count(count_rightly); }), "none of its 1 pictures"));
}

TEST_F(Folder, AWrongRowIsAMismatchAndWritesNoRows) {
    fill(3);
    EXPECT_EQ(count([](const Batch& batch, std::uint32_t* rows) {
                  count_rightly(batch, rows);
                  std::swap(rows[kBins + 2], rows[kBins + 3]);
              }),
              1);
    EXPECT_TRUE(has(said_, "1 of 3 pictures is wrong; the first is number 1, "));
    EXPECT_TRUE(has(said_, "p1002.bmp"));
    EXPECT_FALSE(std::filesystem::exists(csv_));
    // And one that nobody has written.
    EXPECT_EQ(count([](const Batch&, std::uint32_t*) {}), 1);
    EXPECT_TRUE(has(said_, "poison"));
}

TEST_F(Folder, AFailureEndsTheThreads) {
    fill(50);
    EXPECT_THROW(count([](const Batch&, std::uint32_t*) { throw std::bad_alloc(); }),
                 std::bad_alloc);
}

}  // namespace
