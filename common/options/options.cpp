#include "common/options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

#include "common/files/files.hpp"
#include "common/process/status.hpp"

namespace common {
namespace {

// What `--variant` means for this program: its names in order, or why there are none such.
std::vector<std::string> chosen_variants(const Program& program, const std::string& wanted) {
    std::vector<std::string> sound;
    std::vector<std::string> broken;
    for (const Variant& variant : program.variants) {
        if (variant.name == wanted) return {wanted};
        (variant.broken_on_purpose ? broken : sound).emplace_back(variant.name);
    }
    if (wanted == "all") return sound;
    std::string valid = fmt::format("{}", fmt::join(sound, ", "));
    if (!broken.empty())
        valid += fmt::format(" and, broken on purpose, {}", fmt::join(broken, ", "));
    throw BadInput(fmt::format("unknown variant '{}': besides 'all' it has {}", wanted, valid));
}

bool takes_a_file(const CLI::Option& option) {
    return option.get_name() == "IMAGE" || option.get_type_name() == "FILE";
}

// Those that the command line names, and the sample picture.
std::vector<NamedFile> files_of(const CLI::App& app) {
    std::vector<NamedFile> files{{"the sample picture", SAMPLE_PICTURE},
                                 {"this program", program_path()}};
    for (const CLI::Option* option : app.get_options()) {
        if (!takes_a_file(*option)) continue;
        for (const std::string& path : option->results()) {
            if (path.empty()) throw BadInput(option->get_name() + ": the name is empty");
            files.push_back({option->get_name(), path});
        }
    }
    return files;
}

std::string variants_help(const Program& program) {
    std::size_t width = 0;
    for (const Variant& variant : program.variants)
        width = std::max(width, variant.name.size());
    std::string text = "Variants:\n";
    for (const Variant& variant : program.variants)
        text += fmt::format("  {:{}}  {}{}\n", variant.name, width, variant.summary,
                            variant.broken_on_purpose ? " (broken on purpose)" : "");
    text +=
        "\nExit status: 0 every variant run matches the CPU, 1 one does not, 2 bad arguments or\n"
        "input, 77 nothing to run it on. docs/command-line.md says more.\n";
    return text;
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

}  // namespace

std::string Program::path() const {
    return fmt::format("{}/{}", chapter, name);
}

bool Options::wants(std::string_view variant) const {
    return std::find(variants.begin(), variants.end(), variant) != variants.end();
}

std::optional<std::string> Options::choice(std::string_view name) const {
    const auto given = choices.find(name);
    return given == choices.end() ? std::nullopt : std::optional(given->second);
}

std::optional<unsigned> Options::number(std::string_view name) const {
    const std::optional<std::string> given = choice(name);
    return given ? std::optional(static_cast<unsigned>(std::stoul(*given))) : std::nullopt;
}

std::string Options::launch_text() const {
    std::vector<std::string> parts;
    if (groups) parts.push_back(fmt::format("--groups {}", *groups));
    if (group_size) parts.push_back(fmt::format("--group-size {}", *group_size));
    parts.insert(parts.end(), program_options.begin(), program_options.end());
    return fmt::format("{}", fmt::join(parts, " "));
}

// A number of pixels: digits and an optional K, M or G (powers of 1024).
static CLI::Validator pixel_count(std::uint64_t most) {
    return {[most](std::string& text) -> std::string {
                std::uint64_t number = 0;
                const char* const end = text.data() + text.size();
                const auto [rest, error] = std::from_chars(text.data(), end, number);
                const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
                const int shift = suffix.empty()  ? 0
                                  : suffix == "K" ? 10
                                  : suffix == "M" ? 20
                                  : suffix == "G" ? 30
                                                  : -1;
                if (rest == text.data() || shift < 0)
                    return fmt::format(
                        "'{}' is not a number of pixels: digits and an optional K, M or G "
                        "(powers of 1024)",
                        text);
                if (error != std::errc() || number > (most >> shift))
                    return fmt::format("'{}' is more pixels than {}: at most {}", text,
                                       most == kMaxPixels
                                           ? "a 32-bit count can hold, should all have one value"
                                           : "this program takes",
                                       most);
                text = std::to_string(number << shift);
                return {};
            },
            {}};
}

// A whole number in decimal. (CLI11 alone would read 010 as 8.)
static CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
    return {[least, most](std::string& text) -> std::string {
                std::uint64_t number = 0;
                const char* const end = text.data() + text.size();
                const auto [rest, error] = std::from_chars(text.data(), end, number);
                if (text.empty() || rest != end || error != std::errc() || number < least ||
                    number > most) {
                    return fmt::format("'{}' is not a whole number from {} to {}", text, least,
                                       most);
                }
                text = std::to_string(number);
                return {};
            },
            fmt::format("in [{} - {}]", least, most)};
}

void parse_command_line(CLI::App& app, int argc, const char* const* argv,
                        const std::string& after_the_help) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        // Not as CLI11's footer: newer versions fill its lines, and the columns are gone.
        print(app.help() + after_the_help);
        throw Finished();
    } catch (const CLI::ParseError& error) {
        std::string text = error.what();
        text.erase(text.find_last_not_of('\n') + 1);
        throw BadInput(text + " (--help lists the options)");
    }
}

