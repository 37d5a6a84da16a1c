#include "05-launch-tuning/workshops/tune/search.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <numeric>
#include <random>

#include "common/inputs/inputs.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/report.hpp"
#include "common/timing/timing.hpp"
#include "common/verify/watchdog.hpp"

namespace tuning {
namespace {

constexpr double kHopeless = 4;         // times the best so far: not worth a second run
constexpr double kForSearch = 0.9;      // of the time; the rest is for the finals
constexpr std::size_t kFinalists = 12;  // at each size
constexpr int kFinalTurns = 9;

void run(Trial& trial, double hopeless_ms, const Measure& measure) {
    trial.worst_ms = 0;
    try {
        const double ms = measure(trial.launch, trial.pixels, hopeless_ms);
        if (!(ms > 0) || !std::isfinite(ms))
            throw common::Unsupported(fmt::format("its clock says that it took {} ms", ms));
        trial.outcome = Outcome::kMeasured;
        trial.worst_ms = ms;
    } catch (const common::Unsupported& error) {
        trial.outcome = Outcome::kRefused;
        trial.reason = error.what();
    } catch (const Wrong& error) {
        trial.outcome = Outcome::kWrong;
        trial.reason = error.what();
        common::progress(fmt::format("  WRONG: {}: {}\n", trial.text(), trial.reason));
    } catch (...) {
        common::progress(fmt::format("  FAILED: {}\n", trial.text()));
        throw;
    }
}

// Of many short measurements the fastest is the luckiest. So those that came out best are measured
// again, in turns, and their medians decide.
void hold_finals(std::span<Trial> trials, const std::function<bool()>& has_time,
                 const Measure& measure) {
    std::vector<std::pair<Trial*, std::vector<double>>> finalists;
    for (Trial& trial : trials) {
        if (trial.outcome == Outcome::kMeasured) finalists.push_back({&trial, {}});
    }
    std::stable_sort(finalists.begin(), finalists.end(), [](const auto& a, const auto& b) {
        return a.first->worst_ms < b.first->worst_ms;
    });
    finalists.resize(std::min(finalists.size(), kFinalists));
    for (int turn = 0; turn < kFinalTurns; ++turn) {
        for (auto& [trial, times_ms] : finalists) {
            // What was wrong or refused once stays so, however it fares later.
            if (trial->outcome != Outcome::kMeasured || !has_time()) continue;
            run(*trial, std::numeric_limits<double>::infinity(), measure);
            if (trial->outcome == Outcome::kMeasured) times_ms.push_back(trial->worst_ms);
        }
    }
    for (auto& [trial, times_ms] : finalists) {
        if (trial->outcome == Outcome::kMeasured && !times_ms.empty())
            trial->worst_ms = common::summarize(times_ms).median_ms;
    }
}

}  // namespace

std::vector<TunedLaunch> candidates(const DeviceLimits& device) {
    using Some = std::vector<std::size_t>;
    Some group_sizes = device.cpu ? Some{64, 256} : Some{128, 256, 512, 1024};
    std::erase_if(group_sizes, [&](std::size_t size) { return size > device.max_group_size; });
    if (group_sizes.empty()) group_sizes = {device.max_group_size};
    std::vector<TunedLaunch> all;
    for (unsigned copies = 1; copies <= 32; copies *= 2)
        if (copies * sizeof(common::Histogram) <= device.local_bytes)
            for (const std::size_t group_size : group_sizes)
                for (unsigned loads = 1; loads <= 4; ++loads)
                    for (const std::size_t groups : device.cpu ? Some{1, 4} : Some{1, 2, 4, 8})
                        all.push_back({copies, loads, group_size, groups});
    return all;
}

std::vector<std::uint64_t> tuned_sizes(bool cpu, std::uint64_t most) {
    constexpr std::uint64_t kKi = 1024;
    constexpr std::uint64_t kMi = 1024 * kKi;
    std::vector<std::uint64_t> sizes{256 * kKi, 1 * kMi,   2 * kMi,   4 * kMi,
                                     16 * kMi,  128 * kMi, 1024 * kMi};
    if (cpu) sizes = {256 * kKi, 8 * kMi};
    while (sizes.size() > 1 && sizes.back() > most)
        sizes.pop_back();
    return sizes;
}

double steady_seconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

Tuning search(const DeviceLimits& device, const std::vector<std::uint64_t>& picture_sizes,
              double budget_s, const Measure& measure, const Clock& clock) {
    const double start_s = clock();
    const std::vector<TunedLaunch> configs = candidates(device);
    Tuning tuning{device, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))};
    for (const std::uint64_t pixels : picture_sizes)
        for (const TunedLaunch& config : configs)
            tuning.trials.push_back({config, pixels});
    std::vector<std::span<Trial>> sizes;
    for (std::size_t i = 0; i < tuning.trials.size(); i += configs.size())
        sizes.push_back(std::span(tuning.trials).subspan(i, configs.size()));
    const auto try_out = [&](std::span<Trial> of_size, std::size_t index) {
        Trial& trial = of_size[index];
        if (trial.outcome != Outcome::kNotTried) return;
        if (!(clock() - start_s < kForSearch * budget_s)) return;
        const Trial* best = tuning.best(of_size.front().pixels);
        run(trial,
            best == nullptr ? std::numeric_limits<double>::infinity() : kHopeless * best->worst_ms,
            measure);
    };

    for (const std::span<Trial> of_size : sizes) {
        const TunedLaunch sound = rule_of_thumb(device, of_size.front().pixels);
        const auto at = std::find(configs.begin(), configs.end(), sound);
        if (at != configs.end()) try_out(of_size, static_cast<std::size_t>(at - configs.begin()));
    }
    std::vector<std::size_t> order(configs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937{1});
    double next_word_s = 0;
    for (std::size_t tried = 0; tried < order.size(); ++tried) {
        for (const std::span<Trial> of_size : sizes)
            try_out(of_size, order[tried]);
        if (clock() - start_s < next_word_s) continue;
        next_word_s = clock() - start_s + 2;
        std::string rates;
        for (const std::span<Trial> of_size : sizes) {
            const Trial* best = tuning.best(of_size.front().pixels);
            rates += (rates.empty() ? "" : ", ") +
                     (best == nullptr ? "-" : common::number(best->gb_s()));
        }
        common::progress(fmt::format("  {} of {} launches; the best of each size so far: {} GB/s\n",
                                     tried + 1, order.size(), rates));
    }
    for (const std::span<Trial> of_size : sizes)
        hold_finals(
            of_size, [&] { return clock() - start_s < budget_s; }, measure);
    tuning.seconds = clock() - start_s;
    return tuning;
}

// ---- one launch on the test pictures ------------------------------------------------------------

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
double time_on(const TunedLaunch& config, std::uint64_t pixels, double hopeless_ms,
               std::size_t which, const TestPicture& picture, const RunInARow& run_in_a_row,
               std::uint64_t& part) {
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
    while (times_ms.size() < kRuns && times_ms.front() < hopeless_ms)
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
    return [&pictures, run_in_a_row, part = std::uint64_t{0}](
               const TunedLaunch& config, std::uint64_t pixels, double hopeless_ms) mutable {
        double worst_ms = 0;
        for (std::size_t which = 0; which < pictures.size() && worst_ms < hopeless_ms; ++which) {
            worst_ms = std::max(worst_ms, time_on(config, pixels, hopeless_ms, which,
                                                  pictures[which], run_in_a_row, part));
        }
        return worst_ms;
    };
}

}  // namespace tuning
