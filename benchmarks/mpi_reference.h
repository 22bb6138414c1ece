// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace benchmark {

// Plain MPI over all ranks of the job, for comparison. No translation unit includes both <mpi.h>
// and LibTorch.

/// Sums `data` over all ranks, in place, by one MPI_Allreduce.
void allreduceSum(float* data, std::size_t size);
void barrier();

}  // namespace benchmark
