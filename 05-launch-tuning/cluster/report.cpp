#include "05-launch-tuning/cluster/report.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
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

// Of a size that all ranks know, so that MPI can send it as bytes.
struct Report::Line {
    char host[64];
    char device[128];
    char device_id[64];
    Tally tally;
    Times last;  // run
    std::uint64_t peak_memory_bytes;
    std::uint64_t rows;  // of --each, skipped ones among them
};

namespace {

void copy_text(const std::string& text, char* to, std::size_t size) {
    std::strncpy(to, text.c_str(), size - 1);
    to[size - 1] = '\0';
}

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

// As common/histogram says it of 32-bit counters.
std::string difference(const Counts& expected, const Counts& actual) {
    std::vector<std::size_t> wrong;
    for (std::size_t bin = 0; bin < common::kBins; ++bin) {
        if (expected[bin] != actual[bin]) wrong.push_back(bin);
    }
    if (wrong.empty()) return {};
    std::string text = fmt::format("total: expected {}, got {}; wrong bins: {} of {}",
                                   total(expected), total(actual), wrong.size(), common::kBins);
    for (std::size_t i = 0; i < std::min<std::size_t>(5, wrong.size()); ++i) {
        const std::int64_t more = static_cast<std::int64_t>(actual[wrong[i]] - expected[wrong[i]]);
        text += fmt::format("; bin {}: expected {}, got {} ({:+})", wrong[i], expected[wrong[i]],
                            actual[wrong[i]], more);
    }
    return text;
}

std::size_t number_of_hosts(const std::map<std::pair<std::string, std::string>, int>& on_device) {
    std::set<std::string> hosts;
    for (const auto& [device, ranks] : on_device)
        hosts.insert(device.first);
    return hosts.size();
}

// The first line says which library, and of which version.
std::string mpi_library() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string all(text);
    return all.substr(0, all.find_first_of(",\n"));
}

