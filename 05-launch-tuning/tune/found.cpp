#include "05-launch-tuning/tune/found.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "common/files/input_file.hpp"
#include "common/files/output_file.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"
#include "common/timing/timing.hpp"

namespace tuning {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "histogram-tutorials tuning 1";
// Some times what a search writes: a file beyond it is none of ours, and need not be read.
constexpr std::size_t kMaxBytes = 16 << 20;
constexpr std::size_t kMaxTrials = 10'000;

// A device may call itself anything; what is not UTF-8 is replaced rather than refused.
std::string dumped(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What becomes of a text that is written as JSON and read again.
std::string as_kept(const std::string& text) {
    return Json::parse(dumped(text)).get<std::string>();
}

void add_choice(Json& row, const Choice& choice) {
    row["kernel"] = choice.kernel->name;
    row["copies"] = choice.copies;
    row["loads"] = choice.loads;
    row["group_size"] = choice.group_size;
    row["groups_per_unit"] = choice.groups_per_unit;
}

Json json_of(const Trial& trial) {
    const bool measured = trial.outcome == Outcome::kMeasured;
    Json row;
    row["pixels"] = trial.pixels;
    add_choice(row, trial.choice);
    row["outcome"] = to_string(trial.outcome);
    row["worst_ms"] = measured ? Json(trial.worst_ms) : Json(nullptr);
    row["gb_s"] = measured ? Json(trial.gb_s()) : Json(nullptr);
    row["reason"] = trial.reason;
    return row;
}

Json json_of_best(const Trial& trial) {
    Json row;
    row["pixels"] = trial.pixels;
    add_choice(row, trial.choice);
    row["worst_ms"] = trial.worst_ms;
    row["gb_s"] = trial.gb_s();
    return row;
}

// The library turns -1, 2.5 and true into a whole number, each its own way. Here they are errors.
std::uint64_t whole_number(const Json& row, const char* key, std::uint64_t least,
                           std::uint64_t most) {
    const Json& value = row.at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least ||
        value.get<std::uint64_t>() > most) {
        throw common::BadInput(fmt::format("{} is {}, not a whole number from {} to {}", key,
                                           dumped(value), least, most));
    }
    return value.get<std::uint64_t>();
}

Choice choice_from(const Json& row) {
    Choice choice;
    choice.kernel = kernel_named(row.at("kernel").get<std::string>());
    if (choice.kernel == nullptr)
        throw common::BadInput(fmt::format("{} is no kernel", dumped(row.at("kernel"))));
    choice.copies =
        static_cast<unsigned>(whole_number(row, "copies", 1, choice.kernel->max_copies));
    if (!std::has_single_bit(choice.copies))
        throw common::BadInput(fmt::format("copies is {}, not a power of two", choice.copies));
    choice.loads = static_cast<unsigned>(whole_number(row, "loads", 1, choice.kernel->max_loads));
    choice.group_size = whole_number(row, "group_size", 1, 1U << 20);
    choice.groups_per_unit = whole_number(row, "groups_per_unit", 1, 1U << 16);
    return choice;
}

Outcome outcome_from(const Json& value) {
    for (const Outcome outcome :
         {Outcome::kMeasured, Outcome::kRefused, Outcome::kWrong, Outcome::kNotTried}) {
        if (value == to_string(outcome)) return outcome;
    }
    throw common::BadInput(fmt::format("{} is no outcome", dumped(value)));
}

Trial trial_from(const Json& row) {
    Trial trial;
    trial.choice = choice_from(row);
    trial.pixels = whole_number(row, "pixels", 1, std::uint64_t{1} << 32);
    trial.outcome = outcome_from(row.at("outcome"));
    trial.reason = row.at("reason").get<std::string>();
    if (trial.outcome == Outcome::kMeasured) {
        trial.worst_ms = row.at("worst_ms").get<double>();
        if (!(trial.worst_ms > 0) || !std::isfinite(trial.worst_ms))
            throw common::BadInput(fmt::format("worst_ms is {}, no time", trial.worst_ms));
    } else if (!row.at("worst_ms").is_null()) {
        throw common::BadInput("worst_ms is given for what was not measured");
    }
    return trial;
}

Tuning tuning_from(const Json& json) {
    if (json.at("format") != kFormat) {
        throw common::BadInput(
            fmt::format("its format is {}, not \"{}\"", dumped(json.at("format")), kFormat));
    }
    Tuning tuning;
    tuning.api = json.at("api").get<std::string>();
    tuning.device = json.at("device").get<std::string>();
    tuning.driver = json.at("driver").get<std::string>();
    tuning.date = json.at("date").get<std::string>();
    tuning.seconds = json.at("seconds").get<double>();
    if (!(tuning.seconds >= 0)) throw common::BadInput("seconds is less than none");
    const Json& trials = json.at("trials");
    if (!trials.is_array()) throw common::BadInput("trials is no array");
    if (trials.size() > kMaxTrials)
        throw common::BadInput(
            fmt::format("{} trials are more than any search has", trials.size()));
    for (const Json& row : trials)
        tuning.trials.push_back(trial_from(row));
    return tuning;
}

// As the base directory specification asks, a folder that is not given in full counts as none.
fs::path folder_from(const char* variable) {
    const char* value = std::getenv(variable);
    const fs::path folder = value == nullptr ? "" : value;
    return folder.is_absolute() ? folder : fs::path();
}

fs::path cache_folder() {
    if (fs::path folder = folder_from("XDG_CACHE_HOME"); !folder.empty()) return folder;
#if defined(_WIN32)
    return folder_from("LOCALAPPDATA");
#else
    const fs::path home = folder_from("HOME");
    if (home.empty()) return {};
#if defined(__APPLE__)
    return home / "Library" / "Caches";
#else
    return home / ".cache";
#endif
#endif
}

// Letters and digits, each run of other characters as one '-'.
std::string file_name_part(const std::string& text) {
    constexpr std::size_t kMax = 200;
    std::string name;
    for (const char c : text) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (plain) {
            name += c;
        } else if (!name.empty() && name.back() != '-') {
            name += '-';
        }
    }
    name.resize(std::min(name.size(), kMax));
    name.erase(name.find_last_not_of('-') + 1);
    return name;
}

}  // namespace

