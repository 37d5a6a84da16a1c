#include "05-launch-tuning/tuned.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "05-launch-tuning/layout.hpp"
#include "common/files/input_file.hpp"
#include "common/options/whole_number.hpp"
#include "common/process/shown.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"

namespace tuning {

namespace fs = std::filesystem;

// ---- what there is ------------------------------------------------------------------------------

// clang-format off
const Kernel kReplicated{
    .name = "replicated", .function = "histogram_tuned",
    .max_group_size = 0, .max_copies = 32, .max_loads = 4,
    .pixels_a_load = 16, .bytes_a_copy = sizeof(common::Histogram), .bytes_an_item = 0,
    .on_gpus = {{128, 256, 512, 1024}, {1, 2, 4, 8}}, .on_cpus = {{64, 256}, {1, 4}}};
const Kernel kItemBins{
    .name = "item-bins", .function = "histogram_items",
    .max_group_size = 1, .max_copies = 1, .max_loads = 4,
    // Of the tables with four loads: TABLE words for each of PLACES in histogram.cl.
    .pixels_a_load = 4096, .bytes_a_copy = 0, .bytes_an_item = 8 * (sizeof(common::Histogram) + 32),
    .on_gpus = {}, .on_cpus = {{1}, {1, 2, 4, 8}}};
// clang-format on

namespace {

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = 1024 * kKi;

std::string counted(std::size_t count, const std::string& thing, const std::string& things) {
    return fmt::format("{} {}", count, count == 1 ? thing : things);
}

}  // namespace

std::string LaunchConfig::kernel_text() const {
    if (kernel->max_copies == 1) return kernel->name;
    return kernel->name + ", " + counted(copies, "copy", "copies");
}

std::string LaunchConfig::text() const {
    return fmt::format("{}, {}, groups of {}, {} for each unit", kernel_text(),
                       counted(loads, "load", "loads"), group_size, groups_per_unit);
}

std::string LaunchConfig::launch_text(std::size_t groups) const {
    return fmt::format("{}, {}, {} of {}", kernel_text(), counted(loads, "load", "loads"),
                       counted(groups, "group", "groups"), group_size);
}

std::string LaunchConfig::macros() const {
    return fmt::format("-DGROUP_X={} -DGROUP_Y=1 -DCOPIES={} -DLOADS={}", group_size, copies,
                       loads);
}

std::size_t LaunchConfig::groups(std::size_t units, std::uint64_t pixel_count) const {
    return groups_with_work(pixel_count, group_size, kernel->pixels_a_load * loads,
                            groups_per_unit * units);
}

std::string size_text(std::uint64_t pixels) {
    if (pixels > 0 && pixels % kMi == 0) return fmt::format("{} Mi pixels", pixels / kMi);
    if (pixels > 0 && pixels % kKi == 0) return fmt::format("{} Ki pixels", pixels / kKi);
    return fmt::format("{} pixels", pixels);
}

// ---- the command line ---------------------------------------------------------------------------

void add_options(CLI::App& app, TunedOptions& tuned, const common::Program& program) {
    // CUDA runs on no CPU.
    std::vector<std::string> names{kReplicated.name};
    if (program.api == "OpenCL") names.push_back(kItemBins.name);
    app.add_option("--kernel", tuned.kernel_name, "how `tuned` counts")
        ->check(CLI::IsMember(names))
        ->type_name("NAME");
    app.add_option("--copies", tuned.copies, "copies of the table in `tuned`")
        ->transform(common::whole_number(1, 32))
        ->check(CLI::IsMember({1U, 2U, 4U, 8U, 16U, 32U}))
        ->type_name("N");
    app.add_option("--loads", tuned.loads, "loads under way at once in `tuned`")
        ->transform(common::whole_number(1, kReplicated.max_loads))
        ->type_name("N");
    app.add_flag("--two-launches", tuned.two_launches,
                 "`tuned` as on devices without 64-bit atomics: zeroed before");
}

void check_options(TunedOptions& tuned, const common::Options& options) {
    if (!tuned.kernel_name.empty())
        tuned.kernel = tuned.kernel_name == kItemBins.name ? &kItemBins : &kReplicated;
    if (tuned.kernel != &kItemBins) return;
    // Said at once, and not when the strategies before `tuned` have run.
    if (tuned.copies.value_or(1) > 1) {
        throw common::BadInput(fmt::format("--copies is for --kernel {}: {} keeps one table",
                                           kReplicated.name, kItemBins.name));
    }
    if (options.group_size.value_or(1) > 1) {
        throw common::BadInput(fmt::format("--kernel {0}, groups of {1}: {0} takes at most 1",
                                           kItemBins.name, *options.group_size));
    }
}

common::Options parse_options(int argc, const char* const* argv, const common::Program& program,
                              TunedOptions& tuned,
                              const std::function<void(CLI::App& app)>& add_more) {
    common::Options options = common::parse_options(argc, argv, program, [&](CLI::App& app) {
        add_options(app, tuned, program);
        if (add_more) add_more(app);
    });
    check_options(tuned, options);
    return options;
}

// ---- without a search ---------------------------------------------------------------------------

std::string unsupported_reason(const LaunchConfig& config, const DeviceLimits& limits) {
    const Kernel& kernel = *config.kernel;
    const auto groups_of = [&](const std::string& most) {
        return fmt::format("groups of {}: {}", config.group_size, most);
    };
    if (std::find(limits.kernels.begin(), limits.kernels.end(), &kernel) == limits.kernels.end())
        return fmt::format("this program has no kernel '{}'", kernel.name);
    if (!std::has_single_bit(config.copies) || config.copies > kernel.max_copies ||
        config.loads < 1 || config.loads > kernel.max_loads || config.group_size < 1 ||
        config.groups_per_unit < 1)
        return "there is no such launch";
    if (config.group_size > limits.max_group_size)
        return groups_of(fmt::format("this device runs at most {}", limits.max_group_size));
    if (kernel.max_group_size > 0 && config.group_size > kernel.max_group_size)
        return groups_of(fmt::format("{} takes at most {}", kernel.name, kernel.max_group_size));
    if (config.local_bytes() > limits.local_bytes)
        return fmt::format("{} bytes of local memory: this device has {}", config.local_bytes(),
                           limits.local_bytes);
    if (limits.max_threads && config.group_size > limits.max_threads(config))
        return groups_of(fmt::format("its registers allow at most {}", limits.max_threads(config)));
    return {};
}

LaunchConfig largest_fitting(const Kernel& kernel, const DeviceLimits& limits) {
    constexpr unsigned kUsualLoads = 3;
    LaunchConfig largest{&kernel, kernel.max_copies, std::min(kUsualLoads, kernel.max_loads)};
    // Some is left of the local memory: a compiler may keep it for itself.
    while (largest.copies > 1 && (!unsupported_reason(largest, limits).empty() ||
                                  largest.local_bytes() == limits.local_bytes))
        largest.copies /= 2;
    for (const std::size_t group_size : kernel.launches(limits.cpu).group_sizes) {
        LaunchConfig larger = largest;
        larger.group_size = std::min(group_size, limits.max_group_size);
        if (unsupported_reason(larger, limits).empty()) largest = larger;
    }
    return largest;
}

LaunchConfig fallback(const DeviceLimits& limits, std::uint64_t pixel_count) {
    if (limits.cpu) {
        const LaunchConfig of_items = largest_fitting(kItemBins, limits);
        if (unsupported_reason(of_items, limits).empty()) return of_items;
    }
    LaunchConfig config = largest_fitting(kReplicated, limits);
    // A small picture has no second load for everybody.
    if (!limits.cpu && pixel_count < 8 * kMi) config.loads = 1;
    return config;
}

// ---- what a search has found --------------------------------------------------------------------

namespace {

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

}  // namespace

fs::path cache_file(const DeviceLimits& limits) {
    const fs::path folder = cache_folder();
    if (folder.empty()) return {};
    // Letters and digits, and '-' for what stands between them.
    std::string name;
    for (const char c : limits.api + '-' + limits.device + '-' + limits.driver) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (plain) name += c;
        if (!plain && !name.empty() && name.back() != '-') name += '-';
    }
    name.resize(std::min<std::size_t>(name.size(), 200));
    return folder / "histogram-tutorials" / (name + ".json");
}

