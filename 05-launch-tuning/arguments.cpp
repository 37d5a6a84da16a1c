#include "05-launch-tuning/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>

#include "common/histogram/histogram.hpp"
#include "common/status/status.hpp"

namespace {

void refuse_contradictions(const Arguments& arguments) {
    if (arguments.tune && arguments.end_to_end) {
        throw common::BadInput("--tune and --end-to-end exclude each other");
    }
    const common::Options& options = arguments.common;
    if (arguments.tune && (options.image || options.tile || options.random || options.group_size ||
                           options.groups || options.repeat || arguments.kernel ||
                           arguments.copies || arguments.loads || arguments.two_launches)) {
        throw common::BadInput(
            "--tune chooses its pictures, kernels and launches itself: with it go --seconds, "
            "--device, --json and --plot");
    }
    const bool placed = arguments.offset > 0 || arguments.pitch;
    if (placed && (arguments.tune || arguments.end_to_end)) {
        throw common::BadInput("--offset and --pitch go with neither --tune nor --end-to-end");
    }
    const std::string kernel = arguments.kernel.value_or("lane-bins");
    if (arguments.loads.value_or(1) > tuning::most_loads(kernel)) {
        throw common::BadInput(fmt::format("--loads: {} loads a pixel at a time", kernel));
    }
    if (arguments.copies.value_or(1) > 1 && kernel != "lane-bins") {
        throw common::BadInput(
            fmt::format("--copies is for --kernel lane-bins: {} keeps one table", kernel));
    }
}

// Whether the device has room for the groups of this choice.
bool fits(const tuning::Choice& choice, const tuning::Facts& facts) {
    return tuning::local_bytes_of(choice) <= facts.local_bytes;
}

// A kernel that was not chosen by measuring: one group for each unit, as large as is tried at all.
tuning::Choice usual_launch(const std::string& kernel, const tuning::Facts& facts) {
    tuning::Choice usual{kernel, 1, std::min(tuning::kUsualLoads, tuning::most_loads(kernel)), 1,
                         1};
    for (const tuning::Choice& candidate : tuning::candidates(facts)) {
        if (candidate.kernel == kernel && tuning::objection(candidate, facts).empty()) {
            usual.group_size = std::max(usual.group_size, candidate.group_size);
        }
    }
    return usual;
}

}  // namespace

Arguments parse_arguments(int argc, const char* const* argv, const common::Program& program) {
    Arguments arguments;
    arguments.common = common::parse_options(argc, argv, program, [&](CLI::App& app) {
        app.add_flag("--tune", arguments.tune,
                     "measure which kernel and launch are best here, and remember it for `tuned`");
        app.add_option("--seconds", arguments.seconds,
                       fmt::format("how long --tune may search (default: {})", arguments.seconds))
            ->check(CLI::Range(1.0, 3600.0))
            ->type_name("S");
        app.add_flag("--end-to-end", arguments.end_to_end,
                     "compare ways to copy and count, by wall time");
        app.add_option("--offset", arguments.offset, "bytes in front of the first pixel")
            ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 20))
            ->type_name("N");
        app.add_option("--pitch", arguments.pitch, "bytes from one row of the picture to the next")
            ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20))
            ->type_name("N");
        app.add_option("--kernel", arguments.kernel, "how `tuned` counts")
            ->check(CLI::IsMember(tuning::kernel_names()))
            ->type_name("NAME");
        app.add_option("--copies", arguments.copies, "copies of the table in lane-bins")
            ->check(CLI::IsMember({1U, 2U, 4U, 8U, 16U, 32U}))
            ->type_name("N");
        app.add_option("--loads", arguments.loads, "loads on their way at once in `tuned`")
            ->check(CLI::Range(1U, tuning::kMostLoads))
            ->type_name("N");
        if (program.name == "peers") {
            app.add_flag("--queued", arguments.queued,
                         "keep the device busy until all commands of a run wait in its queue");
        }
        if (program.api == "OpenCL") {
            app.add_flag("--two-launches", arguments.two_launches,
                         "`tuned` as on devices without 64-bit atomics: zeroed before");
        }
    });
    refuse_contradictions(arguments);
    return arguments;
}