std::string to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::kMeasured:
            return "measured";
        case Outcome::kRefused:
            return "refused";
        case Outcome::kWrong:
            return "wrong";
        case Outcome::kNotTried:
            return "not tried";
    }
    return {};
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

const Trial* Tuning::best(std::uint64_t pixels, const std::vector<const Kernel*>& kernels) const {
    const Trial* best = nullptr;
    for (const Trial& trial : trials) {
        const bool wanted = kernels.empty() || std::find(kernels.begin(), kernels.end(),
                                                         trial.choice.kernel) != kernels.end();
        if (trial.pixels != pixels || trial.outcome != Outcome::kMeasured || !wanted) continue;
        if (best == nullptr || trial.worst_ms < best->worst_ms) best = &trial;
    }
    return best;
}

std::size_t Tuning::count(Outcome outcome) const {
    return static_cast<std::size_t>(
        std::count_if(trials.begin(), trials.end(),
                      [=](const Trial& trial) { return trial.outcome == outcome; }));
}

std::string to_json_text(const Tuning& tuning) {
    const auto line = [](const char* key, const Json& value) {
        return fmt::format("  \"{}\": {},\n", key, dumped(value));
    };
    // A line for each row: a search has a thousand of them, of ten fields.
    const auto array = [](const char* key, const std::vector<Json>& rows) {
        std::string lines;
        for (const Json& row : rows)
            lines += (lines.empty() ? "\n    " : ",\n    ") + dumped(row);
        return fmt::format("  \"{}\": [{}{}]", key, lines, lines.empty() ? "" : "\n  ");
    };
    std::vector<Json> best;
    for (const std::uint64_t pixels : tuning.sizes()) {
        if (const Trial* trial = tuning.best(pixels)) best.push_back(json_of_best(*trial));
    }
    std::vector<Json> trials;
    for (const Trial& trial : tuning.trials)
        trials.push_back(json_of(trial));
    return "{\n" + line("format", kFormat) + line("api", tuning.api) +
           line("device", tuning.device) + line("driver", tuning.driver) +
           line("date", tuning.date) + line("seconds", tuning.seconds) + array("best", best) +
           ",\n" + array("trials", trials) + "\n}\n";
}

Tuning from_json_text(const std::string& text) {
    try {
        return tuning_from(Json::parse(text));
    } catch (const std::exception& error) {
        throw common::BadInput(fmt::format("not the result of a search: {}", error.what()));
    }
}

fs::path file_of(const Facts& facts) {
    const fs::path folder = cache_folder();
    if (folder.empty()) return {};
    return folder / "histogram-tutorials" /
           (file_name_part(facts.api + '-' + facts.device + '-' + facts.driver) + ".json");
}

fs::path keep(const Facts& facts, const Tuning& tuning) {
    fs::path file = file_of(facts);
    if (file.empty()) {
        throw common::BadInput(
            "there is no folder to keep the tuning in: XDG_CACHE_HOME and the home folder are not "
            "set");
    }
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) {
        throw common::BadInput(
            fmt::format("cannot create {}: {}", file.parent_path().string(), error.message()));
    }
    common::write_whole(file, to_json_text(tuning));
    return file;
}

std::optional<Tuning> recall(const Facts& facts) {
    const fs::path file = file_of(facts);
    std::error_code ignored;
    if (file.empty() || !fs::exists(file, ignored)) return std::nullopt;
    try {
        Tuning tuning = from_json_text(common::read_whole(file, kMaxBytes));
        if (tuning.api != as_kept(facts.api) || tuning.device != as_kept(facts.device) ||
            tuning.driver != as_kept(facts.driver)) {
            throw common::BadInput("it belongs to another device or driver");
        }
        return tuning;
    } catch (const std::exception& error) {
        common::progress(fmt::format("warning: the tuning in {} is passed over: {}\n",
                                     common::shown(file.string()), error.what()));
        return std::nullopt;
    }
}

Choice choose(const std::optional<Tuning>& known, const Facts& facts, std::uint64_t pixels) {
    if (!known) return default_choice(facts, pixels);
    const auto distance = [&](std::uint64_t size) {
        return std::abs(std::log2(static_cast<double>(std::max(pixels, std::uint64_t{1}))) -
                        std::log2(static_cast<double>(size)));
    };
    std::vector<std::uint64_t> sizes = known->sizes();
    std::stable_sort(sizes.begin(), sizes.end(),
                     [&](std::uint64_t a, std::uint64_t b) { return distance(a) < distance(b); });
    for (const std::uint64_t size : sizes) {
        const Trial* best = known->best(size, facts.kernels);
        if (best != nullptr && objection(best->choice, facts).empty()) return best->choice;
    }
    return default_choice(facts, pixels);
}

}  // namespace tuning
