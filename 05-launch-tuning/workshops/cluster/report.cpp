#include "05-launch-tuning/workshops/cluster/report.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/files/output_file.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"
#include "common/timing/timing.hpp"

using common::number;
using Json = nlohmann::ordered_json;

namespace cluster {

// What rank 0 knows at the end.
struct Report::Gathered {
    Json per_rank = Json::array();                                // as the JSON has it
    std::map<std::pair<std::string, std::string>, int> ranks_on;  // a device of a host
    std::set<std::string> hosts;
    std::map<std::uint64_t, Row> rows;  // of --each, by picture
    std::size_t skipped = 0;
};

namespace {

std::uint64_t peak_memory_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
#if defined(__APPLE__)
    return static_cast<std::uint64_t>(usage.ru_maxrss);
#else
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
#endif
}

double total_ms(const Times& run) {
    return 1000 * (run.merged - run.begun);
}

double merge_us(const Times& run) {
    return 1e6 * (run.merged - run.all_counted);
}

common::Timing summary(const std::vector<Times>& runs, double (*of)(const Times&)) {
    std::vector<double> values;
    std::transform(runs.begin(), runs.end(), std::back_inserter(values), of);
    return common::summarize(values);
}

// Empty where they are equal.
std::string difference(const Counts& expected, const Counts& actual) {
    const auto [is, should_be] = std::mismatch(actual.begin(), actual.end(), expected.begin());
    if (is == actual.end()) return {};
    return fmt::format("total: expected {}, got {}; the first wrong bin is {}: expected {}, got {}",
                       total(expected), total(actual), is - actual.begin(), *should_be, *is);
}

std::string this_host() {
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(host, &length);
    return host;
}

// Collective. On rank 0 what each rank has said, by rank; elsewhere nothing.
std::vector<Json> gather(const Json& mine) {
    constexpr int kTag = 17;
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::vector<std::uint8_t> bytes = Json::to_cbor(mine);
    if (rank != 0) {
        MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
        return {};
    }
    std::vector<Json> all{mine};
    for (int from = 1; from < ranks; ++from) {
        MPI_Status message;
        int size = 0;
        MPI_Probe(from, kTag, MPI_COMM_WORLD, &message);
        MPI_Get_count(&message, MPI_BYTE, &size);
        bytes.resize(static_cast<std::size_t>(size));
        MPI_Recv(bytes.data(), size, MPI_BYTE, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        all.push_back(Json::from_cbor(bytes));
    }
    return all;
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

Report::Report(const common::Program& program, const common::Options& options,
               const ClusterOptions& cluster_options, const Source& source, std::string device,
               std::string driver, std::string device_id)
    : program_(program),
      options_(options),
      cluster_options_(cluster_options),
      source_(source),
      device_(std::move(device)),
      driver_(std::move(driver)),
      device_id_(std::move(device_id)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
}

void Report::add_run(const Times& times, const Counts& sums) {
    runs_differ_ = runs_differ_ || (!runs_.empty() && sums != sums_);
    sums_ = sums;
    runs_.push_back(times);
}

void Report::time_all_reduce(const std::string& library, const std::function<void()>& all_reduce) {
    constexpr int kWarmUps = 10;
    constexpr int kTimes = 101;
    std::vector<double> times_us;
    for (int i = -kWarmUps; i < kTimes; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        all_reduce();
        if (i >= 0) times_us.push_back(1e6 * (MPI_Wtime() - start));
    }
    all_reduces_.push_back({library, common::summarize(times_us).median_ms, {}});
}

void Report::skip_all_reduce(const std::string& library, const std::string& reason) {
    all_reduces_.push_back({library, std::nullopt, reason});
}

Report::Gathered Report::gathered(const WorkQueue& work,
                                  const std::map<std::uint64_t, Counts>& each) const {
    const Times& last = runs_.back();
    const double reading = work.tally.reading_seconds;
    Json rows = Json::array();
    for (const auto& [picture, reason] : work.skipped)
        rows.push_back({picture, reason, Counts{}});
    for (const auto& [picture, counts] : each)
        rows.push_back({picture, "", counts});
    Gathered gathered;
    for (Json& said : gather({{"rank", rank_},
                              {"host", this_host()},
                              {"device", device_},
                              {"device_id", device_id_},
                              {"items", work.tally.items},
                              {"pixels", work.tally.pixels},
                              {"reading_ms", 1000 * reading},
                              {"counting_ms", 1000 * (last.counted - last.begun - reading)},
                              {"waiting_ms", 1000 * (last.all_counted - last.counted)},
                              {"peak_memory_bytes", peak_memory_bytes()},
                              {"rows", rows}})) {
        for (const Json& row : said["rows"])
            gathered.rows[row[0]] = {row[1], row[2].get<Counts>()};
        said.erase("rows");
        ++gathered.ranks_on[{said["host"], said["device_id"]}];
        gathered.hosts.insert(said["host"]);
        gathered.per_rank.push_back(std::move(said));
    }
    gathered.skipped = static_cast<std::size_t>(
        std::count_if(gathered.rows.begin(), gathered.rows.end(),
                      [](const auto& row) { return !row.second.reason.empty(); }));
    return gathered;
}

// Empty where all is right.
std::string Report::why_wrong(const std::map<std::uint64_t, Row>& rows) const {
    if (runs_differ_) return "not all runs have the same result";
    const std::uint64_t counted = total(sums_);
    if (source_.pictures.empty() && counted != source_.pixel_count)
        return fmt::format("{} pixels were counted, and there are {}", counted,
                           source_.pixel_count);
    if (!cluster_options_.check) return {};
    std::string why;
    const Counts expected = source_.count_serially(
        cluster_options_.keep_going, [&](std::uint64_t picture, const Counts& counts) {
            if (!cluster_options_.each || !why.empty()) return;
            const auto row = rows.find(picture);
            why = row == rows.end() ? "it is missing" : difference(counts, row->second.counts);
            if (!why.empty()) why = fmt::format("{}: {}", source_.pictures[picture].string(), why);
        });
    const std::string sums = difference(expected, sums_);
    return sums.empty() ? why : sums;
}

int Report::finish(const WorkQueue& work, const std::map<std::uint64_t, Counts>& each) {
    const Gathered all = gathered(work, each);
    int status = common::kEveryVariantMatches;
    if (rank_ == 0) {
        for (const auto& [picture, row] : all.rows) {
            if (!row.reason.empty()) common::progress(fmt::format("skipped: {}\n", row.reason));
        }
        const std::string why = why_wrong(all.rows);
        const std::string check = !why.empty()             ? "mismatch"
                                  : cluster_options_.check ? "match"
                                                           : "not checked";
        print(all, check);
        if (!why.empty()) {
            common::progress(fmt::format("does not match: {}\n", why));
            common::note_mismatch();
            status = common::kMismatch;
        }
        // What is wrong is in no file: nobody would see there that it is.
        if (options_.counts && why.empty()) {
            std::string text = "bin,count\n";
            for (std::size_t bin = 0; bin < common::kBins; ++bin)
                text += fmt::format("{},{}\n", bin, sums_[bin]);
            common::write_whole(*options_.counts, text);
        }
        if (cluster_options_.each && why.empty())
            common::write_whole(*cluster_options_.each, each_text(all.rows));
        if (options_.json) common::write_whole(*options_.json, json_text(all, check));
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

void Report::print(const Gathered& gathered, const std::string& check) const {
    const std::size_t hosts = gathered.hosts.size();
    const std::uint64_t counted = total(sums_);
    std::string text = fmt::format(
        "\n{}, {} on {} rank{}, {} host{}\ninput: {} ({} pixels{})\n", program_.name, program_.api,
        ranks_, ranks_ == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s", common::shown(source_.name),
        counted, cluster_options_.resident ? ", in the devices' memory" : "");
    if (ranks_ == 1) text += "one rank: mpirun -n 2 before the command starts two\n";
    for (const auto& [device, ranks] : gathered.ranks_on) {
        if (ranks > 1 && program_.api != "C++")
            text +=
                fmt::format("{} ranks share a device of {}\n", ranks, common::shown(device.first));
    }
    std::vector<std::vector<std::string>> rows;
    std::uint64_t idle = 0;
    for (const Json& said : gathered.per_rank) {
        const auto ms = [&](const char* name) { return number(said[name].get<double>()); };
        idle += said["items"] == 0 ? 1U : 0U;
        rows.push_back(
            {said["rank"].dump(), said["host"], said["device"], said["items"].dump(),
             said["pixels"].dump(), ms("reading_ms"), ms("counting_ms"), ms("waiting_ms"),
             number(static_cast<double>(said["peak_memory_bytes"].get<std::uint64_t>() >> 20))});
    }
    text += runs_.size() == 1 ? "\n" : "\nthe last run:\n";
    text += common::text_table({{"rank"},
                                {"host"},
                                {"device"},
                                {source_.pictures.empty() ? "chunks" : "pictures", true},
                                {"pixels", true},
                                {"reading ms", true},
                                {"counting ms", true},
                                {"waiting ms", true},
                                {"peak MiB", true}},
                               rows);
    const common::Timing all = summary(runs_, total_ms);
    text += fmt::format(
        "\nall: {} ms, {} GB/s", number(all.median_ms),
        number(common::gigabytes_per_second(static_cast<double>(counted), all.median_ms)));
    text += all.runs == 1 ? "\n"
                          : fmt::format(" (median of {} runs, {} to {} ms)\n", all.runs,
                                        number(all.min_ms), number(all.max_ms));
    for (const AllReduce& one : all_reduces_) {
        text +=
            fmt::format("all-reduce of 256 counters, {}: {}\n", one.library,
                        one.median_us ? number(one.median_us) + " us" : "skipped, " + one.reason);
    }
    if (idle > 0 && counted > 0)
        text += fmt::format("{} of {} ranks had nothing to do\n", idle, ranks_);
    if (gathered.skipped > 0) {
        text += fmt::format("skipped: {} picture{} that cannot be read\n", gathered.skipped,
                            gathered.skipped == 1 ? "" : "s");
    }
    text += fmt::format("check: {}\n", check == "match" ? "equals the serial loop"
                                       : check == "mismatch"
                                           ? "does not match"
                                           : "not checked (--check counts serially as well)");
    common::print(text);
}

std::string Report::json_text(const Gathered& gathered, const std::string& check) const {
    const auto timing = [](const common::Timing& t) {
        return Json{
            {"median", t.median_ms}, {"min", t.min_ms}, {"max", t.max_ms}, {"runs", t.runs}};
    };
    const std::uint64_t counted = total(sums_);
    const common::Timing all = summary(runs_, total_ms);
    Json json;
    json["chapter"] = program_.chapter;
    json["api"] = program_.api;
    json["device"] = device_;
    json["driver"] = driver_;
    json["mpi"] = mpi_library();
    json["input"] = {{"name", source_.name},
                     {"pixels", counted},
                     {"seed", source_.seed ? Json(*source_.seed) : Json(nullptr)}};
    json["ranks"] = ranks_;
    json["hosts"] = gathered.hosts.size();
    json["devices"] = gathered.ranks_on.size();
    json["chunk"] = source_.chunk;
    json["resident"] = cluster_options_.resident;
    json["check"] = check;
    json["skipped"] = gathered.skipped;
    json["all_ms"] = timing(all);
    json["merge_us"] = timing(summary(runs_, merge_us));
    json["gb_s"] = common::gigabytes_per_second(static_cast<double>(counted), all.median_ms);
    json["all_reduce"] = Json::array();
    for (const AllReduce& one : all_reduces_) {
        json["all_reduce"].push_back(
            {{"library", one.library},
             {"median_us", one.median_us ? Json(*one.median_us) : Json(nullptr)},
             {"reason", one.reason}});
    }
    json["per_rank"] = gathered.per_rank;
    json["counts"] = sums_;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string Report::each_text(const std::map<std::uint64_t, Row>& rows) const {
    if (cluster_options_.each->extension() == ".json") {
        Json json = Json::array();
        for (const auto& [item, row] : rows) {
            json.push_back({{"picture", source_.pictures[item].string()},
                            {"skipped", row.reason},
                            {"pixels", total(row.counts)},
                            {"counts", row.counts}});
        }
        return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    }
    std::string text = "picture,skipped,pixels";
    for (std::size_t bin = 0; bin < common::kBins; ++bin)
        text += fmt::format(",{}", bin);
    text += '\n';
    for (const auto& [item, row] : rows) {
        text += common::csv_field(source_.pictures[item].string()) + ',' +
                common::csv_field(row.reason) + ',' + std::to_string(total(row.counts));
        for (const std::uint64_t count : row.counts)
            text += fmt::format(",{}", count);
        text += '\n';
    }
    return text;
}

}  // namespace cluster
