// SPDX-License-Identifier: Apache-2.0
// The real Kineto of LibTorch, on a machine with or without a GPU.
#include "libtorch/ops/kineto_recorder.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "steptape/libtorch/op_profiler.h"

#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/version.h>

namespace steptape {
namespace {

namespace peer = torch::autograd::profiler;
using detail::profile::DeviceActivity;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Ne;
using ::testing::Not;

/// LibTorch's own profiler, from construction to stop().
class PeerProfiler {
 public:
  PeerProfiler() : config_(peer::ProfilerState::KINETO) {
    peer::prepareProfiler(config_, activities_);
    peer::enableProfiler(config_, activities_);
  }
  std::vector<std::string> stop() {
    std::vector<std::string> names;
    const auto result = peer::disableProfiler();
    for (const peer::KinetoEvent& event : result->events()) {
      names.push_back(event.name());
    }
    return names;
  }

 private:
  peer::ProfilerConfig config_;
  std::set<peer::ActivityType> activities_{peer::ActivityType::CPU};
};

std::vector<std::string> namesOf(const std::vector<DeviceActivity>& activities) {
  std::vector<std::string> names;
  names.reserve(activities.size());
  for (const DeviceActivity& activity : activities) {
    names.push_back(activity.name);
  }
  return names;
}

TEST(KinetoRecorder, StartsAndStopsRepeatedly) {
  detail::libtorch::KinetoRecorder recorder;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(recorder.start(), "");
    std::vector<DeviceActivity> activities;
    EXPECT_EQ(recorder.stop(&activities), "");
  }
}

TEST(KinetoRecorder, RecordsNoOperators) {
  detail::libtorch::KinetoRecorder recorder;
  ASSERT_EQ(recorder.start(), "");
  const at::Tensor product = at::mm(at::ones({8, 8}), at::ones({8, 8}));
  std::vector<DeviceActivity> activities;
  EXPECT_EQ(recorder.stop(&activities), "");
  EXPECT_THAT(namesOf(activities), Each(Not(HasSubstr("aten::"))));
}

TEST(KinetoRecorder, StopsOnAnotherThreadThanItStarts) {
  detail::libtorch::KinetoRecorder recorder;
  ASSERT_EQ(recorder.start(), "");
  std::string problem = "not stopped";
  std::thread([&] {
    std::vector<DeviceActivity> activities;
    recorder.synchronize();
    problem = recorder.stop(&activities);
  }).join();
  EXPECT_EQ(problem, "");
}

TEST(KinetoRecorder, LeavesAnotherProfilerAlone) {
  PeerProfiler peerProfiler;
  detail::libtorch::KinetoRecorder recorder;
  EXPECT_THAT(recorder.start(), HasSubstr("another profiler uses LibTorch's Kineto"));
  std::vector<DeviceActivity> activities;
  EXPECT_EQ(recorder.stop(&activities), "");
  const at::Tensor product = at::mm(at::ones({8, 8}), at::ones({8, 8}));
  EXPECT_THAT(peerProfiler.stop(), Contains("aten::mm"));
}

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 12)
TEST(KinetoRecorder, NoticesThatAnotherProfilerHasCanceledIt) {
  detail::libtorch::KinetoRecorder recorder;
  ASSERT_EQ(recorder.start(), "");
  PeerProfiler peerProfiler;
  std::vector<DeviceActivity> activities;
  EXPECT_THAT(recorder.stop(&activities), HasSubstr("another profiler has canceled"));
  EXPECT_THAT(activities, IsEmpty());
  const at::Tensor product = at::mm(at::ones({8, 8}), at::ones({8, 8}));
  EXPECT_THAT(peerProfiler.stop(), Contains("aten::mm"));
  EXPECT_EQ(recorder.start(), "");
  EXPECT_EQ(recorder.stop(&activities), "");
}
#else
TEST(KinetoRecorder, KeepsItsSessionIfLibTorchsProfilerFailsToStart) {
  KinetoRecorder recorder;
  ASSERT_EQ(recorder.start(), "");
  EXPECT_THROW(PeerProfiler(), c10::Error);
  std::vector<DeviceActivity> activities;
  EXPECT_EQ(recorder.stop(&activities), "");
  EXPECT_EQ(recorder.start(), "");
  EXPECT_EQ(recorder.stop(&activities), "");
}
#endif

TEST(KinetoRecorder, LetsLibTorchsProfilerWorkAfterIt) {
  {
    detail::libtorch::KinetoRecorder recorder;
    ASSERT_EQ(recorder.start(), "");
    std::vector<DeviceActivity> activities;
    recorder.stop(&activities);
  }
  PeerProfiler peerProfiler;
  const at::Tensor product = at::mm(at::ones({8, 8}), at::ones({8, 8}));
  EXPECT_THAT(peerProfiler.stop(), Contains("aten::mm"));
}

TEST(KinetoRecorder, IsNotUsedWithoutACudaDevice) {
  if (detail::libtorch::KinetoRecorder::isUseful()) {
    GTEST_SKIP() << "this machine has a CUDA device; see tests/gpu";
  }
  std::vector<std::string> problems;
  OpProfilerOptions options;
  options.kernels = true;
  options.onError = [&](const Status& status) { problems.push_back(status.message()); };
  OpProfiler profiler(options);
  // A session would be active now, and would keep LibTorch's profiler from having its own.
  detail::libtorch::KinetoRecorder recorder;
  EXPECT_EQ(recorder.start(), "");
  std::vector<DeviceActivity> activities;
  EXPECT_EQ(recorder.stop(&activities), "");
  const at::Tensor product = at::mm(at::ones({8, 8}), at::ones({8, 8}));
  profiler.stop();
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_THAT(profiler.stats(), Contains(Field(&OpStats::name, "aten::mm")));
  EXPECT_THAT(profiler.stats(),
              Each(Field(&OpStats::kind, AllOf(Ne(SpanKind::kDevice), Ne(SpanKind::kRuntime)))));
}

}  // namespace
}  // namespace steptape
