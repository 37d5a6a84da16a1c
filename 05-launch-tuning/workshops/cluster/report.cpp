#include "05-launch-tuning/workshops/cluster/report.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "05-launch-tuning/workshops/cluster/ranks.hpp"
#include "common/files/output_file.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "common/timing/timing.hpp"

using common::number;
using Json = nlohmann::ordered_json;

namespace cluster {
namespace {

std::string text_of(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// Collective. What each rank says, by rank.
std::vector<Json> gather(const Json& mine) {
    std::string text = text_of(mine, -1);
    int most = static_cast<int>(text.size()) + 1;  // the longest, and the zero at its end
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    const auto length = static_cast<std::size_t>(most);
    text.resize(length);
    std::string all(static_cast<std::size_t>(rank_count()) * length, '\0');
    MPI_Allgather(text.data(), most, MPI_CHAR, all.data(), most, MPI_CHAR, MPI_COMM_WORLD);
    std::vector<Json> said;
    for (std::size_t from = 0; from < all.size(); from += length)
        said.push_back(Json::parse(&all[from]));
    return said;
}

// Collective. What an all-reduce of 256 counters costs: the median of many, each of which all ranks
// begin together.
double all_reduce_us() {
    constexpr int kWarmUps = 10;
    constexpr int kTimes = 101;
    Counts sums{};
    std::vector<double> times_us;
    for (int i = -kWarmUps; i < kTimes; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), common::kBins, MPI_UINT64_T, MPI_SUM,
                      MPI_COMM_WORLD);
        if (i >= 0) times_us.push_back(1e6 * (MPI_Wtime() - start));
    }
    return common::summarize(times_us).median_ms;
}

// Empty where all is right.
std::string why_wrong(const std::vector<Run>& runs, const Source& source, bool check) {
    const Counts& actual = runs.back().counts;
    for (const Run& run : runs)
        if (run.counts != actual) return "not all runs have the same result";
    if (total(actual) != source.pixel_count)
        return fmt::format("{} pixels were counted, and there are {}", total(actual),
                           source.pixel_count);
    if (!check) return {};
    const Counts expected = source.count_serially();
    const auto [is, should_be] = std::mismatch(actual.begin(), actual.end(), expected.begin());
    if (is == actual.end()) return {};
    return fmt::format("total: expected {}, got {}; the first wrong bin is {}: expected {}, got {}",
                       total(expected), total(actual), is - actual.begin(), *should_be, *is);
}

// The first line says which library, and of which version.
std::string mpi_library() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string all(text);
    return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace

int report(const common::Program& program, const common::Options& options,
           const ClusterOptions& cluster_options, const Source& source, const Device& device,
           const std::vector<Run>& runs) {
    const double all_reduce = all_reduce_us();
    const Run& last = runs.back();
    const std::vector<Json> rows =
        gather({std::to_string(rank()), host(), device.number + ": " + device.name,
                std::to_string(source.own), number(1000 * (last.counted - last.begun)),
                number(1000 * (last.all_counted - last.counted))});

    int status = common::kEveryVariantMatches;
    if (rank() == 0) {
        const std::string why = why_wrong(runs, source, cluster_options.check);
        std::vector<double> times_ms;
        for (const Run& run : runs)
            times_ms.push_back(1000 * (run.merged - run.begun));
        const common::Timing all = common::summarize(times_ms);
        const double speed =
            common::gigabytes_per_second(static_cast<double>(source.pixel_count), all.median_ms);

        std::string text =
            fmt::format("\n{}, {} on {} rank{}\ninput: {} ({} pixels)\n", program.name, program.api,
                        rows.size(), rows.size() == 1 ? "" : "s", common::shown(source.name),
                        source.pixel_count);
        if (rows.size() == 1) text += "one rank: mpirun -n 2 before the command starts two\n";
        text += runs.size() == 1 ? "\n" : "\nthe last run:\n";
        text += common::text_table({{"rank"},
                                    {"host"},
                                    {"device"},
                                    {"pixels", true},
                                    {"counting ms", true},
                                    {"waiting ms", true}},
                                   {rows.begin(), rows.end()});
        text += fmt::format("\nall: {} ms (median of {}, {} to {} ms), {} GB/s\n",
                            number(all.median_ms), all.runs, number(all.min_ms), number(all.max_ms),
                            number(speed));
        text += fmt::format("all-reduce of 256 counters: {} us\n", number(all_reduce));
        text += fmt::format("check: {}\n", !why.empty() ? "does not match"
                                           : cluster_options.check
                                               ? "equals the serial loop"
                                               : "not checked (--check counts serially as well)");
        common::print(text);
        if (!why.empty()) {
            common::progress(fmt::format("does not match: {}\n", why));
            common::note_mismatch();
            status = common::kMismatch;
        }

        // Wrong counts are not written: nobody would see there that they are.
        if (options.counts && why.empty()) {
            std::string lines = "bin,count\n";
            for (std::size_t bin = 0; bin < common::kBins; ++bin)
                lines += fmt::format("{},{}\n", bin, last.counts[bin]);
            common::write_whole(*options.counts, lines);
        }
        const Json json{
            {"chapter", program.chapter},
            {"api", program.api},
            {"device", device.name},
            {"driver", device.driver},
            {"mpi", mpi_library()},
            {"input",
             {{"name", source.name},
              {"pixels", source.pixel_count},
              {"seed", source.seed ? Json(*source.seed) : Json(nullptr)}}},
            {"ranks", rows.size()},
            {"check", !why.empty()            ? "mismatch"
                      : cluster_options.check ? "match"
                                              : "not checked"},
            {"all_ms",
             {{"median", all.median_ms},
              {"min", all.min_ms},
              {"max", all.max_ms},
              {"runs", all.runs}}},
            {"all_reduce", Json::array({Json{{"library", "MPI"}, {"median_us", all_reduce}}})},
            {"counts", last.counts}};
        if (options.json) common::write_whole(*options.json, text_of(json, 2) + "\n");
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

}  // namespace cluster
