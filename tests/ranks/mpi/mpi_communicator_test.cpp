// SPDX-License-Identifier: Apache-2.0
#include "steptape/ranks/mpi_communicator.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/metrics/metric_average.h"

#include "ranks/engine/collective_stages.h"
#include "ranks/mpi/mpi_environment.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {
int postedCollectives = 0;
}

// MPI's profiling interface: counts and forwards each call.
extern "C" int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm, MPI_Request* request) {
  ++postedCollectives;
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}
extern "C" int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  ++postedCollectives;
  return PMPI_Ibarrier(comm, request);
}

namespace steptape {
namespace {

using test::expectError;
using ::testing::Each;
using ::testing::ElementsAre;

std::vector<float> ramp(std::size_t size, int rank) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), static_cast<float>(rank));
  return values;
}

TEST(MpiCommunicator, AgreesWithMpiOnRankAndSize) {
  const MpiCommunicator world(MPI_COMM_WORLD);
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(world.rank(), rank);
  EXPECT_EQ(world.size(), size);
  EXPECT_EQ(world.isRoot(), rank == 0);
}

TEST(MpiCommunicator, NumbersTheRanksOfANode) {
  MpiCommunicator world(MPI_COMM_WORLD);
  // All ranks of this test are on one node.
  EXPECT_EQ(world.localRank(), world.rank());
  EXPECT_EQ(world.localSize(), world.size());
}

TEST(MpiCommunicator, TreatsBlocksOfRanksAsNodes) {
  MpiCommunicatorOptions options;
  options.ranksPerNode = 1;
  MpiCommunicator world(MPI_COMM_WORLD, options);
  EXPECT_EQ(world.nodeName(), Communicator().nodeName() + "/" + std::to_string(world.rank()));
  EXPECT_EQ(world.localRank(), 0);
  EXPECT_EQ(world.localSize(), 1);
  EXPECT_EQ(world.crossRank(), world.rank());
  EXPECT_EQ(world.crossSize(), world.size());
  const auto memory = world.allocateNodeMemory(8);
  ASSERT_NE(memory, nullptr);
  memory->data()[0] = std::byte{static_cast<unsigned char>(world.rank())};
  world.barrier();
  EXPECT_EQ(memory->data()[0], std::byte{static_cast<unsigned char>(world.rank())});
  // Subgroups also know their nodes.
  const auto half = world.split(world.rank() % 2, 0);
  EXPECT_EQ(half->crossSize(), half->size());
}

TEST(MpiCommunicator, DetectsARankThatReleasedNodeMemory) {
  MpiCommunicator world(MPI_COMM_WORLD);
  auto memory = world.allocateNodeMemory(8);
  ASSERT_NE(memory, nullptr);
  EXPECT_NO_THROW(memory->checkPeers());
  world.barrier();
  if (world.isRoot()) {
    memory.reset();
  }
  world.barrier();
  if (memory) {
    expectError(ErrorCode::kDeadlineExceeded,
                "rank 0 (" + world.nodeName() + ") has ended or let go of the memory",
                [&] { memory->checkPeers(); });
  }
}

/// Returns the number of MPI collectives that `call` posts.
template <typename Call>
int mpiCollectivesOf(const Call& call) {
  const int before = postedCollectives;
  call();
  return postedCollectives - before;
}

TEST(MpiCommunicator, ComparesTheRanksInTheMessageThatBringsAFewElements) {
  MpiCommunicatorOptions options;
  options.useNodeMemory = false;
  MpiCommunicator world(MPI_COMM_WORLD, options);
  const auto forElements = [&](std::size_t count) {
    std::vector<double> data(count, 1);
    const int posted = mpiCollectivesOf([&] { world.allreduce(data, ReduceOp::kSum); });
    EXPECT_THAT(data, Each(world.size()));
    return posted;
  };
  const int ifSeveral = world.size() > 1 ? 1 : 0;
  EXPECT_EQ(forElements(1), ifSeveral);
  EXPECT_EQ(forElements(13), ifSeveral);
  EXPECT_EQ(forElements(14), 2 * ifSeveral);
  EXPECT_EQ(mpiCollectivesOf([&] { world.barrier(); }), ifSeveral);
}

TEST(MpiCommunicator, LeavesTheMemoryUnchangedIfSmallReductionsDiffer) {
  MpiCommunicator world(MPI_COMM_WORLD);
  if (world.size() == 1) {
    EXPECT_NO_THROW(world.barrier());
    return;
  }
  const bool isLast = world.rank() == world.size() - 1;
  std::vector<double> data{2, 3};
  std::vector<float> other{2, 3, 4};
  const std::string who = "rank " + std::to_string(world.size() - 1) + " (";
  expectError(ErrorCode::kRankMismatch, who, [&] {
    if (isLast) {
      world.allreduce(other, ReduceOp::kSum);
    } else {
      world.allreduce(data, ReduceOp::kSum);
    }
  });
  EXPECT_THAT(data, ElementsAre(2, 3));
  EXPECT_THAT(other, ElementsAre(2, 3, 4));
  world.allreduce(data, ReduceOp::kSum);
  EXPECT_THAT(data, ElementsAre(2 * world.size(), 3 * world.size()));
}

