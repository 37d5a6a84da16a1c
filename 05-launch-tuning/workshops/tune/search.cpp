#include "05-launch-tuning/workshops/tune/search.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <random>
#include <set>

#include "common/process/status.hpp"

namespace tuning {

// ---- what is found ------------------------------------------------------------------------------

std::string Trial::text() const {
    return fmt::format("{} cop{}, {} load{}, groups of {}, {} for each unit", launch.copies,
                       launch.copies == 1 ? "y" : "ies", launch.loads, launch.loads == 1 ? "" : "s",
                       launch.group_size, launch.groups_per_unit);
}

double Trial::gb_s() const {
    return common::gigabytes_per_second(static_cast<double>(pixels), worst_ms);
}

std::vector<std::uint64_t> Tuning::sizes() const {
    std::set<std::uint64_t> all;
    for (const Trial& trial : trials)
        all.insert(trial.pixels);
    return {all.begin(), all.end()};
}

const Trial* Tuning::best(std::uint64_t pixels) const {
    const Trial* best = nullptr;
    for (const Trial& trial : trials) {
        if (trial.pixels != pixels || trial.outcome != Outcome::kMeasured) continue;
        if (best == nullptr || trial.worst_ms < best->worst_ms) best = &trial;
    }
    return best;
}

std::size_t Tuning::count(Outcome outcome) const {
    return static_cast<std::size_t>(std::ranges::count(trials, outcome, &Trial::outcome));
}

// ---- the search ---------------------------------------------------------------------------------

namespace {

constexpr double kForSearch = 0.9;      // of the time; the rest is for the finals
constexpr std::size_t kFinalists = 12;  // at each size
constexpr int kFinalTurns = 9;

void run(Trial& trial, const Measure& measure) {
    trial.worst_ms = 0;
    try {
        const double ms = measure(trial.launch, trial.pixels);
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
            // A launch that was wrong or refused once stays so.
            if (trial->outcome != Outcome::kMeasured || !has_time()) continue;
            run(*trial, measure);
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
    using Sizes = std::vector<std::size_t>;
    Sizes group_sizes = device.cpu ? Sizes{64, 256} : Sizes{128, 256, 512, 1024};
    std::erase_if(group_sizes, [&](std::size_t size) { return size > device.max_group_size; });
    if (group_sizes.empty()) group_sizes = {device.max_group_size};
    std::vector<TunedLaunch> all;
    for (unsigned copies = 1; copies <= 32; copies *= 2)
        if (copies * sizeof(common::Histogram) <= device.local_bytes)
            for (const std::size_t group_size : group_sizes)
                for (unsigned loads = 1; loads <= 4; ++loads)
                    for (const std::size_t groups : device.cpu ? Sizes{1, 4} : Sizes{1, 2, 4, 8})
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
        run(trial, measure);
    };

    for (const std::span<Trial> of_size : sizes) {
        const TunedLaunch sound = rule_of_thumb(device, of_size.front().pixels);
        const auto at = std::find(configs.begin(), configs.end(), sound);
        if (at != configs.end()) try_out(of_size, static_cast<std::size_t>(at - configs.begin()));
    }
    std::vector<std::size_t> order(configs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937{1});
    for (std::size_t tried = 0; tried < order.size(); ++tried) {
        for (const std::span<Trial> of_size : sizes)
            try_out(of_size, order[tried]);
        if (tried % 64 == 0)
            common::progress(fmt::format("  {} of {} launches\n", tried + 1, order.size()));
    }
    for (const std::span<Trial> of_size : sizes)
        hold_finals(
            of_size, [&] { return clock() - start_s < budget_s; }, measure);
    tuning.seconds = clock() - start_s;
    return tuning;
}

}  // namespace tuning