std::string quoted(const std::string& text) {  // for CSV
    std::string out = "\"";
    for (const char c : text)
        out += c == '"' ? "\"\"" : std::string(1, c);
    return out + '"';
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

std::vector<Report::Line> Report::gather_lines(const WorkQueue& work) const {
    Line mine{};
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(host, &length);
    copy_text(host, mine.host, sizeof mine.host);
    copy_text(device_, mine.device, sizeof mine.device);
    copy_text(device_id_, mine.device_id, sizeof mine.device_id);
    mine.tally = work.tally;
    mine.last = runs_.back();
    mine.peak_memory_bytes = peak_memory_bytes();
    std::vector<Line> lines(rank_ == 0 ? static_cast<std::size_t>(ranks_) : 0);
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, lines.data(), sizeof mine, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    return lines;
}

// Each rank sends its rows one after the other: item, length of the reason, reason, counts.
std::map<std::uint64_t, Report::Row> Report::gather_rows(
    const WorkQueue& work, const std::map<std::uint64_t, Counts>& each) const {
    std::map<std::uint64_t, Row> rows;
    for (const auto& [item, reason] : work.skipped)
        rows[item] = {reason, {}};
    for (const auto& [item, counts] : each)
        rows[item] = {{}, counts};
    constexpr int kTag = 17;
    if (rank_ != 0) {
        const std::uint64_t number = rows.size();
        MPI_Send(&number, 1, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD);
        for (const auto& [item, row] : rows) {
            const std::uint64_t head[] = {item, row.reason.size()};
            MPI_Send(head, 2, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD);
            MPI_Send(row.reason.data(), static_cast<int>(row.reason.size()), MPI_CHAR, 0, kTag,
                     MPI_COMM_WORLD);
            MPI_Send(row.counts.data(), common::kBins, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD);
        }
        return {};
    }
    for (int from = 1; from < ranks_; ++from) {
        std::uint64_t number = 0;
        MPI_Recv(&number, 1, MPI_UINT64_T, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (; number > 0; --number) {
            std::uint64_t head[2] = {};
            MPI_Recv(head, 2, MPI_UINT64_T, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            Row row{std::string(head[1], ' '), {}};
            MPI_Recv(row.reason.data(), static_cast<int>(head[1]), MPI_CHAR, from, kTag,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(row.counts.data(), common::kBins, MPI_UINT64_T, from, kTag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            rows[head[0]] = std::move(row);
        }
    }
    return rows;
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
    const std::vector<Line> lines = gather_lines(work);
    const std::map<std::uint64_t, Row> rows = gather_rows(work, each);
    int status = common::kEveryVariantMatches;
    if (rank_ == 0) {
        std::size_t skipped = 0;
        for (const auto& [item, row] : rows) {
            if (row.reason.empty()) continue;
            ++skipped;
            common::progress(fmt::format("skipped: {}\n", row.reason));
        }
        const std::string why = why_wrong(rows);
        const std::string check = !why.empty()             ? "mismatch"
                                  : cluster_options_.check ? "match"
                                                           : "not checked";
        print(lines, skipped, check);
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
            common::write_whole(*cluster_options_.each, each_text(rows));
        if (options_.json) common::write_whole(*options_.json, json_text(lines, skipped, check));
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

std::map<std::pair<std::string, std::string>, int> Report::ranks_on_devices(
    const std::vector<Line>& lines) {
    std::map<std::pair<std::string, std::string>, int> ranks;
    for (const Line& line : lines)
        ++ranks[{line.host, line.device_id}];
    return ranks;
}

void Report::print(const std::vector<Line>& lines, std::size_t skipped,
                   const std::string& check) const {
    const auto on_device = ranks_on_devices(lines);
    const std::size_t hosts = number_of_hosts(on_device);
    const std::uint64_t counted = total(sums_);
    std::string text = fmt::format(
        "\n{}, {} on {} rank{}, {} host{}\ninput: {} ({} pixels{})\n", program_.name, program_.api,
        ranks_, ranks_ == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s", common::shown(source_.name),
        counted, cluster_options_.resident ? ", in the devices' memory" : "");
    if (ranks_ == 1) text += "one rank: mpirun -n 2 before the command starts two\n";
    for (const auto& [device, ranks] : on_device) {
        if (ranks > 1 && program_.api != "C++")
            text +=
                fmt::format("{} ranks share a device of {}\n", ranks, common::shown(device.first));
    }
    std::vector<std::vector<std::string>> rows;
    std::uint64_t idle = 0;
    for (std::size_t rank = 0; rank < lines.size(); ++rank) {
        const Line& line = lines[rank];
        const double reading = line.tally.reading_seconds;
        const double busy = line.last.counted - line.last.begun;
        idle += line.tally.items == 0 ? 1U : 0U;
        rows.push_back({std::to_string(rank), line.host, line.device,
                        std::to_string(line.tally.items), std::to_string(line.tally.pixels),
                        number(1000 * reading), number(1000 * (busy - reading)),
                        number(1000 * (line.last.all_counted - line.last.counted)),
                        number(static_cast<double>(line.peak_memory_bytes >> 20))});
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
    if (skipped > 0) {
        text += fmt::format("skipped: {} picture{} that cannot be read\n", skipped,
                            skipped == 1 ? "" : "s");
    }
    text += fmt::format("check: {}\n", check == "match" ? "equals the serial loop"
                                       : check == "mismatch"
                                           ? "does not match"
                                           : "not checked (--check counts serially as well)");
    common::print(text);
}

std::string Report::json_text(const std::vector<Line>& lines, std::size_t skipped,
                              const std::string& check) const {
    const auto timing = [](const common::Timing& t) {
        return Json{
            {"median", t.median_ms}, {"min", t.min_ms}, {"max", t.max_ms}, {"runs", t.runs}};
    };
    const std::uint64_t counted = total(sums_);
    const common::Timing all = summary(runs_, total_ms);
    Json json;
    json["chapter"] = program_.chapter;
    json["api"] = program_.api;
    json["device"] = lines[0].device;
    json["driver"] = driver_;
    json["mpi"] = mpi_library();
    json["input"] = {{"name", source_.name},
                     {"pixels", counted},
                     {"seed", source_.seed ? Json(*source_.seed) : Json(nullptr)}};
    const auto on_device = ranks_on_devices(lines);
    json["ranks"] = ranks_;
    json["hosts"] = number_of_hosts(on_device);
    json["devices"] = on_device.size();
    json["chunk"] = source_.chunk;
    json["resident"] = cluster_options_.resident;
    json["check"] = check;
    json["skipped"] = skipped;
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
    json["per_rank"] = Json::array();
    for (std::size_t rank = 0; rank < lines.size(); ++rank) {
        const Line& line = lines[rank];
        const double reading = line.tally.reading_seconds;
        const double busy = line.last.counted - line.last.begun;
        json["per_rank"].push_back(
            {{"rank", rank},
             {"host", line.host},
             {"device", line.device},
             {"device_id", line.device_id},
             {"items", line.tally.items},
             {"pixels", line.tally.pixels},
             {"reading_ms", 1000 * reading},
             {"counting_ms", 1000 * (busy - reading)},
             {"waiting_ms", 1000 * (line.last.all_counted - line.last.counted)},
             {"peak_memory_bytes", line.peak_memory_bytes}});
    }
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
        text += quoted(source_.pictures[item].string()) + ',' + quoted(row.reason) + ',' +
                std::to_string(total(row.counts));
        for (const std::uint64_t count : row.counts)
            text += fmt::format(",{}", count);
        text += '\n';
    }
    return text;
}

}  // namespace cluster
