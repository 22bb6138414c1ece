// SPDX-License-Identifier: Apache-2.0
//
// Counts the profiler's cost of an operation on its thread: no allocation and no lock while nothing
// records, and none for repeated calls while something records. A separate program, because it
// replaces operator new and pthread_mutex_lock.
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <pthread.h>

#include "steptape/ranks/communicator.h"

#include "process/spans/span_collector.h"
#include "ranks/communicator/node_barrier.h"
#include "support/allocations.h"

#include <gtest/gtest.h>

namespace {

thread_local std::size_t locks = 0;

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static const auto kReal =
      reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks;
  return kReal(mutex);
}

namespace steptape {
namespace {

/// Operations that allocate nothing themselves: of a group of one, with short names.
class CollectiveCost : public ::testing::Test {
 protected:
  CollectiveCost()
      : memory_(world_.allocateNodeMemory(detail::ranks::NodeBarrier::bytesFor(1))),
        nodeBarrier_(*memory_, 0, 0, 1) {
    options_.name = "gradients";
  }

  void callEach() {
    float data[12] = {};
    world_.allreduce(data, ReduceOp::kSum, options_);
    world_.broadcast(data, sizeof data, 0);
    world_.barrier();
    nodeBarrier_.arriveAndWait(std::chrono::seconds(30), "parameters");
  }

  void expectNothingIsSpent() {
    const std::uint64_t allocationsBefore = allocationsOfThread();
    const std::size_t locksBefore = locks;
    for (int i = 0; i < 1000; ++i) {
      callEach();
    }
    EXPECT_EQ(allocationsOfThread(), allocationsBefore);
    EXPECT_EQ(locks, locksBefore);
  }

 private:
  Communicator world_;
  CollectiveOptions options_;
  std::shared_ptr<NodeMemory> memory_;
  detail::ranks::NodeBarrier nodeBarrier_;
};

TEST_F(CollectiveCost, IncludesNoAllocationOrLockWithoutARecorder) {
  expectNothingIsSpent();
}

TEST_F(CollectiveCost, IncludesNoAllocationOrLockForRepeatedCallsWithARecorder) {
  detail::process::SpanCollector collector(1 << 13);
  collector.startRecording();
  const std::uint64_t allocationsBefore = allocationsOfThread();
  const std::size_t locksBefore = locks;
  callEach();
  EXPECT_GT(allocationsOfThread(), allocationsBefore);
  EXPECT_GT(locks, locksBefore);

  expectNothingIsSpent();
  std::size_t recorded = 0;
  collector.drain(
      [&](const detail::process::SpanBatch& batch) { recorded += batch.records.size(); });
  EXPECT_EQ(recorded, 1001U * 4);
}

}  // namespace
}  // namespace steptape
