// SPDX-License-Identifier: Apache-2.0
#include "mpi_reference.h"

// The deprecated C++ bindings are not used.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace benchmark {

void allreduceSum(float* data, std::size_t size) {
  MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(size), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

void barrier() {
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace benchmark