Options parse_options(int argc, const char* const* argv, const Program& program,
                      const std::function<void(CLI::App& app)>& add_more) {
    require_standard_output(program.path());
    Options options;
    std::string variant = "all";
    CLI::App app(fmt::format("{} ({}): {}", program.chapter, program.api, program.summary),
                 program.path());
    const auto option = [&](const char* name, auto& value, const char* what, const char* type) {
        return app.add_option(name, value, what)->type_name(type);
    };
    const auto number = [&](const char* name, auto& value, const char* what, std::uint64_t least,
                            std::uint64_t most, const char* type) {
        return option(name, value, what, type)->transform(whole_number(least, most));
    };
    const auto pixels = [&](const char* name, auto& value, const char* what) {
        return option(name, value, what, "N")->transform(pixel_count(program.max_pixels));
    };
    CLI::Option* const image =
        option("IMAGE", options.image,
               "a BMP, PNG, JPEG, PGM or PPM picture (default: the sample picture)", "");
    CLI::Option* const tile =
        pixels("--tile", options.tile, "repeat the picture up to N pixels (N takes K, M or G)");
    CLI::Option* const random = pixels("--random", options.random,
                                       "N random pixels, uniform over 0..255, instead of a picture")
                                    ->excludes(image)
                                    ->excludes(tile);
    CLI::Option* const generators[] = {
        number("--values", options.values, "with --random: draw from 0..K-1", 1, 256, "K")
            ->needs(random),
        number("--contention", options.contention, "with --random: make P percent one value", 0,
               100, "P")
            ->needs(random),
        number("--constant", options.constant, "pixels that all have the value V", 0, 255, "V"),
        app.add_flag("--ramp", options.ramp, "pixels 0, 1, 2, ... 255, 0, 1, ...")};
    for (CLI::Option* const one : generators) {
        one->excludes(image);
        for (CLI::Option* const other : generators)
            if (other != one) one->excludes(other);
    }
    number("--seed", options.seed, "seed of the generated pixels", 0,
           std::numeric_limits<std::uint64_t>::max(), "S");
    option("--variant", variant, "the strategy to run, or all", "NAME");
    option("--device", options.device, "a device by number or part of its name", "N|NAME");
    app.add_flag("--list-devices", options.list_devices, "list the devices and stop");
    number("--group-size", options.group_size,
           "work-items per work-group (CUDA: threads per block)", 1, std::uint64_t{1} << 20, "N");
    number("--groups", options.groups, "work-groups (CUDA: blocks; C++: threads)", 1,
           std::uint64_t{1} << 31, "N");
    number("--repeat", options.repeat, "timed runs (default: until the median is stable)", 1,
           1'000'000, "N");
    number("--time-limit", options.time_limit,
           "seconds that one run may take (default: 60, and more for more pixels)", 1, 86'400, "S");
    if (program.api == "OpenCL")
        option("--kernels", options.kernels, "a file of kernels in place of histogram.cl", "FILE");
    if (program.api != "C++")
        app.add_flag_callback(
            "--no-diagnosis", [&] { options.diagnosis = false; },
            "do not look for the reason of a result that is wrong");
    app.add_flag_callback(
        "--no-ceiling", [&] { options.read_ceiling = false; }, "do not measure the read ceiling");
    option("--json", options.json, "write the results as JSON", "FILE");
    option("--plot", options.plot, "write the picture beside its histogram as a PNG", "FILE");
    const std::size_t of_all_programs = app.get_options().size();
    for (const Choice& choice : program.choices) {
        const std::string name(choice.name);
        app.add_option("--" + name, options.choices[name], std::string(choice.summary))
            ->check(
                CLI::IsMember(std::vector<std::string>(choice.values.begin(), choice.values.end())))
            ->type_name(fmt::format("{}", fmt::join(choice.values, "|")));
    }
    if (add_more) add_more(app);
    for (const UnsupportedOption& one : program.unsupported)
        app.get_option(std::string(one.option))->group("");  // it is not in the help

    // Before its value is looked at: that means nothing either.
    for (const auto& [name, reason] : program.unsupported) {
        for (int i = 1; i < argc; ++i) {
            const std::string_view word = argv[i];
            if (word == name || word.starts_with(fmt::format("{}=", name)))
                throw BadInput(fmt::format("{} means nothing here: {}", name, reason));
        }
    }
    parse_command_line(app, argc, argv, '\n' + variants_help(program));

    options.variants = chosen_variants(program, variant);
    const std::vector<CLI::Option*> all = app.get_options();
    for (std::size_t i = of_all_programs; i < all.size(); ++i) {
        if (all[i]->count() == 0 || takes_a_file(*all[i])) continue;  // a launch knows of no files
        options.program_options.push_back(all[i]->get_name());
        if (all[i]->get_items_expected_max() > 0)  // no flag
            options.program_options.insert(options.program_options.end(), all[i]->results().begin(),
                                           all[i]->results().end());
    }
    std::erase_if(options.choices, [](const auto& given) { return given.second.empty(); });
    // Before the long work, so that nobody waits for results that cannot be kept.
    std::vector<NamedFile> outputs;
    for (const auto& [name, path] : {std::pair("--json", options.json), {"--plot", options.plot}})
        if (path) outputs.push_back({name, *path});
    require_output_files(outputs, files_of(app));
    return options;
}

std::size_t device_by_text(const std::string& wanted, const std::vector<std::string>& names,
                           const std::string& api) {
    std::size_t number = 0;
    const char* const end = wanted.data() + wanted.size();
    const auto [rest, error] = std::from_chars(wanted.data(), end, number);
    if (!wanted.empty() && rest == end) {
        if (error == std::errc() && number < names.size()) return number;
        throw BadInput(fmt::format("--device {}: the {} devices here are numbered 0 to {}", wanted,
                                   api, names.size() - 1));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (lower(names[i]).find(lower(wanted)) != std::string::npos) return i;
    }
    throw BadInput(fmt::format("--device: no {} device is called '{}' (--list-devices shows them)",
                               api, wanted));
}

std::vector<const char*> argv_of(const std::string& program,
                                 const std::vector<std::string>& words) {
    std::vector<const char*> argv{program.c_str()};
    for (const std::string& word : words)
        argv.push_back(word.c_str());
    return argv;
}

void add_number(CLI::App& app, const std::string& name, const std::string& description,
                std::uint64_t least, std::uint64_t most, const std::string& type,
                const std::function<void(std::uint64_t)>& take) {
    app.add_option_function<std::uint64_t>(name, take, description)
        ->transform(whole_number(least, most))
        ->type_name(type);
}

void add_flag(CLI::App& app, const std::string& name, bool& given, const std::string& description) {
    app.add_flag(name, given, description);
}

void add_files(CLI::App& app, const std::string& name, std::vector<std::string>& files,
               const std::string& description) {
    app.add_option(name, files, description)->type_name("FILE")->allow_extra_args(false);
}

}  // namespace common
