// SPDX-License-Identifier: Apache-2.0
// What the simulation of CUDA devices cannot show.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/libtorch/op_profiler.h"
#include "steptape/profile/trace_summary.h"
#include "steptape/train/recipe.h"

#include "gpu/test_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(RealGpu, CountsTheWaitsOfTheHost) {
  const at::Tensor tensor = at::ones({4}, gpu::device());
  const std::int64_t before = gpu::hostWaits();
  EXPECT_EQ(tensor[3].item<float>(), 1);
  EXPECT_GT(gpu::hostWaits(), before);
}

TEST(RealGpu, IsBusyWhileTheHostContinues) {
  gpu::keepBusy(gpu::device(), 200);
  const std::int64_t before = gpu::hostWaits();
  gpu::keepBusy(gpu::device(), 200);
  EXPECT_EQ(gpu::hostWaits(), before);
  EXPECT_TRUE(gpu::isBusy(gpu::device()));
  gpu::waitFor(gpu::device());
  EXPECT_FALSE(gpu::isBusy(gpu::device()));
}

/// Needs a GPU with TF32: Ampere or later.
TEST(Tf32, RoundsTheInputsOfMatrixProductsOnlyIfAllowed) {
  torch::manual_seed(1);
  const at::Tensor matrix = at::rand({512, 512}, gpu::device());
  const at::Tensor exact = matrix.to(at::kDouble).mm(matrix.to(at::kDouble));
  const auto error = [&] {
    return ((matrix.mm(matrix).to(at::kDouble) - exact).abs() / exact).max().item<double>();
  };
  constexpr double kBetween = 1e-5;
  allowTf32(false);
  EXPECT_LT(error(), kBetween);
  EXPECT_THAT(describeTf32(), HasSubstr("matrix products off"));
  allowTf32(true);
  EXPECT_GT(error(), kBetween);
  EXPECT_LT(error(), 1e-2);
  allowTf32(false);
}

TEST(DeviceTime, OfProductsIsMostOfTheTimeUntilTheDeviceIsIdle) {
  const at::Tensor matrix = at::ones({4096, 4096}, gpu::device());
  at::Tensor product = at::mm(matrix, matrix);
  for (const bool byKernels : {false, true}) {
    OpProfilerOptions options;
    options.kernels = byKernels;
    OpProfiler profiler(options);
    gpu::waitFor(gpu::device());
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) {
      at::mm_out(product, matrix, matrix);
    }
    gpu::waitFor(gpu::device());
    const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
    profiler.stop();
    std::chrono::nanoseconds onDevice{0};
    for (const OpStats& op : profiler.profile().operators) {
      onDevice += op.kind == SpanKind::kDevice ? op.total : std::chrono::nanoseconds(0);
    }
    EXPECT_GE(onDevice.count(), time.count() / 2) << "by kernels: " << byKernels;
    EXPECT_LE(onDevice.count(), time.count() * 11 / 10) << "by kernels: " << byKernels;
  }
}

TEST(DeviceMemory, OfAnOperatorIsInTheTrace) {
  constexpr std::int64_t kBytes = std::int64_t{64} << 20;
  at::zeros({1}, gpu::device());
  std::vector<Trace> traces;
  OpProfilerOptions options;
  options.memory = true;
  options.onTrace = [&](const Trace& trace, SummaryWriter*, std::int64_t) {
    traces.push_back(trace);
  };
  OpProfiler profiler(options);
  {
    const at::Tensor large =
        at::empty({kBytes}, at::TensorOptions(at::kByte).device(gpu::device()));
  }
  profiler.stop();
  EXPECT_TRUE(profiler.flush().ok());
  ASSERT_THAT(traces, SizeIs(1));
  const std::vector<MemorySummary> summaries = summarizeMemory(traces[0]);
  const auto found =
      std::find_if(summaries.begin(), summaries.end(),
                   [](const MemorySummary& memory) { return memory.device == "cuda:0"; });
  ASSERT_NE(found, summaries.end());
  EXPECT_EQ(found->peak, kBytes);
  ASSERT_FALSE(found->operators.empty());
  EXPECT_THAT(found->operators[0].name, HasSubstr("aten::empty"));
  EXPECT_EQ(found->operators[0].freed, kBytes);
}

}  // namespace
}  // namespace steptape
