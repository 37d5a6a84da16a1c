/// @file
/// OpenCV's histogram, on one thread, where OpenCV was found.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/histogram/histogram.hpp"

#ifdef WITH_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace opencv {

#ifdef WITH_OPENCV

inline const std::string kVersion = std::string("OpenCV ") + CV_VERSION + ", one thread";

/// Why it cannot count these pixels exactly, whose right histogram is this: its counts come as
/// floats. Empty where it can.
inline std::string missing(const common::Histogram& expected) {
    if (common::total(expected) == 0) return "it takes no empty picture";
    if (common::total(expected) > 0x7fff'ffff) return "it takes no row of 2^31 pixels";
    for (const std::uint32_t count : expected) {
        if (static_cast<double>(static_cast<float>(count)) != count) {
            return "its counts are floats, and one of these needs more than their 24 bits";
        }
    }
    return {};
}

inline void count(std::span<const std::uint8_t> pixels, std::uint32_t* bins) {
    cv::setNumThreads(1);
    // A Mat of pixels that are not copied, and that nobody writes to.
    const cv::Mat image(1, static_cast<int>(pixels.size()), CV_8U,
                        const_cast<std::uint8_t*>(pixels.data()));
    const int channel = 0;
    const int number = common::kBins;
    const float range[] = {0, common::kBins};
    const float* ranges = range;
    cv::Mat counts;
    cv::calcHist(&image, 1, &channel, cv::noArray(), counts, 1, &number, &ranges);
    for (int bin = 0; bin < number; ++bin)
        bins[bin] = static_cast<std::uint32_t>(counts.at<float>(bin));
}

#else

inline const std::string kVersion;
inline std::string missing(const common::Histogram&) {
    return "not found when this was built (OpenCV's core and imgproc)";
}
inline void count(std::span<const std::uint8_t>, std::uint32_t*) {}

#endif

}  // namespace opencv
