// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "ranks/communicator/collective_contract.h"
#include "ranks/communicator/node_barrier.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CollectiveOptions named(const std::string& name) {
  CollectiveOptions options;
  options.name = name;
  return options;
}

/// Expects that `action`, in which the last rank does something different, throws on all ranks that
/// this rank is in `odd`, expected `wanted`; and that the group is usable afterwards.
template <typename Action>
void expectMismatch(Communicator& world, const std::string& odd, const std::string& wanted,
                    const Action& action) {
  const int last = world.size() - 1;
  const std::string who = nameOf(world, last);
  if (world.size() == 1) {
    EXPECT_NO_THROW(action(/*isOdd=*/false));
    return;
  }
  expectError(ErrorCode::kRankMismatch,
              "ranks meet in different operations: " + who + " is in " + odd + "; expected " +
                  wanted + " as rank 0",
              [&] { action(world.rank() == last); });
  double ones[] = {1};
  world.allreduce(ones, ReduceOp::kSum);
  EXPECT_EQ(ones[0], world.size());
}

void operations(Communicator& world) {
  expectMismatch(world, "allgather", "barrier", [&](bool isOdd) {
    if (isOdd) {
      world.allgather("bytes");
    } else {
      world.barrier();
    }
  });
  double data[] = {1};
  expectMismatch(
      world, "allreduce(max) of 1 float64", "allreduce(sum) of 1 float64",
      [&](bool isOdd) { world.allreduce(data, isOdd ? ReduceOp::kMax : ReduceOp::kSum); });
  EXPECT_EQ(data[0], 1);
}

void types(Communicator& world) {
  double doubles[] = {1};
  float floats[] = {1};
  expectMismatch(world, "allreduce(sum) of 1 float32", "allreduce(sum) of 1 float64",
                 [&](bool isOdd) {
                   world.allreduce(isOdd ? Elements(floats) : Elements(doubles), ReduceOp::kSum);
                 });
}

void sizes(Communicator& world) {
  std::vector<float> data(world.rank() == world.size() - 1 && world.size() > 1 ? 30000 : 3, 1);
  expectMismatch(world, "allreduce(sum) 'w' of 30000 float32", "allreduce(sum) 'w' of 3 float32",
                 [&](bool) { world.allreduce(data, ReduceOp::kSum, named("w")); });
  EXPECT_THAT(data, Each(1));
  std::string bytes(world.rank() == world.size() - 1 && world.size() > 1 ? 5 : 4, 'x');
  expectMismatch(world, "broadcast of 5 bytes from rank 0", "broadcast of 4 bytes from rank 0",
                 [&](bool) { world.broadcast(bytes.data(), bytes.size(), 0); });
}

void roots(Communicator& world) {
  int data = 0;
  expectMismatch(world, "gather to rank " + std::to_string(world.size() - 1), "gather to rank 0",
                 [&](bool isOdd) { world.gatherObject("x", isOdd ? world.size() - 1 : 0); });
  EXPECT_EQ(data, 0);
}

void names(Communicator& world) {
  double data[] = {1};
  expectMismatch(
      world, "allreduce(sum) 'bias' of 1 float64", "allreduce(sum) 'weight' of 1 float64",
      [&](bool isOdd) { world.allreduce(data, ReduceOp::kSum, named(isOdd ? "bias" : "weight")); });
}

void order(Communicator& world) {
  double first[] = {1};
  double second[] = {1};
  const bool isOdd = world.rank() == world.size() - 1 && world.size() > 1;
  const std::string who = nameOf(world, world.size() - 1);
  CollectiveHandle one = world.allreduceAsync(first, ReduceOp::kSum, named(isOdd ? "b" : "a"));
  CollectiveHandle two = world.allreduceAsync(second, ReduceOp::kSum, named(isOdd ? "a" : "b"));
  double third[] = {1};
  CollectiveHandle three = world.allreduceAsync(third, ReduceOp::kSum, named("c"));
  // A collective in step continues, even if it was started before the mismatch was known.
  three.wait();
  EXPECT_EQ(third[0], world.size());
  if (world.size() == 1) {
    return;
  }
  expectError(
      ErrorCode::kRankMismatch,
      who + " is in allreduce(sum) 'a' of 1 float64; expected allreduce(sum) 'b' of 1 float64",
      [&] { two.wait(); });
  expectError(
      ErrorCode::kRankMismatch,
      who + " is in allreduce(sum) 'b' of 1 float64; expected allreduce(sum) 'a' of 1 float64",
      [&] { one.wait(); });
}

