// SPDX-License-Identifier: Apache-2.0
// The guarantees of every communicator, over the functions that <steptape/c/mpi.h> makes.

#include <chrono>
#include <memory>
#include <string>

#include "steptape/base/status.h"
#include "steptape/c/mpi.h"

#include "c/caller_ranks.h"
#include "ranks/communicator/collective_contract.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::c::CallerRanks;
using detail::ranks::GatherCommunicator;
using ::testing::HasSubstr;
using ::testing::Not;

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

/// Returns what rank 0 warns of while the last rank is missing; empty on other ranks.
std::string warningWhileTheLastRankIsMissing(Communicator& world) {
  constexpr int kTag = 7;
  const int last = world.size() - 1;
  char token = 0;
  std::string warned;
  const auto tell = [&](int rank) { MPI_Send(&token, 1, MPI_CHAR, rank, kTag, MPI_COMM_WORLD); };
  const auto hear = [&](int rank) {
    MPI_Recv(&token, 1, MPI_CHAR, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  if (world.rank() == last) {
    hear(0);  // that it has warned
  } else if (world.isRoot()) {
    for (int other = 1; other < last; ++other) {
      hear(other);  // that it waits, and has said so to all: a slow rank would be missing as well
    }
    world.setStallWarning(std::chrono::milliseconds(200), [&](const std::string& warning) {
      warned = warning;
      tell(last);
    });
  } else {
    world.setStallWarning(std::chrono::milliseconds(20), [&](const std::string&) { tell(0); });
  }
  world.barrier();
  return warned;
}

TEST(CommunicatorOfCallers, NamesTheRankThatIsMissing) {
  GatherCommunicator world(callers());
  if (world.size() == 1) {
    return;
  }
  const std::string warning = warningWhileTheLastRankIsMissing(world);
  const int last = world.size() - 1;
  EXPECT_EQ(warning.find("rank " + std::to_string(last)) != std::string::npos, world.isRoot());
  for (int other = 1; other < last; ++other) {
    EXPECT_THAT(warning, Not(HasSubstr("rank " + std::to_string(other))));
  }
}

TEST(CommunicatorOfCallers, NamesNoRankIfRanksCannotSend) {
  steptape_communicator calls = steptape_mpi_communicator(MPI_COMM_WORLD);
  calls.receive = nullptr;
  GatherCommunicator world(std::make_shared<const CallerRanks>(calls));
  if (world.size() == 1) {
    return;
  }
  const std::string warning = warningWhileTheLastRankIsMissing(world);
  if (world.isRoot()) {
    EXPECT_EQ(warning, "barrier waits for 0.2 s for other ranks");
  }
}

}  // namespace
}  // namespace steptape
