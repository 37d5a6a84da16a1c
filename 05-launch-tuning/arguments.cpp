#include "05-launch-tuning/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <vector>

#include "05-launch-tuning/tune/found.hpp"
#include "common/histogram/histogram.hpp"
#include "common/options/whole_number.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"

namespace {

// CUDA runs on no CPU.
std::vector<std::string> names_of_tuned(const common::Program& program) {
    if (program.api == "CUDA") return {tuning::kLaneBins.name};
    return {tuning::kLaneBins.name, tuning::kItemBins.name};
}

void refuse_contradictions(const Arguments& arguments) {
    const tuning::Kernel& kernel =
        arguments.kernel != nullptr ? *arguments.kernel : tuning::kLaneBins;
    if (arguments.copies.value_or(1) > kernel.max_copies) {
        throw common::BadInput(fmt::format("--copies is for --kernel {}: {} keeps one table",
                                           tuning::kLaneBins.name, kernel.name));
    }
    // Said at once, and not when the strategies before `tuned` have run.
    const std::size_t group_size = arguments.common.group_size.value_or(1);
    if (kernel.max_group_size > 0 && group_size > kernel.max_group_size) {
        throw common::BadInput(fmt::format("--kernel {0}, groups of {1}: {0} takes at most {2}",
                                           kernel.name, group_size, kernel.max_group_size));
    }
}

}  // namespace

Arguments parse_arguments(
    int argc, const char* const* argv, const common::Program& program,
    const std::function<void(CLI::App& app, Arguments& arguments)>& add_more) {
    Arguments arguments;
    std::string kernel;
    arguments.common = common::parse_options(argc, argv, program, [&](CLI::App& app) {
        app.add_option("--kernel", kernel, "how `tuned` counts")
            ->check(CLI::IsMember(names_of_tuned(program)))
            ->type_name("NAME");
        app.add_option("--copies", arguments.copies, "copies of the table in `tuned`")
            ->transform(common::whole_number(1, 32))
            ->check(CLI::IsMember({1U, 2U, 4U, 8U, 16U, 32U}))
            ->type_name("N");
        app.add_option("--loads", arguments.loads, "loads under way at once in `tuned`")
            ->transform(common::whole_number(1, tuning::kLaneBins.max_loads))
            ->type_name("N");
        app.add_flag("--two-launches", arguments.two_launches,
                     "`tuned` as on devices without 64-bit atomics: zeroed before");
        if (add_more) add_more(app, arguments);
    });
    arguments.kernel = tuning::kernel_named(kernel);
    refuse_contradictions(arguments);
    return arguments;
}

void add_places(CLI::App& app, Arguments& arguments) {
    app.add_option("--offset", arguments.offset, "bytes in front of the first pixel")
        ->transform(common::whole_number(0, std::uint64_t{1} << 20))
        ->type_name("N");
    app.add_option("--pitch", arguments.pitch, "bytes from one row of the picture to the next")
        ->transform(common::whole_number(1, std::uint64_t{1} << 20))
        ->type_name("N");
    // Once options of these programs. An empty group keeps them out of the help.
    const std::string api = app.get_name().substr(app.get_name().rfind('/') + 1);
    for (const std::string name : {"tune", "end-to-end"}) {
        app.add_flag_callback(
               "--" + name,
               [name, api] {
                   throw common::BadInput(fmt::format(
                       "--{0} is a program of its own: build/05-launch-tuning/{0}/{1}", name, api));
               })
            ->group("");
    }
}

Rows place_rows(const Arguments& arguments, const common::Input& input) {
    const std::uint64_t pitch = arguments.pitch.value_or(input.width);
    if (pitch < input.width) {
        throw common::BadInput(
            fmt::format("--pitch {}: a row of this picture has {} pixels", pitch, input.width));
    }
    return {arguments.offset, input.pixels.size(), input.width, pitch};
}

common::PixelBuffer with_gaps(const common::Input& input, const Rows& rows) {
    common::PixelBuffer bytes(rows.bytes());
    std::memset(bytes.data(), common::kPoisonByte, bytes.size());
    for (std::uint64_t y = 0; y < rows.number(); ++y) {
        const std::uint64_t length = std::min(rows.width, rows.count - y * rows.width);
        std::memcpy(&bytes[rows.first + y * rows.pitch], &input.pixels[y * rows.width], length);
    }
    return bytes;
}

tuning::Choice choose_tuned(const Arguments& arguments, const tuning::Facts& facts,
                            std::uint64_t pixels) {
    const std::optional<tuning::Tuning> known = tuning::recall(facts);
    const tuning::Choice found = tuning::choose(known, facts, pixels);
    tuning::Choice choice = found;
    // Copies are lane-bins' alone, and so are larger groups: whoever asks for them asks for it.
    const bool alone =
        found.kernel->max_group_size == 1 && arguments.common.group_size.value_or(1) > 1;
    const tuning::Kernel* const kernel = arguments.kernel != nullptr ? arguments.kernel
                                         : arguments.copies || alone ? &tuning::kLaneBins
                                                                     : found.kernel;
    if (kernel != choice.kernel) choice = usual_choice(*kernel, facts);
    choice.copies = arguments.copies.value_or(choice.copies);
    choice.loads = arguments.loads.value_or(choice.loads);
    choice.group_size = arguments.common.group_size.value_or(choice.group_size);
    const std::string wanted = choice.text();
    while (choice.copies > 1 && choice.local_bytes() > facts.local_bytes)
        choice.copies /= 2;
    if (const std::string reason = objection(choice, facts); !reason.empty())
        throw common::BadInput(fmt::format("tuned, {}: {}", choice.text(), reason));
    if (choice.text() != wanted) {
        common::progress(fmt::format("  tuned: {} does not fit {} bytes of local memory\n", wanted,
                                     facts.local_bytes));
    }
    const bool changed = choice != found || arguments.common.groups;
    common::progress(fmt::format(
        "  tuned, {}: {} ({}{})\n", tuning::size_text(pixels), choice.text(),
        known ? "found by tune on " + known->date : "the default, as tune has not run here",
        changed ? "; changed by the command line" : ""));
    return choice;
}
