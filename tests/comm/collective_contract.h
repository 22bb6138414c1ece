// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "steptape/comm/communicator.h"

namespace steptape::test {

/// One promise of Communicator. `check` is called by all ranks of a group of any size, leaves the
/// group in step, and reports with EXPECT_* from the ranks' threads or processes.
struct ContractCase {
  const char* name;
  void (*check)(Communicator& world);
};

inline void PrintTo(const ContractCase& contract, std::ostream* out) {
  *out << contract.name;
}

/// What every kind of communicator promises, by theme: run on threads by tests/testing, on
/// processes by tests/mpi.
std::vector<ContractCase> reductionContract();
std::vector<ContractCase> exchangeContract();
std::vector<ContractCase> asynchronousContract();
std::vector<ContractCase> mismatchContract();
std::vector<ContractCase> groupContract();
std::vector<ContractCase> nodeMemoryContract();
std::vector<ContractCase> collectiveContract();

/// "rank 2 (node7)", as errors name a rank of `world`.
std::string nameOf(Communicator& world, int rank);

}  // namespace steptape::test
