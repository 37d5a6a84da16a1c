#include "05-launch-tuning/workshops/cluster/ranks.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "common/process/status.hpp"

namespace cluster {
namespace {

bool all_ready = false;

// Another rank has failed, and says so.
class OthersFailed : public std::exception {
 public:
    explicit OthersFailed(int rank) : first(rank) {}
    int first;
};

// Collective. Returns the lowest rank that has failed, or the number of ranks if none has.
int first_to_fail(bool failed) {
    int first = failed ? rank() : rank_count();
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return first;
}

}  // namespace

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

std::string host() {
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(host, &length);
    return host;
}

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

}  // namespace cluster
