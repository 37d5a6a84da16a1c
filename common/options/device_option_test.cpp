#include "common/options/device_option.hpp"

#include <gtest/gtest.h>

#include "common/tests/support.hpp"

namespace {

using common::device_by_text;

const std::vector<std::string> kNames{"AMD EPYC\nPortable Computing Language",
                                      "NVIDIA H200\nNVIDIA CUDA", "NVIDIA L4\nNVIDIA CUDA"};

std::string refused(const std::string& wanted) {
    return tests::bad_input([&] { device_by_text(wanted, kNames, "OpenCL"); });
}

TEST(DeviceOption, ByNumberOrByPartOfAName) {
    const std::pair<const char*, std::size_t> all[] = {
        {"0", 0},    {"2", 2},           {"02", 2},       {"EPYC", 0},  {"L4", 2},
        {"epyc", 0}, {"nVidIA h200", 1}, {"Portable", 0}, {"NVIDIA", 1}};  // of several the first
    for (const auto& [wanted, device] : all)
        EXPECT_EQ(device_by_text(wanted, kNames, "OpenCL"), device) << wanted;
}

TEST(DeviceOption, WhatNoneIsCalledIsRefused) {
    EXPECT_EQ(refused("3"), "--device 3: the OpenCL devices here are numbered 0 to 2");
    EXPECT_TRUE(tests::has(refused("99999999999999999999"), "numbered 0 to 2"));
    EXPECT_TRUE(tests::has(refused("voodoo"), "--list-devices"));
    for (const std::string wanted : {"voodoo", "-1", "0x1", "1 "})
        EXPECT_TRUE(tests::has(refused(wanted), "no OpenCL device is called '" + wanted + "'"));
}

}  // namespace
