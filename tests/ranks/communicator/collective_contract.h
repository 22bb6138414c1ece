// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "steptape/ranks/communicator.h"

namespace steptape::test {

/// One guarantee of Communicator. All ranks of a group of any size call `check`, which leaves the
/// group in step, and reports with EXPECT_* from the ranks' threads or processes.
struct ContractCase {
  const char* name;
  void (*check)(Communicator& world);
};

inline void PrintTo(const ContractCase& contract, std::ostream* out) {
  *out << contract.name;
}

/// The guarantees of every kind of communicator, by theme. tests/ranks/testing runs them on
/// threads, tests/ranks/mpi on processes.
std::vector<ContractCase> reductionContract();
std::vector<ContractCase> exchangeContract();
std::vector<ContractCase> asynchronousContract();
std::vector<ContractCase> mismatchContract();
std::vector<ContractCase> groupContract();
std::vector<ContractCase> nodeMemoryContract();
std::vector<ContractCase> collectiveContract();

/// Returns the name of a rank of `world` in errors: "rank 2 (node7)".
std::string nameOf(Communicator& world, int rank);

}  // namespace steptape::test
