/// @file
/// What rank 0 says at the end: who did what, how long it took, and whether it is right.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "05-launch-tuning/workshops/cluster/source.hpp"
#include "05-launch-tuning/workshops/cluster/work_queue.hpp"

namespace cluster {

/// The moments of a run on a rank, in seconds of MPI_Wtime.
struct Times {
    double begun = 0;
    double counted = 0;      ///< this rank found nothing left to take
    double all_counted = 0;  ///< and no other rank did, either
    double merged = 0;       ///< the sums of all are known
};

/// All functions are collective, but not the constructor.
class Report {
 public:
    /// @param device,driver as the table and the JSON call them
    /// @param device_id equal for two ranks of a host if they use the same one
    Report(const common::Program& program, const common::Options& options,
           const ClusterOptions& cluster_options, const Source& source, std::string device,
           std::string driver, std::string device_id);

    /// A run, with the sums of all ranks.
    void add_run(const Times& times, const Counts& sums);

    /// Times an all-reduce of 256 counters many times; all ranks begin each one together.
    /// @param all_reduce adds up what it is given and returns when the sums are known
    void time_all_reduce(const std::string& library, const std::function<void()>& all_reduce);

    /// Says why another library's is not timed.
    void skip_all_reduce(const std::string& library, const std::string& reason);

    /// Checks, prints and writes what was asked for.
    /// @param each of the last run: the counts of the pictures that this rank took
    /// @return the exit status
    int finish(const WorkQueue& work, const std::map<std::uint64_t, Counts>& each);

 private:
    struct Gathered;
    struct AllReduce {
        std::string library;
        std::optional<double> median_us;
        std::string reason;
    };
    struct Row {             // of --each
        std::string reason;  // why the picture could not be read
        Counts counts{};
    };
    [[nodiscard]] Gathered gathered(const WorkQueue& work,
                                    const std::map<std::uint64_t, Counts>& each) const;
    [[nodiscard]] std::string why_wrong(const std::map<std::uint64_t, Row>& rows) const;
    void print(const Gathered& gathered, const std::string& check) const;
    [[nodiscard]] std::string json_text(const Gathered& gathered, const std::string& check) const;
    [[nodiscard]] std::string each_text(const std::map<std::uint64_t, Row>& rows) const;

    const common::Program& program_;
    const common::Options& options_;
    const ClusterOptions& cluster_options_;
    const Source& source_;
    std::string device_, driver_, device_id_;
    int rank_ = 0, ranks_ = 1;
    std::vector<Times> runs_;
    Counts sums_{};
    bool runs_differ_ = false;
    std::vector<AllReduce> all_reduces_;
};

}  // namespace cluster
