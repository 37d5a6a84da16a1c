#include "common/options/options.hpp"

#include <gtest/gtest.h>

#include "common/status/status.hpp"
#include "common/tests/support.hpp"

namespace {

using common::Options;
using common::parse_pixel_count;
using Names = std::vector<std::string>;
using Arguments = std::vector<const char*>;

const common::Program kProgram{"02-global-atomics",
                               "opencl",
                               "OpenCL",
                               "one counter for everyone",
                               {{"racy", "plain ++", true},
                                {"global", "one table"},
                                {"subhist", "one table per work-group"},
                                {"late", "too late", true}},
                               {{"walk", {"interleaved", "blocked"}, "how it reads"},
                                {"loads", {"0", "1", "4"}, "how much at once"}}};

Options parse(Arguments arguments) {
    arguments.insert(arguments.begin(), "opencl");
    return common::parse_options(static_cast<int>(arguments.size()), arguments.data(), kProgram);
}

std::string quoted(const std::string& text) {
    std::string quotes = "'";
    return quotes.append(text).append("'");
}

std::string refusal(const Arguments& arguments) {
    return tests::bad_input([&] { parse(arguments); });
}

TEST(Refused, AnOptionThatMeansNothingToAProgram) {
    common::Program program = kProgram;
    program.unsupported = {{"--plot", "there is nothing to draw"}};
    const auto parse_with = [&](const char* word, const char* value) {
        const Arguments arguments{"opencl", word, value};
        common::parse_options(static_cast<int>(arguments.size()), arguments.data(), program);
    };
    EXPECT_EQ(tests::bad_input([&] { parse_with("--plot", "x.png"); }),
              "--plot means nothing here: there is nothing to draw");
    EXPECT_NO_THROW(parse_with("--groups", "3"));
    testing::internal::CaptureStdout();
    EXPECT_THROW(parse_with("--help", "--help"), common::Finished);
    const std::string help = testing::internal::GetCapturedStdout();
    EXPECT_TRUE(tests::has(help, "--groups"));
    EXPECT_FALSE(tests::has(help, "--plot"));
}

// ---- numbers of pixels ------------------------------------------------------------------------

TEST(PixelCount, DigitsAndASuffix) {
    EXPECT_EQ(parse_pixel_count("0"), 0U);
    EXPECT_EQ(parse_pixel_count("1"), 1U);
    EXPECT_EQ(parse_pixel_count("007"), 7U);
    EXPECT_EQ(parse_pixel_count("1K"), 1024U);
    EXPECT_EQ(parse_pixel_count("0G"), 0U);
    EXPECT_EQ(parse_pixel_count("100M"), 104'857'600U);
    EXPECT_EQ(parse_pixel_count("3G"), 3'221'225'472U);
}

TEST(PixelCount, AsManyAsA32BitCountHolds) {
    EXPECT_EQ(parse_pixel_count("4294967295"), 4'294'967'295U);
    EXPECT_EQ(parse_pixel_count("4194303K"), 4'294'966'272U);
    EXPECT_EQ(parse_pixel_count("4095M"), 4'293'918'720U);
}

TEST(PixelCount, OneMoreIsRefused) {
    for (const char* text : {"4294967296", "4194304K", "4096M", "4G", "5G", "99999999999999999999",
                             "99999999999999999999G", "18446744073709551615",
                             "18446744073709551616", "17179869184G"}) {
        SCOPED_TRACE(text);
        const std::string message = tests::bad_input([&] { parse_pixel_count(text); });
        EXPECT_TRUE(tests::has(message, quoted(text)));
        EXPECT_TRUE(tests::has(message, "32-bit"));
        EXPECT_TRUE(tests::has(message, "at most 4294967295"));
    }
}

TEST(PixelCount, AProgramMayTakeMore) {
    EXPECT_EQ(parse_pixel_count("5G", std::uint64_t{1} << 33), 5'368'709'120U);
    const std::string message =
        tests::bad_input([] { parse_pixel_count("9G", std::uint64_t{1} << 33); });
    EXPECT_TRUE(
        tests::has(message, "'9G' is more pixels than this program takes: at most 8589934592"));
    common::Program program = kProgram;
    program.max_pixels = std::uint64_t{1} << 33;
    const Arguments arguments{"opencl", "--random", "8G"};
    EXPECT_EQ(common::parse_options(3, arguments.data(), program).random, 8'589'934'592U);
}

TEST(PixelCount, AnythingElseIsRefused) {
    for (const char* text : {"", "K", "-5", "+5", "1.5M", "100Q", "1k", "1KK", "1 K", " 1", "1 ",
                             "0x10", "1e6", "five", "M1"}) {
        SCOPED_TRACE(text);
        EXPECT_TRUE(tests::has(tests::bad_input([&] { parse_pixel_count(text); }),
                               quoted(text) + " is not a number of pixels"));
    }
}

// ---- every option -----------------------------------------------------------------------------

TEST(ParseOptions, WithoutArguments) {
    const Options options = parse({});
    EXPECT_FALSE(options.image);
    EXPECT_FALSE(options.tile);
    EXPECT_FALSE(options.random);
    EXPECT_FALSE(options.values);
    EXPECT_FALSE(options.contention);
    EXPECT_FALSE(options.constant);
    EXPECT_FALSE(options.ramp);
    EXPECT_EQ(options.seed, 1U);
    EXPECT_EQ(options.variants, (Names{"global", "subhist"}));
    EXPECT_EQ(options.device, "");
    EXPECT_FALSE(options.list_devices);
    EXPECT_FALSE(options.group_size);
    EXPECT_FALSE(options.groups);
    EXPECT_FALSE(options.repeat);
    EXPECT_TRUE(options.read_ceiling);
    EXPECT_TRUE(options.diagnosis);
    EXPECT_FALSE(options.kernels);
    EXPECT_FALSE(options.json);
    EXPECT_FALSE(options.plot);
    EXPECT_FALSE(options.counts);
}

TEST(ParseOptions, EveryOptionArrives) {
    EXPECT_EQ(parse({"picture.bmp"}).image, std::optional<std::filesystem::path>("picture.bmp"));
    EXPECT_EQ(parse({"picture.bmp", "--tile", "2M"}).tile, std::optional<std::uint64_t>(2 << 20));
    EXPECT_EQ(parse({"--random", "4K"}).random, std::optional<std::uint64_t>(4096));
    EXPECT_EQ(parse({"--random", "0"}).random, std::optional<std::uint64_t>(0));
    EXPECT_EQ(parse({"--random=7"}).random, std::optional<std::uint64_t>(7));
    EXPECT_EQ(parse({"--random", "9", "--values", "4"}).values, std::optional<unsigned>(4));
    EXPECT_EQ(parse({"--random", "9", "--contention", "90"}).contention,
              std::optional<unsigned>(90));
    EXPECT_EQ(parse({"--constant", "127"}).constant, std::optional<unsigned>(127));
    EXPECT_TRUE(parse({"--ramp"}).ramp);
    EXPECT_EQ(parse({"--seed", "42"}).seed, 42U);
    EXPECT_EQ(parse({"--device", "H200"}).device, "H200");
    EXPECT_EQ(parse({"--device", "1"}).device, "1");
    EXPECT_TRUE(parse({"--list-devices"}).list_devices);
    EXPECT_EQ(parse({"--group-size", "256"}).group_size, std::optional<std::size_t>(256));
    EXPECT_EQ(parse({"--groups", "1000"}).groups, std::optional<std::size_t>(1000));
    EXPECT_EQ(parse({"--repeat", "5"}).repeat, std::optional<int>(5));
    EXPECT_FALSE(parse({"--no-ceiling"}).read_ceiling);
    EXPECT_FALSE(parse({"--no-diagnosis"}).diagnosis);
    EXPECT_EQ(parse({"--kernels", "mine.cl"}).kernels,
              std::optional<std::filesystem::path>("mine.cl"));
}

TEST(ParseOptions, AProgramsOwnChoices) {
    EXPECT_FALSE(parse({}).choice("walk"));
    EXPECT_FALSE(parse({}).number("loads"));
    EXPECT_TRUE(parse({}).choices.empty());
    const Options options = parse({"--loads", "0", "--walk", "blocked"});
    EXPECT_EQ(options.choice("walk"), "blocked");
    EXPECT_EQ(options.number("loads"), 0U);
    for (const Arguments& arguments :
         std::vector<Arguments>{{"--walk", "sideways"}, {"--walk", ""}, {"--loads", "2"}}) {
        EXPECT_TRUE(tests::has(refusal(arguments), arguments[0]));
    }
}

TEST(ParseOptions, WhatWasAskedForOfTheLaunch) {
    EXPECT_EQ(parse({"--random", "9", "--repeat", "5"}).launch_text(), "");
    EXPECT_EQ(parse({"--walk", "blocked", "--group-size", "64", "--loads", "1", "--groups", "2"})
                  .launch_text(),
              "--groups 2 --group-size 64 --walk blocked --loads 1");
}

TEST(ParseOptions, TheEndsOfEveryRange) {
    EXPECT_EQ(parse({"--random", "9", "--values", "1"}).values, std::optional<unsigned>(1));
    EXPECT_EQ(parse({"--random", "9", "--values", "256"}).values, std::optional<unsigned>(256));
    EXPECT_EQ(parse({"--random", "9", "--contention", "0"}).contention, std::optional<unsigned>(0));
    EXPECT_EQ(parse({"--random", "9", "--contention", "100"}).contention,
              std::optional<unsigned>(100));
    EXPECT_EQ(parse({"--constant", "0"}).constant, std::optional<unsigned>(0));
    EXPECT_EQ(parse({"--constant", "255"}).constant, std::optional<unsigned>(255));
    EXPECT_EQ(parse({"--seed", "0"}).seed, 0U);
    EXPECT_EQ(parse({"--seed", "18446744073709551615"}).seed, 18446744073709551615U);
    EXPECT_EQ(parse({"--repeat", "1"}).repeat, std::optional<int>(1));
    EXPECT_EQ(parse({"--group-size", "1"}).group_size, std::optional<std::size_t>(1));
    EXPECT_EQ(parse({"--groups", "2147483648"}).groups, std::optional<std::size_t>(1U << 31));
}

TEST(ParseOptions, GeneratorsGoWithANumberOfPixels) {
    EXPECT_NO_THROW(parse({"--constant", "0", "--random", "17M"}));
    EXPECT_NO_THROW(parse({"--constant", "0", "--tile", "1K"}));
    EXPECT_NO_THROW(parse({"--ramp", "--random", "70001"}));
    EXPECT_NO_THROW(parse({"--random", "9", "--values", "4", "--seed", "3"}));
}

TEST(ParseOptions, OptionsStandInAnyOrder) {
    const Options options = parse({"--tile", "1M", "picture.bmp", "--variant", "global"});
    EXPECT_EQ(options.image, std::optional<std::filesystem::path>("picture.bmp"));
    EXPECT_EQ(options.variants, Names{"global"});
}

// ---- variants ---------------------------------------------------------------------------------

TEST(ParseOptions, AllIsEveryVariantThatIsNotBroken) {
    EXPECT_EQ(parse({"--variant", "all"}).variants, (Names{"global", "subhist"}));
}

TEST(ParseOptions, AVariantByName) {
    const Options options = parse({"--variant", "subhist"});
    EXPECT_EQ(options.variants, Names{"subhist"});
    EXPECT_TRUE(options.wants("subhist"));
    EXPECT_FALSE(options.wants("global"));
    EXPECT_FALSE(options.wants("sub"));
}

TEST(ParseOptions, ABrokenVariantRunsWhenItIsNamed) {
    EXPECT_EQ(parse({"--variant", "racy"}).variants, Names{"racy"});
    EXPECT_EQ(parse({"--variant", "late"}).variants, Names{"late"});
}

TEST(ParseOptions, AnUnknownVariantIsToldTheNames) {
    for (const char* wanted : {"nosuch", "", "Global", "ALL", "glob", "global,subhist"}) {
        EXPECT_EQ(refusal({"--variant", wanted}),
                  "unknown variant " + quoted(wanted) +
                      ": besides 'all' it has global, subhist and, broken on purpose, racy, late");
    }
}

TEST(ParseOptions, AProgramWithoutBrokenVariantsNamesNone) {
    common::Program sound = kProgram;
    sound.variants = {{"global", "one table"}};
    const Arguments arguments{"opencl", "--variant", "nosuch"};
    EXPECT_EQ(tests::bad_input([&] { common::parse_options(3, arguments.data(), sound); }),
              "unknown variant 'nosuch': besides 'all' it has global");
}

// ---- errors: one line that names what is wrong --------------------------------------------------

TEST(ParseOptions, WhatItDoesNotKnowIsNamed) {
    EXPECT_TRUE(tests::has(refusal({"--nosuch"}), "--nosuch"));
    EXPECT_TRUE(tests::has(refusal({"-x"}), "-x"));
    EXPECT_TRUE(tests::has(refusal({"one.bmp", "two.bmp"}), "two.bmp"));
    EXPECT_TRUE(tests::has(refusal({"--nosuch"}), "(--help lists the options)"));
}

TEST(ParseOptions, AMissingValueIsNamed) {
    for (const char* option :
         {"--tile", "--random", "--values", "--contention", "--constant", "--seed", "--variant",
          "--device", "--group-size", "--groups", "--repeat", "--json", "--plot", "--counts"}) {
        EXPECT_TRUE(tests::has(refusal({option}), option));
    }
}

TEST(ParseOptions, AValueOutOfRangeIsNamed) {
    struct Bad {
        const char* option;
        std::vector<const char*> values;
    };
    const std::vector<Bad> all{
        {"--values", {"0", "257", "-1", "1.5", "four", ""}},
        {"--contention", {"101", "-1", "50%", ""}},
        {"--constant", {"256", "-1", "white", ""}},
        {"--seed", {"-1", "18446744073709551616", "1.5", "x", ""}},
        {"--group-size", {"0", "-1", "1048577", "x", ""}},
        {"--groups", {"0", "-1", "2147483649", "x", ""}},
        {"--repeat", {"0", "-1", "1000001", "1.5", "x", ""}},
        {"--random", {"-5", "5G", "100Q", "K", ""}},
        {"--tile", {"-5", "5G", "100Q", "K", ""}},
    };
    for (const Bad& bad : all) {
        for (const char* value : bad.values) {
            SCOPED_TRACE(testing::Message() << bad.option << " '" << value << "'");
            EXPECT_TRUE(tests::has(refusal({bad.option, value}), bad.option));
        }
    }
}

TEST(ParseOptions, AnOptionTwiceIsNamed) {
    EXPECT_TRUE(tests::has(refusal({"--random", "1", "--random", "2"}), "--random"));
}

TEST(ParseOptions, LineBreaksInArgumentsStayOutOfTheMessage) {
    refusal({"--no\nsuch"});
    refusal({"--repeat", "1\n2"});
    refusal({"--variant", "no\nsuch"});
    refusal({"--random", "1\n2"});
}

TEST(ParseOptions, Contradictions) {
    const std::vector<Arguments> generators{{"--values", "4", "--contention", "10"},
                                            {"--values", "4", "--constant", "1"},
                                            {"--values", "4", "--ramp"},
                                            {"--contention", "10", "--constant", "1"},
                                            {"--contention", "10", "--ramp"},
                                            {"--constant", "1", "--ramp"}};
    for (Arguments arguments : generators) {
        arguments.insert(arguments.end(), {"--random", "9"});
        EXPECT_EQ(refusal(arguments),
                  "--values, --contention, --constant and --ramp exclude each other");
    }
    for (const Arguments& arguments :
         {Arguments{"x.bmp", "--random", "9"}, Arguments{"x.bmp", "--constant", "1"},
          Arguments{"x.bmp", "--ramp"}, Arguments{"x.bmp", "--values", "4"}}) {
        EXPECT_TRUE(tests::has(refusal(arguments), "an IMAGE and generated pixels"));
    }
    EXPECT_TRUE(tests::has(refusal({"--values", "4"}), "need --random N"));
    EXPECT_TRUE(tests::has(refusal({"--contention", "4"}), "need --random N"));
    EXPECT_TRUE(tests::has(refusal({"--tile", "9", "--random", "9"}), "--tile repeats a picture"));
}

// ---- --help and output files ------------------------------------------------------------------

TEST(ParseOptions, HelpIsPrintedAndIsTheEnd) {
    testing::internal::CaptureStdout();
    EXPECT_THROW(parse({"--help"}), common::Finished);
    const std::string help = testing::internal::GetCapturedStdout();
    for (const char* part : {"02-global-atomics/opencl",
                             "one counter for everyone",
                             "IMAGE",
                             "--tile",
                             "--random",
                             "--values",
                             "--contention",
                             "--constant",
                             "--ramp",
                             "--seed",
                             "--variant",
                             "--device",
                             "--list-devices",
                             "--group-size",
                             "--groups",
                             "--repeat",
                             "--no-ceiling",
                             "--json",
                             "--plot",
                             "--counts",
                             "plain ++ (broken on purpose)",
                             "one table per work-group\n",
                             "Exit status"}) {
        EXPECT_TRUE(tests::has(help, part));
    }
    for (const char* inner : {"{false}", "TEXT ", ":TEXT"})  // what the parser thinks of them
        EXPECT_EQ(help.find(inner), std::string::npos) << help;
}

TEST(ParseOptions, OutputFilesAreAskedForBeforeTheWork) {
    const tests::TemporaryFolder folder;
    const std::string json = (folder / "out.json").string();
    const std::string plot = (folder / "out.png").string();
    const std::string counts = (folder / "out.csv").string();
    const Options options =
        parse({"--json", json.c_str(), "--plot", plot.c_str(), "--counts", counts.c_str()});
    EXPECT_EQ(options.counts, std::optional<std::filesystem::path>(counts));
    EXPECT_EQ(options.json, std::optional<std::filesystem::path>(json));
    EXPECT_EQ(options.plot, std::optional<std::filesystem::path>(plot));
    EXPECT_EQ(folder.names(), Names{});

    const std::string nowhere = (folder / "nosuch" / "out").string();
    for (const char* option : {"--json", "--plot", "--counts"}) {
        EXPECT_TRUE(tests::has(refusal({option, nowhere.c_str()}), "cannot write " + nowhere));
        EXPECT_TRUE(tests::has(refusal({option, folder.path().c_str()}), "it is a folder"));
        EXPECT_TRUE(tests::has(refusal({option, ""}), "the name is empty"));
    }
}

TEST(ParseOptions, NumbersAreDecimal) {
    EXPECT_EQ(parse({"--random", "010"}).random, std::optional<std::uint64_t>(10));
    EXPECT_EQ(parse({"--random", "9", "--values", "010"}).values, std::optional<unsigned>(10));
    EXPECT_EQ(parse({"--random", "9", "--contention", "010"}).contention,
              std::optional<unsigned>(10));
    EXPECT_EQ(parse({"--constant", "010"}).constant, std::optional<unsigned>(10));
    EXPECT_EQ(parse({"--seed", "010"}).seed, 10U);
    EXPECT_EQ(parse({"--group-size", "010"}).group_size, std::optional<std::size_t>(10));
    EXPECT_EQ(parse({"--groups", "010"}).groups, std::optional<std::size_t>(10));
    EXPECT_EQ(parse({"--repeat", "010"}).repeat, std::optional<int>(10));
    EXPECT_EQ(parse({"--time-limit", "010"}).time_limit, std::optional<unsigned>(10));
    for (const char* const text : {"0x10", "0b1", "1'0", "1_0", "+5", "5 ", "5.0", "", "-1"}) {
        EXPECT_THROW(parse({"--repeat", text}), common::BadInput) << text;
    }
}

TEST(ParseOptions, TwoOutputsInOneFileAreRefused) {
    const tests::TemporaryFolder folder;
    const std::string name = (folder / "out").string();
    const std::string same = (folder / "." / "out").string();
    const std::vector<std::string> options{"--json", "--plot", "--counts"};
    for (std::size_t i = 0; i < options.size(); ++i) {
        for (std::size_t j = i + 1; j < options.size(); ++j) {
            EXPECT_TRUE(tests::has(
                refusal({options[i].c_str(), name.c_str(), options[j].c_str(), same.c_str()}),
                options[i] + " and " + options[j] + " name the same file"));
        }
    }
    EXPECT_EQ(folder.names(), Names{});
}

}  // namespace
