#include "common/lesson.hpp"

#include <fmt/format.h>

#include "common/explanation/explanation.hpp"
#include "common/files/files.hpp"
#include "common/report/json.hpp"

namespace common {
namespace {

// For what has nothing to do with the number of pixels.
constexpr unsigned kPatienceWithCompilers = 120;  // seconds

// What --describe prints.
std::string description_of(const Program& program) {
    Json json{{"chapter", program.chapter},
              {"program", program.name},
              {"api", program.api},
              {"emulated", is_emulated()}};
    json["variants"] = Json::array();
    for (const Variant& variant : program.variants)
        json["variants"].push_back({{"name", variant.name},
                                    {"summary", variant.summary},
                                    {"broken_on_purpose", variant.broken_on_purpose}});
    json["choices"] = Json::array();
    for (const Choice& choice : program.choices)
        json["choices"].push_back(
            {{"name", choice.name}, {"values", choice.values}, {"variants", choice.variants}});
    return line_of(json, 2);
}

Options asked_for(int argc, const char* const* argv, const Program& program,
                  const std::function<void(CLI::App& app)>& add_more) {
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (std::erase(words, "--describe") == 0) return parse_options(argc, argv, program, add_more);
    if (!words.empty())
        throw BadInput(fmt::format("--describe takes no other option, not '{}'", words.front()));
    require_standard_output(program.path());
    print(description_of(program));
    throw Finished();
}

// Every chapter measures the serial loop for itself: a ratio is only worth something within one
// run.
double time_serial(std::span<const std::uint8_t> pixels, std::optional<int> repeat) {
    std::vector<double> times_ms;
    for (double spent_ms = 0; !are_enough(times_ms, spent_ms, repeat);) {
        Histogram histogram;
        times_ms.push_back(wall_ms([&] { histogram = reference_histogram(pixels); }));
        spent_ms += times_ms.back();
        // The count is looked at, so that the compiler cannot leave the counting out.
        if (total(histogram) != pixels.size()) throw std::logic_error("the reference lost pixels");
    }
    return summarize(std::move(times_ms)).median_ms;
}

}  // namespace

Lesson::Lesson(int argc, const char* const* argv, const Program& program,
               const std::function<void(CLI::App& app)>& add_more,
               const std::function<Input(const Options&)>& load)
    : options(asked_for(argc, argv, program, add_more)),
      input(options.list_devices ? Input{}
            : load               ? load(options)
                                 : load_input(options)),
      pixels(input.pixels),
      width(input.width),
      expected(reference_histogram(pixels)),
      program_(program) {
    // A process that runs many command lines must not keep that of the one before.
    set_time_limit(options.time_limit);
    // Refused here, before anything is allocated; `runs` checks again with the group size.
    if (options.groups && !options.list_devices)
        require_sensible({*options.groups, 1}, pixels.size());
}

Lesson::~Lesson() = default;  // not in each host program

Report& Lesson::report() {
    if (!report_) report_.emplace(program_, options, input, expected, device_, driver_);
    return *report_;
}

bool Lesson::wants(const std::string& variant, const std::string& unsupported) {
    if (!options.wants(variant)) return false;
    if (!unsupported.empty()) report().add(skipped(variant, unsupported));
    return unsupported.empty();
}

std::size_t Lesson::group_size(std::size_t usual, std::size_t most) const {
    const std::size_t size = options.group_size.value_or(std::min(usual, most));
    if (size <= most) return size;
    throw Unsupported(fmt::format("{} of {} {}: this device runs at most {}",
                                  program_.api == "CUDA" ? "blocks" : "work-groups", size,
                                  program_.api == "CUDA" ? "threads" : "work-items", most));
}

std::size_t Lesson::groups(std::size_t usual) const {
    return options.groups.value_or(usual);
}

const char* Lesson::kernel_file(const std::string& name) {
    const auto program = std::filesystem::path(PROJECT_FOLDER) / program_.chapter / program_.name;
    const auto folder = program.parent_path();
    kernels_ = with_its_name(name, read_kernel_file(name, folder, options.kernels));
    compiling_.emplace("compiling " + name, kPatienceWithCompilers);
    return kernels_.c_str();
}

void Lesson::read_ceiling(const std::function<std::optional<double>()>& measured_gb_s) {
    Report& table = report();
    if (!options.read_ceiling) return;
    std::optional<double> gb_s = measured_gb_s();
    if (gb_s && !(*gb_s > 0)) gb_s.reset();  // the clock stood still
    note_read_ceiling(gb_s);
    table.set_read_ceiling(gb_s);
}

Runs Lesson::runs(const std::string& variant, const Launch& launch, const std::string& unsupported,
                  const std::string& launch_text) {
    return runs_of({variant, true, launch, unsupported, launch_text});
}

Runs Lesson::runs(const std::string& variant) {
    return runs_of({variant});
}

Runs Lesson::runs_of(Runs::What what) {
    Report& table = report();
    compiling_.reset();
    require_no_loop_left();
    running_ = what.variant;
    return {std::move(what), expected, options.repeat, [&](Result result) {
                running_.clear();
                if (!kernels_.empty()) compiling_.emplace("compiling", kPatienceWithCompilers);
                table.add(std::move(result));
            }};
}

void Lesson::require_no_loop_left() const {
    if (!running_.empty())
        throw std::logic_error(running_ + ": its loop was left before runs.next() ended it");
}

int Lesson::finish() {
    compiling_.reset();
    require_no_loop_left();
    RunDocument& found = report().document();
    explain_wrong(found, options, input, EXPLAINER_PROGRAM);
    if (program_.beside_serial && !is_emulated())
        found.serial_ms =
            found.serial_row_ms() ? *found.serial_row_ms() : time_serial(pixels, options.repeat);
    return report().finish();
}

int report_exception(const Program& program) {
    return report_exception(program.path());
}

}  // namespace common
