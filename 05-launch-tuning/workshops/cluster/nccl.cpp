#include "05-launch-tuning/workshops/cluster/nccl.hpp"

#ifdef WITH_NCCL
#include <nccl.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "common/cuda/cuda.hpp"
#endif

namespace cluster {

#ifdef WITH_NCCL

namespace {

void check(ncclResult_t error) {
    if (error != ncclSuccess)
        throw std::runtime_error(std::string("NCCL: ") + ncclGetErrorString(error));
}

bool ranks_share_devices(const std::string& device_id, int ranks) {
    // Devices of two hosts may have the same id.
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(host, &length);
    const std::uint64_t mine = std::hash<std::string>()(std::string(host) + ' ' + device_id);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks));
    MPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    std::sort(all.begin(), all.end());
    return std::adjacent_find(all.begin(), all.end()) != all.end();
}

}  // namespace

void time_nccl(Report& report, const std::string& device_id, cudaStream_t stream) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks_share_devices(device_id, ranks)) {
        report.skip_all_reduce("NCCL", "ranks share a device");
        return;
    }
    ncclUniqueId id{};
    if (rank == 0) check(ncclGetUniqueId(&id));
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    ncclComm_t all_ranks = nullptr;
    check(ncclCommInitRank(&all_ranks, ranks, id, rank));
    const std::unique_ptr<std::remove_pointer_t<ncclComm_t>, decltype(&ncclCommDestroy)> owner(
        all_ranks, ncclCommDestroy);

    // Each rank gives its number plus one to every bin.
    common::cuda::Memory<std::uint64_t> sums;
    Counts counts{};
    counts.fill(static_cast<std::uint64_t>(rank) + 1);
    CHECK_CUDA(cudaMalloc(sums.out(), 2 * sizeof counts));
    CHECK_CUDA(cudaMemcpy(sums, counts.data(), sizeof counts, cudaMemcpyHostToDevice));
    report.time_all_reduce("NCCL", [&] {
        check(ncclAllReduce(sums, sums + common::kBins, common::kBins, ncclUint64, ncclSum,
                            all_ranks, stream));
        CHECK_CUDA(cudaStreamSynchronize(stream));
    });
    CHECK_CUDA(
        cudaMemcpy(counts.data(), sums + common::kBins, sizeof counts, cudaMemcpyDeviceToHost));
    Counts expected{};
    expected.fill(static_cast<std::uint64_t>(ranks) * (static_cast<std::uint64_t>(ranks) + 1) / 2);
    if (counts != expected) throw std::runtime_error("NCCL: the sums are wrong");
}

#else

void time_nccl(Report& report, const std::string&, cudaStream_t) {
    report.skip_all_reduce("NCCL", "built without it");
}

#endif

}  // namespace cluster