void severalRanks(Communicator& world) {
  if (world.size() < 3) {
    EXPECT_NO_THROW(world.barrier());
    return;
  }
  const std::string rankOne = nameOf(world, 1);
  expectError(ErrorCode::kRankMismatch,
              rankOne + " is in barrier 'other'; expected barrier 'root' as rank 0 (" +
                  std::to_string(world.size() - 1) + " ranks differ from rank 0)",
              [&] { world.barrier(named(world.isRoot() ? "root" : "other")); });
}

void droppedErrors(Communicator& world) {
  const bool isOdd = world.rank() == world.size() - 1 && world.size() > 1;
  double data[] = {1};
  {
    const CollectiveHandle dropped =
        world.allreduceAsync(data, ReduceOp::kSum, named(isOdd ? "b" : "a"));
  }
  if (world.size() > 1) {
    expectError(ErrorCode::kFailedPrecondition,
                "barrier 'next': not started, because the error of a collective without a wait() "
                "was dropped: ranks meet in different operations: ",
                [&] { world.barrier(named("next")); });
  }
  world.barrier(named("after"));
  EXPECT_EQ(data[0], 1);
}

int sumOfRanks(Communicator& group, int value) {
  int data[] = {value};
  group.allreduce(data, ReduceOp::kSum);
  return data[0];
}

void splits(Communicator& world) {
  // Odd and even ranks, highest first.
  const auto half = world.split(world.rank() % 2, -world.rank());
  const int members = (world.size() + 1 - world.rank() % 2) / 2;
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(half->size(), members);
  EXPECT_EQ(half->rank(), members - 1 - world.rank() / 2);
  EXPECT_EQ(half->localSize(), members);
  EXPECT_EQ(half->crossSize(), 1);
  int expected = 0;
  for (int rank = world.rank() % 2; rank < world.size(); rank += 2) {
    expected += rank;
  }
  EXPECT_EQ(sumOfRanks(*half, world.rank()), expected);
  // A group of a group, concurrent with operations of the whole.
  const auto alone = half->split(half->rank(), 0);
  EXPECT_EQ(alone->size(), 1);
  EXPECT_EQ(sumOfRanks(world, 1), world.size());
}

void leavesOut(Communicator& world) {
  const auto group = world.split(world.isRoot() ? -1 : 7, 0);
  EXPECT_EQ(group == nullptr, world.isRoot());
  if (group) {
    EXPECT_EQ(sumOfRanks(*group, 1), world.size() - 1);
  }
}

void subgroups(Communicator& world) {
  std::vector<int> backwards(static_cast<std::size_t>(world.size()));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const auto reversed = world.subgroup(backwards);
  ASSERT_NE(reversed, nullptr);
  EXPECT_EQ(reversed->rank(), world.size() - 1 - world.rank());
  const auto root = world.subgroup({0});
  EXPECT_EQ(root != nullptr, world.isRoot());
  expectError(ErrorCode::kInvalidArgument,
              "subgroup: got rank " + std::to_string(world.size()) + "; expected 0 to ",
              [&] { world.subgroup({world.size()}); });
  expectError(ErrorCode::kInvalidArgument, "subgroup: got rank 0 twice in 0, 0", [&] {
    world.subgroup({0, 0});
  });
  expectMismatch(world, "barrier 'subgroup of ranks " + std::to_string(world.size() - 1) + "'",
                 "barrier 'subgroup of ranks 0'",
                 [&](bool isOdd) { world.subgroup({isOdd ? world.size() - 1 : 0}); });
}

void duplicates(Communicator& world) {
  world.setTimeout(world.timeout() + std::chrono::milliseconds(1));
  const auto copy = world.duplicate();
  EXPECT_EQ(copy->rank(), world.rank());
  EXPECT_EQ(copy->size(), world.size());
  EXPECT_EQ(copy->timeout(), world.timeout());
  // In a different order on each rank: messages of the two must not be mixed.
  int data[] = {1};
  CollectiveHandle handle = world.allreduceAsync(data, ReduceOp::kSum);
  EXPECT_EQ(sumOfRanks(*copy, 2), 2 * world.size());
  handle.wait();
  EXPECT_EQ(data[0], world.size());
}

