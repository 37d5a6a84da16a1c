#include "common/device/choice.hpp"

#include <gtest/gtest.h>

#include "common/tests/support.hpp"

namespace {

using common::device_by_text;

const std::vector<std::string> kNames{"AMD EPYC\nPortable Computing Language",
                                      "NVIDIA H200\nNVIDIA CUDA", "NVIDIA L4\nNVIDIA CUDA"};

std::string refused(const std::string& wanted) {
    return tests::bad_input([&] { device_by_text(wanted, kNames, "OpenCL"); });
}

TEST(DeviceChoice, ANumberIsAPlaceInTheList) {
    EXPECT_EQ(device_by_text("0", kNames, "OpenCL"), 0U);
    EXPECT_EQ(device_by_text("2", kNames, "OpenCL"), 2U);
    EXPECT_EQ(device_by_text("02", kNames, "OpenCL"), 2U);
}

TEST(DeviceChoice, TextIsPartOfAName) {
    EXPECT_EQ(device_by_text("EPYC", kNames, "OpenCL"), 0U);
    EXPECT_EQ(device_by_text("L4", kNames, "OpenCL"), 2U);
    EXPECT_EQ(device_by_text("Portable", kNames, "OpenCL"), 0U);
}

TEST(DeviceChoice, CaseDoesNotMatter) {
    EXPECT_EQ(device_by_text("epyc", kNames, "OpenCL"), 0U);
    EXPECT_EQ(device_by_text("nVidIA h200", kNames, "OpenCL"), 1U);
}

TEST(DeviceChoice, OfSeveralTheFirst) {
    EXPECT_EQ(device_by_text("NVIDIA", kNames, "OpenCL"), 1U);
}

TEST(DeviceChoice, ANumberBeyondTheListIsRefusedWithTheRange) {
    EXPECT_EQ(refused("3"), "--device 3: the OpenCL devices here are numbered 0 to 2");
    EXPECT_TRUE(tests::has(refused("99999999999999999999"), "numbered 0 to 2"));
}

TEST(DeviceChoice, ANameThatNoneHasIsRefused) {
    EXPECT_TRUE(tests::has(refused("voodoo"), "no OpenCL device is called 'voodoo'"));
    EXPECT_TRUE(tests::has(refused("voodoo"), "--list-devices"));
    EXPECT_TRUE(tests::has(refused("-1"), "'-1'"));
    EXPECT_TRUE(tests::has(refused("0x1"), "'0x1'"));
    EXPECT_TRUE(tests::has(refused("1 "), "'1 '"));
}

}  // namespace