TEST(MpiCommunicator, RefusesANegativeNumberOfRanksPerNode) {
  MpiCommunicatorOptions options;
  options.ranksPerNode = -1;
  expectError(ErrorCode::kInvalidArgument,
              "MpiCommunicator: got ranksPerNode = -1; expected 1 or more",
              [&] { MpiCommunicator world(MPI_COMM_WORLD, options); });
}

TEST(MpiCommunicator, CombinesAGradientOfManyElements) {
  MpiCommunicator world(MPI_COMM_WORLD);
  constexpr std::size_t kSize = 1 << 20;
  std::vector<float> gradient = ramp(kSize, world.rank());
  world.allreduce(ArrayView<float>(gradient), ReduceOp::kMax);
  EXPECT_EQ(gradient, ramp(kSize, world.size() - 1));
}

TEST(MpiCommunicator, TakesSeveralMpiCallsForMoreElementsThanOneTakes) {
  MpiCommunicatorOptions options;
  options.maxCount = 5;
  options.useNodeMemory = false;
  MpiCommunicator world(MPI_COMM_WORLD, options);
  std::vector<float> values = ramp(23, world.rank());
  world.allreduce(ArrayView<float>(values), ReduceOp::kMin);
  EXPECT_EQ(values, ramp(23, 0));

  std::vector<std::uint64_t> sent = {1, 2, 3};
  std::vector<std::uint64_t> received(3);
  std::vector<std::uint64_t>& data = world.isRoot() ? sent : received;
  world.broadcast(data.data(), data.size() * sizeof(data[0]), 0);
  EXPECT_THAT(data, ElementsAre(1, 2, 3));

  const std::string mine = "rank " + std::to_string(world.rank()) +
                           std::string(static_cast<std::size_t>(3 * world.rank()), '!');
  const std::vector<std::string> all = world.allgather(mine);
  EXPECT_EQ(all[static_cast<std::size_t>(world.rank())], mine);
  EXPECT_EQ(all[0], "rank 0");
}

TEST(MpiCommunicator, RefusesAnImpossibleMaxCount) {
  MpiCommunicatorOptions options;
  options.maxCount = 0;
  expectError(ErrorCode::kInvalidArgument, "MpiCommunicator: got maxCount = 0; expected ",
              [&] { MpiCommunicator world(MPI_COMM_WORLD, options); });
}

TEST(MpiCommunicator, WorksOnAPartOfTheRanks) {
  MpiCommunicator world(MPI_COMM_WORLD);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(world.handle(), world.rank() % 2, world.rank(), &half);
  {
    MpiCommunicator part(half);
    double ones[] = {1};
    part.allreduce(ArrayView<double>(ones), ReduceOp::kSum);
    EXPECT_EQ(ones[0], part.size());
    EXPECT_EQ(part.size(), (world.size() + 1 - world.rank() % 2) / 2);
  }
  MPI_Comm_free(&half);
}

TEST(MpiCommunicator, AveragesAMetricTheSameToTheBitOnEveryRank) {
  MpiCommunicator world(MPI_COMM_WORLD);
  double average = metricAverage(world, 0.1 * (world.rank() + 1), 3);
  const std::string bits(reinterpret_cast<const char*>(&average), sizeof average);
  for (const std::string& other : world.allgather(bits)) {
    EXPECT_EQ(other, bits);
  }
}

TEST(MpiCommunicator, WaitsForARankThatIsLate) {
  MpiCommunicator world(MPI_COMM_WORLD);
  for (int late = 0; late < world.size(); ++late) {
    std::vector<float> values = ramp(100000, world.rank());
    if (world.rank() == late) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    world.allreduce(ArrayView<float>(values), ReduceOp::kMin);
    EXPECT_EQ(values, ramp(100000, 0));
  }
}

TEST(Chunks, CoverAllElementsWithoutGapOrOverlap) {
  std::vector<std::pair<std::size_t, int>> chunks;
  const auto record = [&](std::size_t offset, int count) { chunks.emplace_back(offset, count); };
  detail::ranks::forEachChunk(10, 4, record);
  EXPECT_THAT(chunks, ElementsAre(std::pair(0, 4), std::pair(4, 4), std::pair(8, 2)));
  chunks.clear();
  detail::ranks::forEachChunk(0, 4, record);
  EXPECT_TRUE(chunks.empty());
}

TEST(World, IsOneCommunicatorForAllCallsWithTheOptionsOfTheEnvironment) {
  const auto all = world();
  EXPECT_EQ(world(), all);
  EXPECT_EQ(all->timeout(), std::chrono::seconds(60));  // mpi_test_main.cpp asks for them
}

TEST(Environment, LeavesARunningMpiToItsOwner) {
  {
    const mpi::Environment second;
    EXPECT_FALSE(second.ownsMpi());
    // The level that the first one requested by default.
    EXPECT_EQ(second.threadLevel(), MpiThreadLevel::kMultiple);
  }
  int isFinalized = 0;
  MPI_Finalized(&isFinalized);
  EXPECT_EQ(isFinalized, 0);
}

}  // namespace
}  // namespace steptape