std::optional<Cache> load(const DeviceLimits& limits) {
    const fs::path file = cache_file(limits);
    std::error_code ignored;
    if (file.empty() || !fs::exists(file, ignored)) return std::nullopt;
    try {
        const auto json = nlohmann::json::parse(common::read_whole(file));
        if (json.at("format") != kCacheFormat)
            throw common::BadInput("it is of another version of tune");
        if (json.at("api") != limits.api || json.at("device") != limits.device ||
            json.at("driver") != limits.driver)
            throw common::BadInput("it belongs to another device or driver");
        Cache cache{json.at("date").get<std::string>()};
        for (const auto& trial : json.at("trials")) {
            if (trial.at("outcome") != "measured") continue;
            for (const Kernel* kernel : limits.kernels) {
                if (trial.at("kernel") != kernel->name) continue;
                cache.launches.push_back({{kernel, trial.at("copies"), trial.at("loads"),
                                           trial.at("group_size"), trial.at("groups_per_unit")},
                                          trial.at("pixels"),
                                          trial.at("worst_ms")});
            }
        }
        return cache;
    } catch (const std::exception& error) {
        common::progress(fmt::format("warning: the tuning in {} is passed over: {}\n",
                                     common::shown(file.string()), common::shown(error.what())));
        return std::nullopt;
    }
}

