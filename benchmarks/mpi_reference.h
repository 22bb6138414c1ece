// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace benchmark {

// Plain MPI over all ranks of the job, for what Steptape is compared with. No unit sees both
// <mpi.h> and LibTorch.

/// Adds `data` up over all ranks, in place, by one MPI_Allreduce.
void allreduceSum(float* data, std::size_t size);
void barrier();

}  // namespace benchmark
