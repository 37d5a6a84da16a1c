#include "05-launch-tuning/workshops/tune/search.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <random>
#include <set>
#include <sstream>

#include "common/files/input_file.hpp"
#include "common/files/output_file.hpp"
#include "common/inputs/inputs.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/json.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "common/timing/timing.hpp"
#include "common/verify/watchdog.hpp"

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
            // What was wrong or refused once stays so, however it fares later.
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

// ---- the programs -------------------------------------------------------------------------------

namespace {

using common::Json;

std::string size_text(std::uint64_t pixels) {
    return pixels % (1 << 20) == 0 ? fmt::format("{} Mi pixels", pixels >> 20)
                                   : fmt::format("{} Ki pixels", pixels >> 10);
}

std::string summary_text(const Tuning& tuning) {
    std::vector<std::vector<std::string>> rows;
    for (const std::uint64_t pixels : tuning.sizes()) {
        const Trial* best = tuning.best(pixels);
        if (best == nullptr) {
            rows.push_back({size_text(pixels), "nothing was measured", "-", "-"});
            continue;
        }
        const TunedLaunch usual = rule_of_thumb(tuning.device, pixels);
        std::string percent = "-";
        for (const Trial& trial : tuning.trials)
            if (trial.pixels == pixels && trial.launch == usual &&
                trial.outcome == Outcome::kMeasured)
                percent = common::number(100 * best->worst_ms / trial.worst_ms);
        rows.push_back({size_text(pixels), best->text(), common::number(best->gb_s()), percent});
    }
    std::string text = common::text_table(
        {{"pictures of"}, {"the best launch"}, {"GB/s", true}, {"rule of thumb, % of it", true}},
        rows);
    text +=
        fmt::format("\n{} launches in {} s", tuning.trials.size(), common::number(tuning.seconds));
    for (std::size_t outcome = 0; outcome < kOutcomes.size(); ++outcome)
        if (const std::size_t count = tuning.count(static_cast<Outcome>(outcome)); count > 0)
            text += fmt::format(", {} {}", count, kOutcomes[outcome]);
    text += '\n';
    std::set<std::string> reasons;  // a few, each of them many times
    for (const Trial& trial : tuning.trials) {
        if (trial.outcome == Outcome::kWrong)
            text += fmt::format("  WRONG: {}, at {}: {}\n", trial.text(), size_text(trial.pixels),
                                trial.reason);
        if (trial.outcome == Outcome::kRefused) reasons.insert(trial.reason);
    }
    for (const std::string& reason : reasons)
        text += fmt::format("  refused: {}\n", reason);
    return text;
}

Json json_of(const Trial& trial) {
    const bool measured = trial.outcome == Outcome::kMeasured;
    return {{"pixels", trial.pixels},
            {"kernel", "replicated"},
            {"copies", trial.launch.copies},
            {"loads", trial.launch.loads},
            {"group_size", trial.launch.group_size},
            {"groups_per_unit", trial.launch.groups_per_unit},
            {"outcome", kOutcomes[static_cast<std::size_t>(trial.outcome)]},
            {"worst_ms", measured ? Json(trial.worst_ms) : Json(nullptr)},
            {"gb_s", measured ? Json(trial.gb_s()) : Json(nullptr)},
            {"reason", trial.reason}};
}

// docs/json.md describes the format.
std::string json_text(const Tuning& tuning) {
    Json best = Json::array(), trials = Json::array();
    for (const std::uint64_t pixels : tuning.sizes()) {
        if (const Trial* trial = tuning.best(pixels)) {
            best.push_back(json_of(*trial));
            best.back().erase("outcome");
            best.back().erase("reason");
        }
    }
    for (const Trial& trial : tuning.trials)
        trials.push_back(json_of(trial));
    const Json json{{"format", "histogram-tutorials tuning 2"},
                    {"api", tuning.device.api},
                    {"device", tuning.device.device},
                    {"driver", tuning.device.driver},
                    {"date", tuning.date},
                    {"seconds", tuning.seconds},
                    {"best", best},
                    {"trials", trials}};
    // A device may call itself anything; what is not UTF-8 is replaced rather than refused.
    return common::line_of(json, 1);
}

// Puts the best launches into the file that chapter 05 reads; what is there for other devices
// stays.
std::filesystem::path save(const Tuning& tuning) {
    const std::filesystem::path file = launches_file();
    if (file.empty())
        throw common::BadInput(
            "there is no folder to keep the tuning in: XDG_CACHE_HOME and the home folder are not "
            "set");
    const std::filesystem::path folder = file.parent_path();
    std::error_code error;
    create_directories(folder, error);
    if (error)
        throw common::BadInput(
            fmt::format("cannot create {}: {}", folder.string(), error.message()));
    std::string kept;
    std::istringstream before(exists(file) ? common::read_whole(file) : "");
    for (std::string line; std::getline(before, line);)
        if (!line.starts_with(key_of(tuning.device))) kept += line + '\n';
    for (const std::uint64_t pixels : tuning.sizes()) {
        const Trial* best = tuning.best(pixels);
        if (best == nullptr) continue;
        const TunedLaunch& launch = best->launch;
        kept += key_of(tuning.device) + fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", pixels,
                                                    launch.copies, launch.loads, launch.group_size,
                                                    launch.groups_per_unit, tuning.date);
    }
    common::write_whole(file, kept);
    return file;
}

}  // namespace

Request parse_request(int argc, const char* const* argv, const std::string& program) {
    Request request;
    std::string json;
    common::require_standard_output(program);
    CLI::App app("looks for the best launch of `tuned` on a device, and keeps it", program);
    app.add_option("--seconds", request.seconds,
                   fmt::format("how long it may search (default: {})", request.seconds))
        ->check(CLI::Range(0.1, 3600.0))
        ->type_name("S");
    app.add_option("--device", request.device, "a device by number or part of its name");
    app.add_flag("--list-devices", request.list_devices, "list the devices and stop");
    app.add_option("--json", json, "write all measurements as JSON")->type_name("FILE");
    for (const char* const of_a_search : {"--seconds", "--device", "--json"})
        app.get_option("--list-devices")->excludes(app.get_option(of_a_search));
    common::parse_command_line(app, argc, argv);
    if (std::isnan(request.seconds)) throw common::BadInput("--seconds: nan is no time");
    if (app.count("--json") > 0) {
        common::require_output_files({{"--json", json}}, {});
        request.json = json;
    }
    return request;
}

int finish(const Request& request, const Tuning& found) {
    const bool wrong = found.count(Outcome::kWrong) > 0;
    if (wrong) common::note_mismatch();
    common::print(fmt::format("05-launch-tuning, {} on {} ({})\n\n{}", found.device.api,
                              found.device.device, found.device.driver, summary_text(found)));
    if (request.json) common::write_whole(*request.json, json_text(found));
    if (found.count(Outcome::kMeasured) == 0) {
        common::progress("no launch could be measured; nothing is kept\n");
        return wrong ? common::kMismatch : common::kFailed;
    }
    common::print(fmt::format("\nkept for `tuned` in {}\n", common::shown(save(found).string())));
    return wrong ? common::kMismatch : common::kEveryVariantMatches;
}

}  // namespace tuning
