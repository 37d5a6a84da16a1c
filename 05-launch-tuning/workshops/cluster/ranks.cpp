#include "05-launch-tuning/workshops/cluster/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "common/files/input_file.hpp"
#include "common/process/own_program.hpp"
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

// Collective. What has to be the same on all ranks is compared by its hash.
void require_same(const char* what, std::uint64_t hash) {
    std::vector<std::uint64_t> all(static_cast<std::size_t>(rank_count()));
    MPI_Allgather(&hash, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    const auto other =
        std::find_if(all.begin(), all.end(), [&](std::uint64_t one) { return one != all.front(); });
    if (other == all.end()) return;
    // The first rank that differs says so; the others learn which one it is.
    if (other - all.begin() == rank())
        throw common::BadInput(fmt::format("rank 0 has {}: all ranks need the same", what));
    throw OthersFailed(first_to_fail(false));
}

std::uint64_t hash_of(const std::string& text) {
    return std::hash<std::string>()(text);
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

void require_same_program() {
    std::string program;
    try {
        program = common::read_whole(common::own_program());
    } catch (const common::BadInput&) {
        // A program that may be run but not read is not compared.
    }
    require_same("another program", hash_of(program));
}

void require_all_ready(int argc, const char* const* argv, const std::string& kernels,
                       const Source& source) {
    if (const int first = first_to_fail(false); first < rank_count()) throw OthersFailed(first);

    std::string command_line;
    for (int i = 1; i < argc; ++i)
        command_line += argv[i] + std::string(1, '\0');
    require_same("other kernels", hash_of(kernels));
    require_same("another command line", hash_of(command_line));
    require_same("other files", source.fingerprint());
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
        return common::kMismatch;  // MPI_Abort does not return
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
