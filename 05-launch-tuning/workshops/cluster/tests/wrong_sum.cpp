// A library to preload: of the sums of a program the first has one pixel too many.
#include <mpi.h>

#include <cstdint>

extern "C" int MPI_Allreduce(const void* from, void* sums, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm ranks) {
    static bool is_first = true;
    if (count == 256 && is_first) ++*static_cast<std::uint64_t*>(sums);
    is_first = is_first && count != 256;
    return PMPI_Allreduce(from, sums, count, type, op, ranks);
}