LaunchConfig lookup(const std::optional<Cache>& cache, const DeviceLimits& limits,
                    std::uint64_t pixel_count) {
    if (!cache) return fallback(limits, pixel_count);
    const auto distance = [&](std::uint64_t size) {
        const auto log = [](std::uint64_t n) {
            return std::log2(static_cast<double>(std::max(n, std::uint64_t{1})));
        };
        return std::abs(log(pixel_count) - log(size));
    };
    const Cache::Measured* best = nullptr;
    for (const Cache::Measured& one : cache->launches) {
        const auto rank = [&](const Cache::Measured& of) {
            return std::pair(distance(of.pixels), of.worst_ms);
        };
        if (best != nullptr && rank(*best) <= rank(one)) continue;
        if (unsupported_reason(one.config, limits).empty()) best = &one;
    }
    return best != nullptr ? best->config : fallback(limits, pixel_count);
}

LaunchConfig resolve(const TunedOptions& tuned, const common::Options& options,
                     const DeviceLimits& limits, std::uint64_t pixel_count) {
    common::require_output_files(options.outputs(), {{"the result of tune", cache_file(limits)}});
    const std::optional<Cache> cache = load(limits);
    const LaunchConfig found = lookup(cache, limits, pixel_count);
    LaunchConfig config = found;
    // Only `replicated` has copies and groups of more than one work-item: --copies or a larger
    // --group-size asks for that kernel.
    const bool asks_for_it =
        tuned.copies || (found.kernel == &kItemBins && options.group_size.value_or(1) > 1);
    const Kernel* const kernel = tuned.kernel != nullptr ? tuned.kernel
                                 : asks_for_it           ? &kReplicated
                                                         : found.kernel;
    if (kernel != config.kernel) config = largest_fitting(*kernel, limits);
    config.copies = tuned.copies.value_or(config.copies);
    config.loads = tuned.loads.value_or(config.loads);
    config.group_size = options.group_size.value_or(config.group_size);
    const std::string wanted = config.text();
    while (config.copies > 1 && config.local_bytes() > limits.local_bytes)
        config.copies /= 2;
    while (!options.group_size && limits.max_threads && config.group_size > 1 &&
           config.group_size > limits.max_threads(config))
        config.group_size /= 2;
    if (const std::string reason = unsupported_reason(config, limits); !reason.empty())
        throw common::BadInput(fmt::format("tuned, {}: {}", config.text(), reason));
    if (config.text() != wanted)
        common::progress(fmt::format("  tuned: {} does not fit this device\n", wanted));
    const bool changed = config != found || options.groups;
    common::progress(fmt::format(
        "  tuned, {}: {} ({}{})\n", size_text(pixel_count), config.text(),
        cache ? "found by tune on " + cache->date : "the default, as tune has not run here",
        changed ? "; changed by the command line" : ""));
    return config;
}

}  // namespace tuning
