#include "05-launch-tuning/tuning/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "common/files/output_file.hpp"
#include "common/inputs/inputs.hpp"
#include "common/status/status.hpp"
#include "common/timing/timing.hpp"

namespace tuning {
namespace {

TestPicture repeated(common::PixelBuffer period, std::uint64_t count) {
    TestPicture picture;
    picture.of_a_period = common::reference_histogram(period);
    picture.pixels.resize(count);
    for (std::uint64_t first = 0; first < count; first += period.size()) {
        std::copy(period.begin(), period.end(),
                  picture.pixels.begin() + static_cast<std::ptrdiff_t>(first));
    }
    return picture;
}

// How many launches in a row make up a run, if one takes so long. A coarse clock may say that it
// takes no time at all.
std::size_t launches_of(double one_ms) {
    constexpr double kLongEnoughMs = 0.1;
    constexpr double kMost = 16;
    if (!(one_ms > 0)) return static_cast<std::size_t>(kMost);
    return static_cast<std::size_t>(std::clamp(std::ceil(kLongEnoughMs / one_ms), 1.0, kMost));
}

// The median of a few runs. `part` counts all launches of a search, so that each takes the part of
// its picture behind the one before: a small picture would otherwise come out of the cache that the
// launch before has filled.
double time_on(const Choice& choice, std::uint64_t pixels, double hopeless_ms, std::size_t which,
               const TestPicture& picture, const RunInARow& run_in_a_row, std::uint64_t& part) {
    constexpr int kRuns = 5;
    const common::Histogram expected = picture.expected(pixels);
    const auto run = [&](std::size_t launches) {
        std::vector<Picture> parts;
        while (parts.size() < launches) {
            const std::uint64_t first = part++ % (picture.pixels.size() / pixels) * pixels;
            parts.push_back({first, pixels, pixels, pixels});
        }
        common::Histogram result;
        const double time_ms = run_in_a_row(choice, which, parts, result);
        if (const common::Comparison comparison = common::compare(expected, result);
            !comparison.match()) {
            throw Wrong(fmt::format("{} of {} bins wrong", comparison.wrong.size(), common::kBins));
        }
        return time_ms / static_cast<double>(launches);
    };
    run(1);  // compiles, warms up
    const double one_ms = run(1);
    const std::size_t launches = launches_of(one_ms);
    std::vector<double> times_ms{launches == 1 ? one_ms : run(launches)};
    while (times_ms.size() < kRuns && times_ms.front() < hopeless_ms)
        times_ms.push_back(run(launches));
    return common::summarize(times_ms).median_ms;
}

}  // namespace

common::Histogram TestPicture::expected(std::uint64_t count) const {
    common::Histogram histogram = of_a_period;
    for (std::uint32_t& bin : histogram)
        bin *= static_cast<std::uint32_t>(count / kPeriod);
    return histogram;
}

TestPictures test_pictures(const Facts& facts) {
    const std::uint64_t most = tuned_sizes(facts).back();
    return {repeated(common::uniform_pixels(TestPicture::kPeriod, 256, 1), most),
            repeated(common::constant_pixels(TestPicture::kPeriod, 127), most),
            repeated(common::ramp_pixels(TestPicture::kPeriod), most)};
}

Measure measure_on(const TestPictures& pictures, const RunInARow& run_in_a_row) {
    return [&pictures, run_in_a_row, part = std::uint64_t{0}](
               const Choice& choice, std::uint64_t pixels, double hopeless_ms) mutable {
        double worst_ms = 0;
        for (std::size_t which = 0; which < pictures.size() && worst_ms < hopeless_ms; ++which) {
            worst_ms = std::max(worst_ms, time_on(choice, pixels, hopeless_ms, which,
                                                  pictures[which], run_in_a_row, part));
        }
        return worst_ms;
    };
}

int run(const Arguments& arguments, const Facts& facts, const TestPictures& pictures,
        const RunInARow& run_in_a_row) {
    const Tuning found = tune(facts, arguments.seconds, measure_on(pictures, run_in_a_row));
    fmt::print("{}", heat_map_text(found));
    if (found.count(Outcome::kMeasured) == 0) {
        fmt::print(stderr, "no launch could be measured; nothing is remembered\n");
        return common::kMismatch;
    }
    // A search that had hardly any time does not replace one that had more.
    const std::size_t missing = found.count(Outcome::kNotTried);
    const std::optional<Tuning> old =
        2 * missing > found.trials.size() ? recall(facts) : std::nullopt;
    const bool keeps_old = old && old->count(Outcome::kMeasured) > found.count(Outcome::kMeasured);
    const std::filesystem::path kept = keeps_old ? memory_file(facts) : remember(facts, found);
    std::filesystem::path picture = kept;
    picture.replace_extension(".png");
    if (arguments.common.plot) picture = *arguments.common.plot;
    if (!keeps_old || arguments.common.plot) common::write_whole(picture, heat_map_png(found));
    if (arguments.common.json) common::write_whole(*arguments.common.json, to_json_text(found));
    if (missing > 0) {
        fmt::print("\n{} of {} launches were not tried: --seconds gives a search more time\n",
                   missing, found.trials.size());
    }
    if (keeps_old) {
        fmt::print("an earlier search had more time; its result stays in {}\n", kept.string());
    } else {
        fmt::print("\nremembered for `tuned` in {}\nthe heat map: {}\n", kept.string(),
                   picture.string());
    }
    return found.count(Outcome::kWrong) > 0 ? common::kMismatch : common::kEveryVariantMatches;
}

}  // namespace tuning
