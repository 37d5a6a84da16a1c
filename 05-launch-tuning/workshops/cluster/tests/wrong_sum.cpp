// A library to preload: of the sums of a program the first has one pixel too many.
#include <mpi.h>

#include <cstdint>

extern "C" int MPI_Allreduce(const void* from, void* sums, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm ranks) {
    static int before = 0;
    if (count == 256 && before++ == 0) ++*static_cast<std::uint64_t*>(sums);
    return PMPI_Allreduce(from, sums, count, type, op, ranks);
}
