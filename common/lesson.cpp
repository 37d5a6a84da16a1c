#include "common/lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/files/kernel_file.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/report/report.hpp"
#include "common/run/run.hpp"
#include "common/verify/verify.hpp"
#include "common/verify/watchdog.hpp"

namespace common {
namespace {

// For what has nothing to do with the number of pixels.
constexpr std::chrono::minutes kPatienceWithCompilers{2};

Options asked_for(int argc, const char* const* argv, const Program& program,
                  const std::function<void(CLI::App& app)>& add_more) {
    if (describes_itself(argc, argv, program)) throw Finished();
    return parse_options(argc, argv, program, add_more);
}

}  // namespace

struct Lesson::Hidden {
    Hidden(int argc, const char* const* argv, const Program& the_program,
           const std::function<void(CLI::App& app)>& add_more,
           const std::function<Input(const Options&)>& load)
        : program(the_program),
          options(asked_for(argc, argv, program, add_more)),
          input(options.list_devices ? Input{}
                : load               ? load(options)
                                     : load_input(options)),
          expected(reference_histogram(input.pixels)) {}

    const Program& program;
    const Options options;
    const Input input;
    const Histogram expected;
    std::string device;
    std::string driver;
    std::optional<Report> report;
    std::string kernels;
    std::optional<Deadline> compiling;
    Histogram last{};  ///< of the strategy that ran last
    bool last_ran = false;
};

void Lesson::release(Hidden* hidden) {
    delete hidden;
}

Lesson::Lesson(Hidden* hidden)
    : options(hidden->options),
      input(hidden->input),
      pixels(input.pixels),
      width(input.width),
      expected(hidden->expected),
      hidden_(hidden) {}

Lesson::Lesson(int argc, const char* const* argv, const Program& program,
               const std::function<void(CLI::App& app)>& add_more,
               const std::function<Input(const Options&)>& load)
    : Lesson(new Hidden(argc, argv, program, add_more, load)) {}

std::optional<std::string> Lesson::choice(const std::string& name) const {
    return options.choice(name);
}

std::optional<unsigned> Lesson::number(const std::string& name) const {
    return options.number(name);
}

void Lesson::runs_on(std::string device, std::string driver) {
    Hidden& here = *hidden_;
    here.device = std::move(device);
    here.driver = std::move(driver);
}

Report& Lesson::report() {
    Hidden& here = *hidden_;
    if (!here.report)
        here.report.emplace(here.program, options, input, expected, here.device, here.driver,
                            taker_of_results());
    return *here.report;
}

bool Lesson::wants(const std::string& variant, const std::string& unsupported) {
    if (!options.wants(variant)) return false;
    if (!unsupported.empty()) report().add(skipped(variant, unsupported));
    return unsupported.empty();
}

std::size_t Lesson::group_size(std::size_t usual, std::size_t most) const {
    Hidden& here = *hidden_;
    const std::size_t size = options.group_size.value_or(std::min(usual, most));
    if (size <= most) return size;
    throw Unsupported(fmt::format("{} of {} {}: this device runs at most {}",
                                  here.program.api == "CUDA" ? "blocks" : "work-groups", size,
                                  here.program.api == "CUDA" ? "threads" : "work-items", most));
}

std::size_t Lesson::groups(std::size_t usual) const {
    // The groups' size is known later; a program whose launches are not examined has this alone.
    if (options.groups) require_sensible({*options.groups, 1}, pixels.size());
    return options.groups.value_or(usual);
}

const char* Lesson::kernel_file(const std::string& name, const std::string& in_front) {
    Hidden& here = *hidden_;
    const auto program =
        std::filesystem::path(PROJECT_FOLDER) / here.program.chapter / here.program.name;
    const auto folder = program.parent_path();
    here.kernels =
        in_front.empty() ? "" : with_its_name(in_front, read_kernel_file(in_front, folder));
    here.kernels += with_its_name(name, read_kernel_file(name, folder, options.kernels));
    here.compiling.emplace("compiling " + name, kPatienceWithCompilers);
    return here.kernels.c_str();
}

void Lesson::read_ceiling(const std::function<std::optional<double>()>& measured_gb_s) {
    Report& table = report();
    if (options.read_ceiling) table.set_read_ceiling(measured_gb_s());
}

void Lesson::examine(const std::string& variant, const Launch& launch,
                     const std::string& unsupported, const std::function<void()>& poison,
                     const std::function<double(Histogram&)>& run, const std::string& launch_text) {
    Hidden& here = *hidden_;
    Report& table = report();
    here.compiling.reset();
    here.last_ran = unsupported.empty();
    const auto run_and_remember = [&](Histogram& histogram) {
        const double ms = run(histogram);
        here.last = histogram;
        return ms;
    };
    Result result = verify_and_time(variant, expected, options.repeat,
                                    {.poison = poison,
                                     .copy_in = copy_in,
                                     .run = run_and_remember,
                                     .launch = launch,
                                     .unsupported_reason = unsupported});
    if (!here.kernels.empty()) here.compiling.emplace("compiling", kPatienceWithCompilers);
    result.launch_text = launch_text;
    table.add(std::move(result));
}

void Lesson::examine(const std::string& variant, const Run& run) {
    Report& table = report();
    Result result = verify_and_time(variant, expected, options.repeat, run);
    result.timed_by_host = true;
    table.add(std::move(result));
}

void Lesson::say_what_was_lost(const std::string& variant) {
    Hidden& here = *hidden_;
    if (here.last_ran) report().say_what_was_lost(variant, here.last);
}

void Lesson::say_how_many_idle(std::size_t group_size) {
    report().say_how_many_idle(group_size);
}

int Lesson::finish() {
    Hidden& here = *hidden_;
    here.compiling.reset();
    return report().finish();
}

int report_exception(const Program& program) {
    if (is_serving()) throw;  // to who answers for it
    return report_exception(program.chapter + "/" + program.name);
}

}  // namespace common
