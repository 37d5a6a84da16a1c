#include "05-launch-tuning/workshops/tune/search.hpp"

#include <fmt/format.h>

#include <cmath>

#include "common/verify/watchdog.hpp"

namespace tuning {

namespace {

// How many launches in a row make up a run, if one takes so long. A coarse clock may say that it
// takes no time at all.
std::size_t launches_of(double one_ms) {
    constexpr double kLongEnoughMs = 0.1;
    constexpr double kMax = 16;
    if (!(one_ms > 0)) return static_cast<std::size_t>(kMax);
    return static_cast<std::size_t>(std::clamp(std::ceil(kLongEnoughMs / one_ms), 1.0, kMax));
}

// The median of a few runs. `part` counts all launches of a search, so that each takes the part of
// its picture behind the one before: a small picture would otherwise come out of the cache that the
// launch before has filled.
double time_on(const TunedLaunch& config, std::uint64_t pixels, std::size_t which,
               const TestPicture& picture, const RunInARow& run_in_a_row, std::uint64_t& part) {
    constexpr int kRuns = 5;
    const auto run = [&](const std::vector<Stretch>& stretches) {
        common::Histogram result;
        const common::Deadline deadline(Trial{config, pixels}.text(),
                                        common::time_limit(pixels * stretches.size()));
        const double time_ms = run_in_a_row(config, which, stretches, result);
        const common::Comparison comparison =
            common::compare(picture.expected(stretches.back()), result);
        if (!comparison.match())
            throw Wrong(fmt::format("{} of {} bins wrong", comparison.wrong.size(), common::kBins));
        return time_ms / static_cast<double>(stretches.size());
    };
    const auto run_parts = [&](std::size_t launches) {
        std::vector<Stretch> stretches;
        while (stretches.size() < launches)
            stretches.push_back({part++ % (picture.pixels.size() / pixels) * pixels, pixels});
        return run(stretches);
    };
    run({{3, pixels - 8}});  // compiles, warms up, and has a head and a tail
    const double one_ms = run_parts(1);
    const std::size_t launches = launches_of(one_ms);
    std::vector<double> times_ms{launches == 1 ? one_ms : run_parts(launches)};
    while (times_ms.size() < kRuns)
        times_ms.push_back(run_parts(launches));
    return common::summarize(times_ms).median_ms;
}

TestPicture repeated(const common::PixelBuffer& period, std::uint64_t count) {
    TestPicture picture;
    picture.of_a_period = common::reference_histogram(period);
    picture.pixels.resize(count);
    for (std::uint64_t first = 0; first < count; first += period.size())
        std::copy(period.begin(), period.end(), &picture.pixels[first]);
    return picture;
}

}  // namespace

common::Histogram TestPicture::expected(const Stretch& stretch) const {
    const std::uint64_t end = stretch.first + stretch.count;
    const std::uint64_t before = stretch.first % kPeriod;
    const std::uint64_t behind = (kPeriod - end % kPeriod) % kPeriod;
    const std::uint64_t periods = (before + stretch.count + behind) / kPeriod;
    const common::Histogram head =
        common::reference_histogram({&pixels[stretch.first - before], before});
    const common::Histogram tail = common::reference_histogram({pixels.data() + end, behind});
    common::Histogram histogram{};
    for (std::size_t bin = 0; bin < common::kBins; ++bin)
        histogram[bin] =
            static_cast<std::uint32_t>(of_a_period[bin] * periods) - head[bin] - tail[bin];
    return histogram;
}

TestPictures test_pictures(std::uint64_t most) {
    return {repeated(common::uniform_pixels(TestPicture::kPeriod, 256, 1), most),
            repeated(common::constant_pixels(TestPicture::kPeriod, 127), most),
            repeated(common::ramp_pixels(TestPicture::kPeriod), most)};
}

Measure measure_on(const TestPictures& pictures, const RunInARow& run_in_a_row) {
    return [&pictures, run_in_a_row, part = std::uint64_t{0}](const TunedLaunch& config,
                                                              std::uint64_t pixels) mutable {
        double worst_ms = 0;
        for (std::size_t which = 0; which < pictures.size(); ++which)
            worst_ms = std::max(
                worst_ms, time_on(config, pixels, which, pictures[which], run_in_a_row, part));
        return worst_ms;
    };
}

}  // namespace tuning
