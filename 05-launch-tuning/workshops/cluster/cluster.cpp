// One histogram from many processes of MPI, the ranks: the program, from top to bottom in `main`.
// cpu.cpp and cuda.cu have the device that a rank counts with.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/workshops/cluster/cpu --random 8G

#include "05-launch-tuning/workshops/cluster/cluster.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstring>

#include "common/files/files.hpp"
#include "common/process/status.hpp"
#include "common/report/json.hpp"
#include "common/report/report.hpp"

using namespace common;
using cluster::kProgram;

namespace {

int rank = 0;
int ranks = 1;

// Counters for the pixels of all ranks.
using Counts = std::array<std::uint64_t, kBins>;

void add(const Histogram& part, Counts& sum) {
    std::transform(part.begin(), part.end(), sum.begin(), sum.begin(), std::plus<>());
}

constexpr std::size_t kAtATime = std::size_t{64} << 20;  // pixels that are made at once

// Another rank has failed and says so; all end with its status.
struct OthersFailed {
    int status;
};

bool all_ready = false;

// Collective: of the ranks that have failed the lowest says why, and all get its status.
std::optional<int> agreed_end(bool failed, const std::string& speaker = "") {
    int first = failed ? rank : ranks;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == ranks) return std::nullopt;
    int status = first == rank ? report_exception(speaker) : 0;
    MPI_Bcast(&status, 1, MPI_INT, first, MPI_COMM_WORLD);
    return status;
}

