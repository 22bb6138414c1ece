// SPDX-License-Identifier: Apache-2.0
#include "ranks/nccl/nccl_group.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"

#include "gpu/simulated/simulated_gpu.h"
#include "ranks/nccl/nccl_library.h"
#include "support/expect_error.h"

#include <ATen/ops/full.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::ranks::NcclGroup;
using std::chrono::milliseconds;
using test::expectError;

/// A rank in a group, and numbers on its GPU.
class Member {
 public:
  Member(Communicator& world, milliseconds timeout)
      : device_(simulated_gpu::device(static_cast<c10::DeviceIndex>(world.rank()))),
        guard_(device_),
        numbers_(at::full({4}, world.rank() + 1, device_)) {
    c10::impl::VirtualGuardImpl(device_.type()).getStream(device_).synchronize();
    std::string why;
    group_ = NcclGroup::make(world, STEPTAPE_SIMULATED_NCCL, timeout, why);
    EXPECT_TRUE(group_) << why;
  }

  void sum() {
    group_->sum("the numbers", numbers_.data_ptr(), 4, DType::kFloat32);
    auto ended = std::make_shared<c10::Event>(simulated_gpu::kType);
    ended->record(stream());
    group_->watch("the numbers", [ended] { return ended->query(); });
  }
  /// Waits as a host that reads a result.
  void waitForGpu() const { stream().synchronize(); }
  float number() const {
    waitForGpu();
    return numbers_.cpu()[0].item<float>();
  }
  NcclGroup& group() { return *group_; }

 private:
  c10::Stream stream() const {
    return c10::Stream(c10::Stream::UNSAFE, device_,
                       reinterpret_cast<c10::StreamId>(group_->stream()));
  }

  c10::Device device_;
  c10::DeviceGuard guard_;
  at::Tensor numbers_;
  std::unique_ptr<NcclGroup> group_;
};

/// Lets one rank, which is a thread, wait for another one without a collective.
class Gate {
 public:
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    isOpen_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return isOpen_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool isOpen_ = false;
};

TEST(NcclGroup, SumsTheNumbersOfAllRanks) {
  testing::runRanks(3, [](Communicator& world) {
    Member member(world, std::chrono::seconds(30));
    member.sum();
    EXPECT_EQ(member.number(), 6);
  });
}

TEST(NcclGroup, EndsASumThatAnotherGpuDoesNotJoinWithinTheTimeLimit) {
  Gate failed;
  testing::runRanks(2, [&failed](Communicator& world) {
    Member member(world, milliseconds(300));
    if (world.rank() == 1) {
      failed.wait();  // never sums
      return;
    }
    member.sum();
    member.waitForGpu();
    failed.open();
    expectError(ErrorCode::kDeadlineExceeded,
                "rank 0: NCCL's group was aborted: the GPUs of other ranks did not come within 300 "
                "ms in the sum of the numbers",
                [&] { member.sum(); });
  });
}

TEST(NcclGroup, EndsASumInWhichNcclReportsAnError) {
  Gate failed;
  testing::runRanks(2, [&failed](Communicator& world) {
    Member member(world, std::chrono::seconds(30));
    if (world.rank() == 1) {
      failed.wait();
      return;
    }
    member.sum();
    simulated_gpu::ncclReportsError(6);
    member.waitForGpu();
    simulated_gpu::ncclReportsError(0);
    failed.open();
    expectError(ErrorCode::kDeadlineExceeded,
                "NCCL reports \"remote process exited\" in the sum of the numbers",
                [&] { member.group().requireUsable(); });
  });
}

TEST(NcclGroup, SaysWhyItWasAborted) {
  testing::runRanks(2, [](Communicator& world) {
    Member member(world, std::chrono::seconds(30));
    member.group().abort("the ranks are out of step");
    expectError(ErrorCode::kDeadlineExceeded, "the ranks are out of step", [&] { member.sum(); });
  });
}

TEST(NcclLibrary, KnowsWhichTypesNcclCanSum) {
  EXPECT_EQ(detail::ranks::ncclType(DType::kBool), std::nullopt);
  EXPECT_EQ(detail::ranks::ncclType(DType::kBFloat16), 9);
}

}  // namespace
}  // namespace steptape
