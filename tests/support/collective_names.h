// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::test {

/// The collectives that tests/ranks/mpi/rank_failure_program.cpp calls by name.
inline constexpr const char* kCollectives[] = {
    "allreduce", "allreduceGrouped", "reduceScatter", "broadcast",          "allgather",
    "alltoall",  "worldBarrier",     "split",         "allocateNodeMemory",
};

}  // namespace steptape::test
