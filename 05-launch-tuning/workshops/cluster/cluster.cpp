#include "05-launch-tuning/workshops/cluster/cluster.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "05-launch-tuning/workshops/cluster/source.hpp"
#include "common/files/output_file.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/json.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "common/timing/timing.hpp"

using common::Json;
using common::number;

namespace cluster {
namespace {

// ---- all ranks begin together, and where one fails all end --------------------------------------

int rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int rank_count() {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

// The name of this rank's machine.
std::string host() {
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(host, &length);
    return host;
}

// Another rank has failed, and says so.
class OthersFailed : public std::exception {
 public:
    explicit OthersFailed(int rank) : first(rank) {}
    int first;
};

bool all_ready = false;

// Collective. Returns the lowest rank that has failed, or the number of ranks if none has.
int first_to_fail(bool failed) {
    int first = failed ? rank() : rank_count();
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return first;
}

// Something may start several programs, of which each believes that it is alone.
void require_launcher() {
    // Launchers (Open MPI's, srun, others) say in these how many programs they have started. They
    // stand here from the innermost outwards: srun may have started an mpirun.
    for (const char* const variable :
         {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"}) {
        const char* const tasks = std::getenv(variable);
        if (tasks == nullptr) continue;
        if (rank_count() == 1 && std::atoi(tasks) > 1) {
            throw common::BadInput(fmt::format(
                "{} programs were started ({}), and MPI knows of this one alone: use the mpirun of "
                "the MPI that it was built with, or srun --mpi=pmix",
                tasks, variable));
        }
        return;
    }
}

// Collective. Returns when every rank has got here, with the same command line and pixels.
// Otherwise all end, and one of them says why.
void require_all_ready(int argc, const char* const* argv, const Source& source) {
    if (const int first = first_to_fail(false); first < rank_count()) throw OthersFailed(first);

    std::string same = fmt::format("{} {}", source.name, source.pixel_count);
    for (int i = 1; i < argc; ++i)
        same += std::string(1, '\0') + argv[i];
    const std::uint64_t hash = std::hash<std::string>()(same);
    std::uint64_t of_first = hash;
    MPI_Bcast(&of_first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    const int first = first_to_fail(hash != of_first);
    // The first rank that differs says so; the others learn which one it is.
    if (first == rank())
        throw common::BadInput("rank 0 has another command line or other files: all need the same");
    if (first < rank_count()) throw OthersFailed(first_to_fail(false));
    all_ready = true;
}

// Until all ranks are ready it waits for the others; one says what was wrong, and all end with its
// status. Later it says so itself and ends the job, because the others would wait for this rank for
// ever.
int report_exception(const std::string& program) noexcept {
    int started = 0;
    MPI_Initialized(&started);
    if (started == 0) return common::report_exception(program);
    const std::string speaker =
        fmt::format("{}, rank {} of {} on {}", program, rank(), rank_count(), host());
    if (all_ready) {
        MPI_Abort(MPI_COMM_WORLD, common::report_exception(speaker));
        return common::kFailed;  // MPI_Abort does not return
    }
    int status = 0;
    int speaks = 0;
    try {
        throw;
    } catch (const OthersFailed& others) {
        speaks = others.first;
    } catch (...) {
        speaks = first_to_fail(true);
        if (speaks == rank()) status = common::report_exception(speaker);
    }
    MPI_Bcast(&status, 1, MPI_INT, speaks, MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}

// ---- what rank 0 says at the end ----------------------------------------------------------------

// A run on a rank: its moments in seconds of MPI_Wtime, and what came out.
struct Run {
    double begun = 0;
    double counted = 0;      // this rank has counted its pixels
    double all_counted = 0;  // and so has every other
    double merged = 0;       // the sums of all are known
    Counts counts{};         // these sums
};

// Collective. What each rank says of itself, by rank, in as many words as there are columns.
std::vector<std::vector<std::string>> gather(const std::vector<std::string>& mine) {
    constexpr int kMost = 1024;
    std::string text;
    for (const std::string& word : mine)
        text += word + '\n';
    text.resize(kMost);
    std::string all(static_cast<std::size_t>(rank_count()) * kMost, '\0');
    MPI_Allgather(text.data(), kMost, MPI_CHAR, all.data(), kMost, MPI_CHAR, MPI_COMM_WORLD);
    std::vector<std::vector<std::string>> rows;
    for (std::size_t from = 0; from < all.size(); from += kMost) {
        std::istringstream words(&all[from]);
        rows.emplace_back();
        for (std::string word; std::getline(words, word);)
            rows.back().push_back(word);
    }
    return rows;
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

// Collective. Checks the runs, prints the table and writes what was asked for.
// @return the exit status
int report(const common::Program& program, const common::Options& options, const Source& source,
           bool check, const Device& device, const std::vector<Run>& runs) {
    const Run& last = runs.back();
    const std::vector<std::vector<std::string>> rows =
        gather({std::to_string(rank()), host(), device.number + ": " + device.name,
                std::to_string(source.own), number(1000 * (last.counted - last.begun)),
                number(1000 * (last.all_counted - last.counted))});

    int status = common::kEveryVariantMatches;
    if (rank() == 0) {
        const std::string why = why_wrong(runs, source, check);
        std::vector<double> times_ms, merging_us;
        for (const Run& run : runs) {
            times_ms.push_back(1000 * (run.merged - run.begun));
            merging_us.push_back(1e6 * (run.merged - run.all_counted));
        }
        const common::Timing all = common::summarize(times_ms);
        const double all_reduce = common::summarize(merging_us).median_ms;
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
                                   rows);
        text += fmt::format("\nall: {} ms (median of {}, {} to {} ms), {} GB/s\n",
                            number(all.median_ms), all.runs, number(all.min_ms), number(all.max_ms),
                            number(speed));
        text += fmt::format("all-reduce of 256 counters: {} us\n", number(all_reduce));
        text +=
            fmt::format("check: {}\n", !why.empty() ? "does not match"
                                       : check      ? "equals the serial loop"
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
            {"check", !why.empty() ? "mismatch"
                      : check      ? "match"
                                   : "not checked"},
            {"all_ms",
             {{"median", all.median_ms},
              {"min", all.min_ms},
              {"max", all.max_ms},
              {"runs", all.runs}}},
            {"all_reduce", Json::array({Json{{"library", "MPI"}, {"median_us", all_reduce}}})},
            {"counts", last.counts}};
        if (options.json) common::write_whole(*options.json, common::line_of(json, 2));
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

}  // namespace

// ---- the program --------------------------------------------------------------------------------

common::Program program(const char* name, const char* api, common::Variant strategy,
                        std::vector<common::UnsupportedOption> unsupported) {
    unsupported.insert(unsupported.end(),
                       {{"--plot", "there is nothing to draw"},
                        {"--time-limit", "mpirun --timeout S ends all ranks after S seconds"},
                        {"--no-ceiling", "none is measured"}});
    return {"05-launch-tuning",
            name,
            api,
            "one histogram from many processes",
            {std::move(strategy)},
            {},
            std::move(unsupported),
            kMaxPixels};
}

int run(int argc, char** argv, const common::Program& program, const MakeDevice& make_device) try {
    // 1. Which rank this is, and which of those on this machine. One speaks for all.
    MPI_Init(&argc, &argv);
    MPI_Comm this_machine = MPI_COMM_NULL;  // the ranks that share its memory
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &this_machine);
    int local_rank = 0;
    MPI_Comm_rank(this_machine, &local_rank);
    MPI_Comm_free(&this_machine);
    if (rank() != 0) common::be_silent();

    // 2. What is asked for, and where the pixels come from: of n ranks each has an nth of them.
    std::optional<std::string> raw;
    bool check = false;
    const common::Options options = common::parse_options(argc, argv, program, [&](CLI::App& app) {
        app.get_option("--repeat")->description("runs, each of them timed (default: 1)");
        app.add_option("--raw", raw, "a file of any size, a byte for each pixel")
            ->type_name("FILE");
        app.add_flag("--check", check, "count with the serial loop as well, and compare");
    });
    require_launcher();
    const Source source(options, raw, rank(), rank_count());

    // 3. The device, with memory for my share.
    const std::unique_ptr<Device> device = make_device(options, local_rank, source.own);

    // 4. Is every rank ready for the same work? From here on no rank waits for one that has failed.
    require_all_ready(argc, argv, source);

    // 5. My share goes to the device.
    source.read_own([&](std::span<const std::uint8_t> pixels, std::size_t before) {
        device->copy_in(pixels, before);
    });

    std::vector<Run> runs;
    while (static_cast<int>(runs.size()) < options.repeat.value_or(1)) {
        // 6. Count. All begin together.
        MPI_Barrier(MPI_COMM_WORLD);
        Run& run = runs.emplace_back();
        run.begun = MPI_Wtime();
        for (std::size_t first = 0; first < source.own; first += kMaxLaunchPixels)
            add(device->count(first, std::min(kMaxLaunchPixels, source.own - first)), run.counts);
        run.counted = MPI_Wtime();

        // 7. Merge: one collective of 256 counters. The barrier is not for the sums, but to tell
        //    the time of waiting for the slowest from that of adding up.
        MPI_Barrier(MPI_COMM_WORLD);
        run.all_counted = MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, run.counts.data(), common::kBins, MPI_UINT64_T, MPI_SUM,
                      MPI_COMM_WORLD);
        run.merged = MPI_Wtime();
    }

    // 8. Rank 0's report, and the exit status that tells the truth.
    const int status = report(program, options, source, check, *device, runs);
    MPI_Finalize();
    return status;
} catch (...) {
    return report_exception(program.path());
}

}  // namespace cluster