void anotherThread(Communicator& world) {
  const auto copy = world.duplicate();
  if (!world.worksOnAnyThread()) {
    GTEST_FAIL() << "the launcher's MPI gives less than MPI_THREAD_MULTIPLE";
  }
  int sum = 0;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      sum += sumOfRanks(*copy, 1);
    }
  });
  int mine = 0;
  for (int i = 0; i < 100; ++i) {
    mine += sumOfRanks(world, 2);
  }
  other.join();
  EXPECT_EQ(sum, 100 * world.size());
  EXPECT_EQ(mine, 200 * world.size());
}

void sharesMemory(Communicator& world) {
  constexpr std::size_t kBytes = 100000;
  const auto memory = world.allocateNodeMemory(kBytes);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(memory->size(), kBytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % 4096, 0U);
  EXPECT_THAT(std::vector<std::byte>(memory->data(), memory->data() + kBytes), Each(std::byte{0}));
  world.barrier();
  memory->data()[world.localRank()] = std::byte{static_cast<unsigned char>(world.rank() + 1)};
  world.barrier();
  int sum = 0;
  for (int local = 0; local < world.localSize(); ++local) {
    sum += std::to_integer<int>(memory->data()[local]);
  }
  EXPECT_EQ(sum, world.size() * (world.size() + 1) / 2);
  EXPECT_NO_THROW(memory->checkPeers());
  world.barrier();
}

void saysWhyThereIsNoMemory(Communicator& world) {
  std::string why;
  EXPECT_EQ(world.allocateNodeMemory(std::size_t{1} << 60, &why), nullptr);
  EXPECT_THAT(why, HasSubstr("allocateNodeMemory: rank 0 ("));
  EXPECT_THAT(why, HasSubstr("1152921504606846976 bytes"));
  EXPECT_EQ(world.allgather(why).back(), why);
  EXPECT_NE(world.allocateNodeMemory(0), nullptr);
}

void memoryOutlives(Communicator& world) {
  auto memory = world.allocateNodeMemory(64);
  ASSERT_NE(memory, nullptr);
  if (world.isRoot()) {
    memory->data()[5] = std::byte{9};
  }
  world.barrier();
  if (world.isRoot()) {
    memory.reset();
  }
  world.barrier();
  if (memory) {
    EXPECT_EQ(memory->data()[5], std::byte{9});
  }
}

void meetsInMemory(Communicator& world) {
  const std::size_t bytes = detail::ranks::NodeBarrier::bytesFor(world.localSize());
  const auto memory = world.allocateNodeMemory(bytes + 128);
  ASSERT_NE(memory, nullptr);
  detail::ranks::NodeBarrier barrier(*memory, 128, world.localRank(), world.localSize());
  auto* counter = reinterpret_cast<std::atomic<int>*>(memory->data());
  for (int round = 1; round <= 200; ++round) {
    counter->fetch_add(1, std::memory_order_relaxed);
    barrier.arriveAndWait(std::chrono::seconds(60), "round");
    EXPECT_EQ(counter->load(std::memory_order_relaxed), round * world.localSize());
    barrier.arriveAndWait(std::chrono::seconds(60), "round");
  }
  expectError(ErrorCode::kInvalidArgument, "NodeBarrier: ", [&] {
    detail::ranks::NodeBarrier crooked(*memory, 8, world.localRank(), world.localSize());
  });
  world.barrier();
}