// Collective: returns when every rank has got here with as many pixels. Otherwise all end.
void require_all_ready(std::uint64_t pixels) {
    if (const auto status = agreed_end(false)) throw OthersFailed{*status};
    std::array<std::uint64_t, 2> least{pixels, ~pixels};
    MPI_Allreduce(MPI_IN_PLACE, least.data(), 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (least[0] != ~least[1])  // on every rank
        throw BadInput(fmt::format("one rank has {} pixels to count, and another one {}", least[0],
                                   ~least[1]));
    all_ready = true;
}

// The runs as this rank sees them.
struct Runs {
    std::vector<double> all_ms;      // from when all begin until the sums are known
    std::vector<double> waiting_ms;  // of them, until the slowest rank has counted
    std::vector<double> all_reduce_ms;
    std::vector<Counts> counts;  // the sums
};

// The serial loop over the pixels of all ranks.
Counts count_serially(const PixelStream& source) {
    Counts counts{};
    PixelBuffer pixels(kAtATime);
    for (std::uint64_t first = 0; first < source.size; first += pixels.size()) {
        pixels.resize(std::min<std::uint64_t>(kAtATime, source.size - first));
        source.read(first, pixels);
        add(reference_histogram(pixels), counts);
    }
    return counts;
}

// Collective: the exit status of all.
int report(const Options& options, const PixelStream& source, const cluster::Device& device,
           const Runs& runs) {
    const double mine_ms = summarize(runs.waiting_ms).median_ms;
    double waiting_ms = 0;
    MPI_Reduce(&mine_ms, &waiting_ms, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int status = kEveryVariantMatches;
    if (rank == 0) {
        const Timing time = summarize(runs.all_ms);
        const double all_reduce_us = 1000 * summarize(runs.all_reduce_ms).median_ms;
        const Counts expected = count_serially(source);
        for (const Counts& counts : runs.counts)
            if (counts != expected) status = kMismatch;
        if (status == kMismatch) note_mismatch();
        const char* const verdict = status == kMismatch ? "mismatch" : "match";
        print(fmt::format(
            "\n{}, {} on {} rank{}\ninput: {} ({} pixels)\n\nall: {} ms (median of {}, {} to {} "
            "ms), "
            "{} GB/s\nall-reduce of 256 counters: {} us\nwaiting for the slowest rank: {} "
            "ms\ncheck: {}\n",
            kProgram.name, kProgram.api, ranks, ranks == 1 ? "" : "s", shown(source.name),
            source.size, number(time.median_ms), time.runs, number(time.min_ms),
            number(time.max_ms),
            number(gigabytes_per_second(static_cast<double>(source.size), time.median_ms)),
            number(all_reduce_us), number(waiting_ms), verdict));
        char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        MPI_Get_library_version(library, &length);
        Json json{{"chapter", kProgram.chapter}, {"api", kProgram.api}, {"device", device.name}};
        json["driver"] = device.driver;
        json["mpi"] = std::string(library, std::strcspn(library, ",\n"));
        json["input"] = {{"name", source.name}, {"pixels", source.size}, {"seed", nullptr}};
        if (source.seed) json["input"]["seed"] = *source.seed;
        json["ranks"] = ranks;
        json["check"] = verdict;
        json["all_ms"] = {{"median", time.median_ms},
                          {"min", time.min_ms},
                          {"max", time.max_ms},
                          {"runs", time.runs}};
        json["all_reduce"] = Json::array({Json{{"library", "MPI"}, {"median_us", all_reduce_us}}});
        json["counts"] = runs.counts.back();
        if (options.json) write_atomically(*options.json, line_of(json, 2));
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

int count_together(int argc, char** argv, int nth) {
    // 2. What is asked for. Of n ranks each has an nth of the pixels, one behind the other; where
    //    they do not divide evenly, the first ranks have one more.
    const Options options = parse_options(argc, argv, kProgram);
    const PixelStream source(options);
    const auto before = static_cast<std::uint64_t>(rank);
    const std::uint64_t more = source.size % static_cast<std::uint64_t>(ranks);
    const std::uint64_t each = source.size / static_cast<std::uint64_t>(ranks);
    const std::uint64_t first = each * before + std::min(before, more);
    const std::size_t mine = each + (before < more ? 1 : 0);

    // 3. My device, with memory for my share.
    const std::unique_ptr<cluster::Device> device = cluster::device_for(options, nth, mine);

    // 4. Is every rank ready for the same work? From here on no rank waits for one that has failed.
    require_all_ready(source.size);
    PixelBuffer some(kAtATime);
    for (std::size_t at = 0; at < mine; at += some.size()) {
        some.resize(std::min(kAtATime, mine - at));
        source.read(first + at, some);
        device->copy_in(some, at);
    }

    Runs runs;
    while (static_cast<int>(runs.counts.size()) < options.repeat.value_or(1)) {
        // 5. Count. All begin together.
        MPI_Barrier(MPI_COMM_WORLD);
        const double begun = MPI_Wtime();
        Counts& counts = runs.counts.emplace_back();
        for (std::size_t at = 0; at < mine; at += cluster::kMaxLaunchPixels)
            add(device->count(at, std::min(cluster::kMaxLaunchPixels, mine - at)), counts);
        const double counted = MPI_Wtime();

        // 6. Merge: one collective of 256 counters. The barrier is not for the sums, but to tell
        //    the time of waiting for the slowest from that of adding up.
        MPI_Barrier(MPI_COMM_WORLD);
        const double all_counted = MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, counts.data(), kBins, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        const double merged = MPI_Wtime();
        runs.all_ms.push_back(1000 * (merged - begun));
        runs.waiting_ms.push_back(1000 * (all_counted - counted));
        runs.all_reduce_ms.push_back(1000 * (merged - all_counted));
    }
    return report(options, source, *device, runs);
}

}  // namespace

int main(int argc, char** argv) {
    // 1. Which of the processes this is, and which of those on its machine. One speaks for all.
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm this_machine = MPI_COMM_NULL;  // the ranks that share its memory
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &this_machine);
    int nth = 0;
    MPI_Comm_rank(this_machine, &nth);
    MPI_Comm_free(&this_machine);
    if (rank != 0) be_silent();
    int status = kFailed;
    try {
        status = count_together(argc, argv, nth);
    } catch (const OthersFailed& others) {
        status = others.status;
    } catch (...) {
        // Before all ranks are ready they agree on who speaks and on the status. Later this rank
        // ends the job, because the others would wait for it for ever.
        char host[MPI_MAX_PROCESSOR_NAME] = "";
        int length = 0;
        MPI_Get_processor_name(host, &length);
        const std::string speaker =
            fmt::format("{}, rank {} of {} on {}", kProgram.path(), rank, ranks, host);
        if (all_ready) MPI_Abort(MPI_COMM_WORLD, report_exception(speaker));
        status = agreed_end(true, speaker).value_or(kFailed);
    }
    MPI_Finalize();
    return status;
}