Picture place_in_buffer(const Arguments& arguments, const common::Input& input) {
    if (arguments.end_to_end && input.pixels.empty()) {
        throw common::BadInput("--end-to-end: there are no pixels to copy");
    }
    const std::uint64_t pitch = arguments.pitch.value_or(input.width);
    if (pitch < input.width) {
        throw common::BadInput(
            fmt::format("--pitch {}: a row of this picture has {} pixels", pitch, input.width));
    }
    return {arguments.offset, input.pixels.size(), input.width, pitch};
}

common::PixelBuffer with_gaps(const common::Input& input, const Picture& picture) {
    common::PixelBuffer bytes(picture.bytes());
    std::memset(bytes.data(), common::kPoisonByte, bytes.size());
    for (std::uint64_t y = 0; y < picture.rows(); ++y) {
        const std::uint64_t length = std::min(picture.width, picture.count - y * picture.width);
        std::memcpy(&bytes[picture.first + y * picture.pitch], &input.pixels[y * picture.width],
                    length);
    }
    return bytes;
}

tuning::Choice choose_tuned(const Arguments& arguments, const std::optional<tuning::Tuning>& known,
                            const tuning::Facts& facts, std::uint64_t pixels) {
    const tuning::Choice found = tuning::choose(known, facts, pixels);
    tuning::Choice choice = found;
    // Copies are lane-bins' alone, so whoever asks for them asks for it.
    const std::string kernel =
        arguments.kernel.value_or(arguments.copies ? "lane-bins" : choice.kernel);
    if (std::find(facts.kernels.begin(), facts.kernels.end(), kernel) == facts.kernels.end()) {
        throw common::BadInput(
            fmt::format("--kernel {}: the {} program has no such kernel", kernel, facts.api));
    }
    if (kernel != choice.kernel) choice = usual_launch(kernel, facts);
    if (choice.kernel != "lane-bins") choice.copies = 1;
    choice.copies = arguments.copies.value_or(choice.copies);
    choice.loads =
        std::min(arguments.loads.value_or(choice.loads), tuning::most_loads(choice.kernel));
    choice.group_size = arguments.common.group_size.value_or(choice.group_size);
    const std::string wanted = to_string(choice);
    if (!fits(choice, facts) && choice.kernel != "local") choice.kernel = "lane-bins";
    while (!fits(choice, facts) && choice.copies > 1)
        choice.copies /= 2;
    // Where it is not run, nobody wants to read how it would be.
    if (!arguments.end_to_end && !arguments.common.wants("tuned")) return choice;
    if (to_string(choice) != wanted) {
        fmt::print(stderr, "  tuned: {} does not fit {} bytes of local memory\n", wanted,
                   facts.local_bytes);
    }
    const bool changed = choice != found || arguments.common.groups;
    fmt::print(stderr, "  tuned, {}: {} ({}{})\n", tuning::size_text(pixels), to_string(choice),
               known ? "found by --tune on " + known->date : "the default: --tune has not run here",
               changed ? ", but changed here" : "");
    return choice;
}

std::size_t pixels_at_once(const tuning::Choice& choice) {
    if (choice.kernel == "lane-bins") return std::size_t{16} * choice.loads;
    if (choice.kernel == "local") return choice.loads;
    if (choice.kernel == "byte-bins") return 255;
    return 4096;  // item-bins: a stretch worth zeroing and adding up 2048 counters for
}

std::size_t groups_of(const tuning::Choice& choice, const tuning::Facts& facts,
                      std::uint64_t pixels) {
    return groups_with_work(pixels, choice.group_size, pixels_at_once(choice),
                            choice.groups_per_unit * facts.units);
}