/// Waits until `flag` has reached `value`, calling `meanwhile`; bounded.
template <typename Action>
void waitForFlag(const std::atomic<int>& flag, int value, const Action& meanwhile) {
  const auto bound = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (flag < value && std::chrono::steady_clock::now() < bound) {
    meanwhile();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// The root warns, the last rank is late, and the ranks between wait without a warning: they must
/// not be regarded as missing.
void warnsOfAStall(Communicator& world) {
  const auto memory = world.allocateNodeMemory(64);
  ASSERT_NE(memory, nullptr);
  auto* waiting = reinterpret_cast<std::atomic<int>*>(memory->data());
  auto* warned = waiting + 1;
  const auto group = world.duplicate();
  const int late = world.size() - 1;
  const std::string who = nameOf(world, late);
  std::vector<std::string> warnings;
  group->setStallWarning(std::chrono::milliseconds(world.isRoot() ? 1000 : 0),
                         [&](const std::string& warning) {
                           warnings.push_back(warning);
                           ++*warned;
                         });
  double data[] = {1};
  CollectiveHandle handle;
  const auto begin = [&] {
    handle = group->allreduceAsync(data, ReduceOp::kSum, named("gradients"));
  };
  if (world.rank() == late) {
    waitForFlag(*warned, late > 0 ? 1 : 0, [] {});
    begin();
  } else if (world.isRoot()) {
    waitForFlag(*waiting, late - 1, [] {});
    begin();
  } else {
    begin();
    EXPECT_FALSE(handle.isDone());
    ++*waiting;
    waitForFlag(*warned, 1, [&] { handle.isDone(); });
  }
  handle.wait();
  EXPECT_EQ(data[0], world.size());
  if (world.isRoot() && late > 0) {
    EXPECT_THAT(warnings, ElementsAre("allreduce(sum) 'gradients' waits for 1 s for " + who));
  } else {
    EXPECT_THAT(warnings, IsEmpty());
  }
  world.barrier();
}

/// Like a collective: the last rank of the first node is late, and only the root warns.
void warnsOfAStallInMemory(Communicator& world) {
  std::vector<std::string> warnings;
  const auto group = world.duplicate();
  const auto memoryOfFlag = world.allocateNodeMemory(64);
  ASSERT_NE(memoryOfFlag, nullptr);
  auto* warned = reinterpret_cast<std::atomic<int>*>(memoryOfFlag->data());
  group->setStallWarning(std::chrono::milliseconds(world.isRoot() ? 50 : 0),
                         [&](const std::string& warning) {
                           warnings.push_back(warning);
                           ++*warned;
                         });
  const auto memory =
      group->allocateNodeMemory(detail::ranks::NodeBarrier::bytesFor(world.localSize()));
  ASSERT_NE(memory, nullptr);
  detail::ranks::NodeBarrier barrier(*memory, 0, world.localRank(), world.localSize());
  const int late = world.localSize() - 1;
  const std::string who = nameOf(world, late);
  const bool warns = world.crossRank() == 0 && late > 0;
  if (world.localRank() == late) {
    waitForFlag(*warned, warns ? 1 : 0, [] {});
  }
  barrier.arriveAndWait(std::chrono::seconds(60), "gradients");
  barrier.arriveAndWait(std::chrono::seconds(60), "parameters");
  if (world.isRoot() && warns) {
    ASSERT_FALSE(warnings.empty());
    // Other slow ranks are named as well.
    EXPECT_THAT(warnings.front(),
                ::testing::AllOf(::testing::StartsWith("gradients waits for 0.05 s for "),
                                 ::testing::EndsWith(who)));
  } else {
    EXPECT_THAT(warnings, IsEmpty());
  }
  world.barrier();
}

}  // namespace

std::vector<ContractCase> mismatchContract() {
  return {{"NamesTheRankInAnotherOperation", &operations},
          {"NamesTheRankWithAnotherType", &types},
          {"NamesTheRankWithAnotherSize", &sizes},
          {"NamesTheRankWithAnotherRoot", &roots},
          {"NamesTheRankWithAnotherName", &names},
          {"NamesTheRankInAnotherOrder", &order},
          {"CountsTheRanksThatDiffer", &severalRanks},
          {"RefusesTheNextOperationAfterADroppedError", &droppedErrors}};
}

std::vector<ContractCase> groupContract() {
  return {{"SplitsByColorAndKey", &splits},
          {"LeavesRanksOut", &leavesOut},
          {"MakesSubgroups", &subgroups},
          {"KeepsTheMessagesOfADuplicateApart", &duplicates},
          {"WorksOnAnotherThreadByADuplicate", &anotherThread},
          {"WarnsOfAStallNamingWhoIsMissing", &warnsOfAStall}};
}

std::vector<ContractCase> nodeMemoryContract() {
  return {{"SharesMemoryWithinTheNode", &sharesMemory},
          {"SaysOnAllRanksWhyThereIsNoMemory", &saysWhyThereIsNoMemory},
          {"KeepsMemoryForThoseWhoStillHoldIt", &memoryOutlives},
          {"MeetsInNodeMemory", &meetsInMemory},
          {"WarnsOfAStallInNodeMemory", &warnsOfAStallInMemory}};
}

std::vector<ContractCase> collectiveContract() {
  std::vector<ContractCase> all;
  for (const auto& part : {reductionContract(), exchangeContract(), asynchronousContract(),
                           mismatchContract(), groupContract(), nodeMemoryContract()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace steptape::test
