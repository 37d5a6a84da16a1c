#include "05-launch-tuning/workshops/cluster/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/status/status.hpp"

using common::BadInput;

namespace cluster {

void ClusterOptions::add_to(CLI::App& app) {
    constexpr std::uint64_t kMaxChunk = std::uint64_t{1} << 30;  // MPI counts elements with an int
    app.get_option("IMAGE")->description("a picture, or a folder with pictures in it and below");
    app.get_option("--repeat")->description("runs, each of them timed (default: 1)");
    app.add_option("--raw", raw, "a file of any size, a byte for each pixel")->type_name("FILE");
    app.add_option_function<std::string>(
           "--chunk",
           [this](const std::string& text) {
               chunk = common::parse_pixel_count(text, kMaxChunk);
               if (chunk == 0) throw BadInput("--chunk: there must be a pixel in it");
           },
           "pixels to read at a time (default: 64M, or an 8th of a rank's part); a rank needs "
           "memory "
           "for 3 chunks, and for one on its device; for pictures, for 2 and the one that it reads")
        ->type_name("N");
    app.add_option("--each", each, "write a row for each picture, as .csv or .json")
        ->type_name("FILE");
    app.add_flag("--keep-going", keep_going, "name pictures that cannot be read, and skip them");
    app.add_flag("--check", check, "count with the serial loop as well, and compare");
    app.add_flag("--resident", resident,
                 "keep generated pixels in the devices' memory: time counting and merging alone");
}

void ClusterOptions::refuse_contradictions(const common::Options& options) const {
    if (raw && (options.image || generated(options)))
        throw BadInput("--raw, an IMAGE and generated pixels exclude each other");
    if (resident && !generated(options))
        throw BadInput("--resident is for pixels that are made: --random N");
    if ((each || keep_going) && (raw || generated(options)))
        throw BadInput("--each and --keep-going are for pictures: an IMAGE or a FOLDER");
    for (const char* option : {"--kernel", "--copies", "--loads", "--two-launches"}) {
        if (!raw && !generated(options) && std::ranges::count(options.own, option) > 0)
            throw BadInput(
                fmt::format("{} is not for pictures: tuned does not count them", option));
    }
    if (each && each->extension() != ".csv" && each->extension() != ".json")
        throw BadInput(
            fmt::format("--each {}: the name must end in .csv or .json", each->string()));
}

bool generated(const common::Options& options) {
    return options.random || options.constant || options.ramp || options.tile;
}

std::vector<common::UnsupportedOption> unsupported_options(
    std::vector<common::UnsupportedOption> more) {
    more.insert(more.end(), {{"--plot", "there is nothing to draw"},
                             {"--time-limit", "mpirun --timeout S ends all ranks after S seconds"},
                             {"--no-ceiling", "none is measured"}});
    return more;
}

}  // namespace cluster
