#include "common/options/options.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "common/process/status.hpp"
#include "common/tests/support.hpp"

namespace {

using common::Options;
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

Options parse(Arguments arguments, const common::Program& program = kProgram) {
    arguments.insert(arguments.begin(), "opencl");
    return common::parse_options(static_cast<int>(arguments.size()), arguments.data(), program);
}

std::string refusal(const Arguments& arguments, const common::Program& program = kProgram) {
    return tests::bad_input([&] { parse(arguments, program); });
}

std::string help_of(const common::Program& program) {
    testing::internal::CaptureStdout();
    EXPECT_THROW(parse({"--help"}, program), common::Finished);
    return testing::internal::GetCapturedStdout();
}

TEST(PixelCount, DigitsAndASuffixAsFarAsA32BitCountGoes) {
    const std::pair<const char*, std::uint64_t> all[] = {
        {"0", 0},
        {"007", 7},
        {"1K", 1024},
        {"3G", 3'221'225'472},
        {"4294967295", 4'294'967'295},
        {"4095M", 4'293'918'720},
    };
    for (const auto& [text, pixels] : all)
        EXPECT_EQ(parse({"--random", text}).random, pixels) << text;
    for (const std::string text : {"4294967296", "4G", "99999999999999999999", "17179869184G"})
        EXPECT_TRUE(tests::has(refusal({"--random", text.c_str()}),
                               "'" + text +
                                   "' is more pixels than a 32-bit count can hold, should all "
                                   "have one value: at most 4294967295"));
    for (const std::string text :
         {"", "K", "-5", "+5", "1.5M", "1k", "1KK", "1 K", " 1", "0x10", "1e6"})
        EXPECT_TRUE(tests::has(refusal({"--tile", text.c_str()}),
                               "'" + text + "' is not a number of pixels"));
    common::Program program = kProgram;  // one that takes more
    program.max_pixels = std::uint64_t{1} << 33;
    EXPECT_EQ(parse({"--random", "8G"}, program).random, 8'589'934'592U);
    EXPECT_TRUE(tests::has(refusal({"--random", "9G"}, program),
                           "'9G' is more pixels than this program takes: at most 8589934592"));
}

TEST(ParseOptions, EveryOptionArrives) {
    Options options = parse({});
    EXPECT_FALSE(options.image || options.tile || options.random || options.values ||
                 options.contention || options.constant || options.ramp || options.list_devices ||
                 options.kernels || options.repeat || options.group_size || options.groups ||
                 options.json || options.plot || options.choice("walk") || options.number("loads"));
    EXPECT_TRUE(options.read_ceiling && options.diagnosis);
    EXPECT_EQ(options.seed, 1U);
    EXPECT_EQ(options.device, "");
    EXPECT_EQ(options.launch_text(), "");
    EXPECT_EQ(parse({"--random=7"}).random, 7U);
    options = parse({"--ramp", "--device", "H200", "--list-devices", "--no-ceiling",
                     "--no-diagnosis", "--kernels", "mine.cl", "--walk", "blocked", "--group-size",
                     "64", "--loads", "1", "--groups", "2"});
    EXPECT_TRUE(options.ramp && options.list_devices);
    EXPECT_FALSE(options.read_ceiling || options.diagnosis);
    EXPECT_EQ(options.device, "H200");
    EXPECT_EQ(options.kernels, "mine.cl");
    EXPECT_EQ(options.choice("walk"), "blocked");
    EXPECT_EQ(options.number("loads"), 1U);
    EXPECT_EQ(options.launch_text(), "--groups 2 --group-size 64 --walk blocked --loads 1");
    options = parse({"--tile", "2M", "picture.bmp", "--variant", "global"});
    EXPECT_EQ(options.image, "picture.bmp");
    EXPECT_EQ(options.tile, 2U << 20);
    EXPECT_EQ(options.variants, Names{"global"});
}

TEST(ParseOptions, NumbersAreDecimalAndEachHasItsRange) {
    struct Number {
        const char* option;
        std::function<std::optional<std::uint64_t>(const Options&)> value;
        std::uint64_t least, most;
        std::vector<const char*> bad;
    };
    const std::vector<Number> all{
        {"--values", [](auto& o) { return o.values; }, 1, 256, {"0", "257", "four"}},
        {"--contention", [](auto& o) { return o.contention; }, 0, 100, {"101", "50%"}},
        {"--constant", [](auto& o) { return o.constant; }, 0, 255, {"256", "white"}},
        {"--seed",
         [](auto& o) { return o.seed; },
         0,
         ~std::uint64_t{0},
         {"18446744073709551616", "x"}},
        {"--group-size", [](auto& o) { return o.group_size; }, 1, 1 << 20, {"0", "1048577"}},
        {"--groups", [](auto& o) { return o.groups; }, 1, 1U << 31, {"0", "2147483649"}},
        {"--repeat", [](auto& o) { return o.repeat; }, 1, 1'000'000, {"0", "1000001"}},
        {"--time-limit", [](auto& o) { return o.time_limit; }, 10, 10, {"0"}},
    };
    for (const Number& number : all) {
        const std::string option = number.option;
        const auto with = [&](const char* text) {
            Arguments arguments{number.option, text};
            if (option == "--values" || option == "--contention")
                arguments.insert(arguments.end(), {"--random", "9"});
            return arguments;
        };
        EXPECT_EQ(number.value(parse(with("010"))), 10U) << option;
        for (const std::uint64_t end : {number.least, number.most})
            EXPECT_EQ(number.value(parse(with(std::to_string(end).c_str()))), end) << option;
        std::vector<const char*> bad{"0x10", "0b1", "1'0", "1_0", "+5", "5 ", "5.0", "", "-1"};
        bad.insert(bad.end(), number.bad.begin(), number.bad.end());
        for (const char* text : bad) {
            SCOPED_TRACE(option + " '" + text + "'");
            EXPECT_TRUE(tests::has(refusal(with(text)), option));
        }
    }
}

TEST(ParseOptions, Variants) {
    EXPECT_EQ(parse({"--variant", "all"}).variants, (Names{"global", "subhist"}));
    EXPECT_EQ(parse({"--variant", "racy"}).variants, Names{"racy"});
    const Options options = parse({"--variant", "subhist"});
    EXPECT_EQ(options.variants, Names{"subhist"});
    EXPECT_TRUE(options.wants("subhist"));
    EXPECT_FALSE(options.wants("global"));
    EXPECT_FALSE(options.wants("sub"));
    for (const std::string wanted : {"nosuch", "", "Global", "ALL", "glob", "global,subhist"})
        EXPECT_EQ(refusal({"--variant", wanted.c_str()}),
                  "unknown variant '" + wanted +
                      "': besides 'all' it has global, subhist and, broken on purpose, racy, late");
}

TEST(ParseOptions, WhatItCannotTakeIsNamed) {
    EXPECT_TRUE(tests::has(refusal({"--nosuch"}), "(--help lists the options)"));
    for (const Arguments& bad : std::vector<Arguments>{{"--nosuch"},
                                                       {"-x"},
                                                       {"two.bmp", "one.bmp"},
                                                       {"--random", "1", "--random", "2"},
                                                       {"--walk", "sideways"},
                                                       {"--walk", ""},
                                                       {"--loads", "2"}})
        EXPECT_TRUE(
            tests::has(refusal(bad), bad.size() == 2 && bad[0][0] != '-' ? bad[1] : bad[0]));
    // Line breaks stay out of the message, which `bad_input` sees to.
    refusal({"--no\nsuch"});
    refusal({"--repeat", "1\n2"});
    refusal({"--variant", "no\nsuch"});
}

TEST(ParseOptions, AnOptionThatMeansNothingToAProgram) {
    common::Program program = kProgram;
    program.unsupported = {{"--plot", "there is nothing to draw"}};
    EXPECT_EQ(refusal({"--plot", "x.png"}, program),
              "--plot means nothing here: there is nothing to draw");
    program.unsupported.push_back({"--group-size", "all have one"});
    for (const Arguments& bad : {Arguments{"--group-size", "0"}, Arguments{"--group-size=x"}})
        EXPECT_EQ(refusal(bad, program), "--group-size means nothing here: all have one");
    EXPECT_NO_THROW(parse({"--groups", "3"}, program));
    EXPECT_TRUE(tests::has(help_of(program), "--groups"));
    EXPECT_FALSE(tests::has(help_of(program), "--plot"));
}

TEST(ParseOptions, Contradictions) {
    for (const Arguments& pair : {Arguments{"--values", "4", "--contention", "1"},
                                  {"--values", "4", "--constant", "1"},
                                  {"--values", "4", "--ramp"},
                                  {"--contention", "1", "--constant", "1"},
                                  {"--contention", "1", "--ramp"},
                                  {"--constant", "1", "--ramp"},
                                  {"x.bmp"}}) {
        Arguments arguments{"--random", "9"};
        arguments.insert(arguments.end(), pair.begin(), pair.end());
        EXPECT_TRUE(tests::has(refusal(arguments), " excludes "));
    }
    EXPECT_TRUE(tests::has(refusal({"--values", "4"}), "--values requires --random"));
    EXPECT_TRUE(tests::has(refusal({"--contention", "4"}), "--contention requires --random"));
    EXPECT_TRUE(tests::has(refusal({"--tile", "9", "--random", "9"}), "excludes"));
    EXPECT_NO_THROW(parse({"--constant", "0", "--random", "17M"}));
    EXPECT_NO_THROW(parse({"--constant", "0", "--tile", "1K"}));
    EXPECT_NO_THROW(parse({"--random", "9", "--values", "4", "--seed", "3"}));
}

// (files_test.cpp has all the ways in which two names may be those of one file.)
TEST(ParseOptions, OutputFilesAreAskedForBeforeTheWork) {
    const tests::TemporaryFolder folder;
    const std::string mine = (folder / "mine").string();
    const std::string other = (folder / "other").string();
    const std::string nowhere = (folder / "nosuch" / "out").string();
    tests::write_bytes(mine, "kept");
    const Options options = parse({"--json", mine.c_str(), "--plot", other.c_str()});
    EXPECT_TRUE(options.json == mine && options.plot == other);
    for (const std::string option : {"--json", "--plot"}) {
        const char* const output = option.c_str();
        EXPECT_TRUE(tests::has(refusal({output, nowhere.c_str()}), "cannot write " + nowhere));
        const std::string same = " and " + option + " name the same file";
        EXPECT_EQ(refusal({mine.c_str(), output, mine.c_str()}), "IMAGE" + same);
        EXPECT_EQ(refusal({output, SAMPLE_PICTURE}), "the sample picture" + same);
        EXPECT_EQ(refusal({output, "/proc/self/exe"}), "this program" + same);
    }
    EXPECT_EQ(refusal({"--kernels", mine.c_str(), "--json", mine.c_str()}),
              "--kernels and --json name the same file");
    EXPECT_EQ(folder.names(), Names{"mine"});
    EXPECT_EQ(tests::bytes_of(mine), "kept");
    for (const char* option : {"--kernels", "--json"})
        EXPECT_EQ(refusal({option, ""}), std::string(option) + ": the name is empty");
}

// ---- the device ---------------------------------------------------------------------------------

const std::vector<std::string> kDevices{"AMD EPYC\nPortable Computing Language",
                                        "NVIDIA H200\nNVIDIA CUDA", "NVIDIA L4\nNVIDIA CUDA"};

std::string refused_device(const std::string& wanted) {
    return tests::bad_input([&] { common::device_by_text(wanted, kDevices, "OpenCL"); });
}

TEST(DeviceOption, ByNumberOrByPartOfAName) {
    const std::pair<const char*, std::size_t> all[] = {
        {"0", 0},    {"2", 2},           {"02", 2},       {"EPYC", 0},  {"L4", 2},
        {"epyc", 0}, {"nVidIA h200", 1}, {"Portable", 0}, {"NVIDIA", 1}};  // of several the first
    for (const auto& [wanted, device] : all)
        EXPECT_EQ(common::device_by_text(wanted, kDevices, "OpenCL"), device) << wanted;
}

TEST(DeviceOption, WhatNoneIsCalledIsRefused) {
    EXPECT_EQ(refused_device("3"), "--device 3: the OpenCL devices here are numbered 0 to 2");
    EXPECT_TRUE(tests::has(refused_device("99999999999999999999"), "numbered 0 to 2"));
    EXPECT_TRUE(tests::has(refused_device("voodoo"), "--list-devices"));
    for (const std::string wanted : {"voodoo", "-1", "0x1", "1 "})
        EXPECT_TRUE(
            tests::has(refused_device(wanted), "no OpenCL device is called '" + wanted + "'"));
}

}  // namespace
