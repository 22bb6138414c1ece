// SPDX-License-Identifier: Apache-2.0
// The guarantees of every communicator, over the functions that <steptape/c/mpi.h> makes.

#include <chrono>
#include <memory>
#include <string>

#include "steptape/base/status.h"
#include "steptape/c/mpi.h"

#include "c/caller_ranks.h"
#include "ranks/communicator/collective_contract.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::c::CallerRanks;
using detail::ranks::GatherCommunicator;

using ContractOfCallers = ::testing::TestWithParam<test::ContractCase>;

std::shared_ptr<const CallerRanks> callers() {
  return std::make_shared<const CallerRanks>(steptape_mpi_communicator(MPI_COMM_WORLD));
}

TEST_P(ContractOfCallers, Holds) {
  GatherCommunicator world(callers());
  world.setTimeout(std::chrono::seconds(30));
  GetParam().check(world);
}

std::string nameOfCase(const ::testing::TestParamInfo<test::ContractCase>& tested) {
  return tested.param.name;
}

// The guarantees of groups are left out: it makes none, and says so.
INSTANTIATE_TEST_SUITE_P(Reductions, ContractOfCallers,
                         ::testing::ValuesIn(test::reductionContract()), &nameOfCase);
INSTANTIATE_TEST_SUITE_P(Exchanges, ContractOfCallers,
                         ::testing::ValuesIn(test::exchangeContract()), &nameOfCase);
INSTANTIATE_TEST_SUITE_P(Asynchronous, ContractOfCallers,
                         ::testing::ValuesIn(test::asynchronousContract()), &nameOfCase);
INSTANTIATE_TEST_SUITE_P(Mismatches, ContractOfCallers,
                         ::testing::ValuesIn(test::mismatchContract()), &nameOfCase);

TEST(CommunicatorOfCallers, MakesNoGroups) {
  GatherCommunicator world(callers());
  EXPECT_THROW(world.split(0, 0), Error);
}

}  // namespace
}  // namespace steptape
