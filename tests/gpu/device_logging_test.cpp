// SPDX-License-Identifier: Apache-2.0
// Tensors on a device, logged while the device is busy.
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "steptape/libtorch/tensor_traits.h"
#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "gpu/test_device.h"
#include "log/writer/run_contents.h"

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

/// Calls and operators run once before the device is busy: the first call allocates page-locked
/// memory, and the first operator loads its kernel. CUDA may wait for the device in both.
class DeviceLogging : public ::testing::Test {
 protected:
  c10::Device device_ = gpu::device();

  /// Returns a tensor whose elements become `value` after the work on the stream.
  at::Tensor later(double value, at::IntArrayRef shape = {},
                   c10::ScalarType type = at::kFloat) const {
    at::Tensor tensor = at::zeros(shape, at::TensorOptions(device_).dtype(type));
    tensor.fill_(0).add_(0);
    gpu::waitFor(device_);
    gpu::keepBusy(device_, gpu::kLongMillis);
    tensor.fill_(value);
    return tensor;
  }

  /// Expects that `log` returns before the device has done the work queued, without a wait.
  void expectNoWait(const std::function<void()>& log) const {
    const std::int64_t before = gpu::hostWaits();
    log();
    EXPECT_EQ(gpu::hostWaits(), before);
    EXPECT_TRUE(gpu::isBusy(device_));
  }

  void flush() {
    const Status status = writer_.flush();
    EXPECT_TRUE(status.ok()) << status.message();
  }

  std::vector<event::Value> values() {
    flush();
    return valuesIn(dir_.string());
  }
  Curves scalars() {
    flush();
    return scalarsIn(dir_.string());
  }

  testing::TempDir dir_;
  SummaryWriter writer_{dir_.string()};
};

TEST_F(DeviceLogging, WritesTheScalarThatTheStreamHadAtTheCallAndDoesNotWait) {
  writer_.addScalar("warm-up", at::ones({}, device_), 0);
  at::Tensor loss = later(0.5);
  expectNoWait([&] {
    writer_.addScalar("loss", loss, 1);
    loss.fill_(0.25);  // the next step
    writer_.addScalar("loss", loss, 2);
    loss.fill_(7);
  });
  EXPECT_THAT(scalars().at("loss"), ElementsAre(Pair(1, 0.5F), Pair(2, 0.25F)));
}

TEST_F(DeviceLogging, WritesScalarsOfEveryFloatingPointType) {
  writer_.addScalar("warm-up", at::ones({}, device_), 0);
  for (const auto type : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    const at::Tensor loss = later(0.375, {}, type);
    expectNoWait([&] { writer_.addScalar(c10::toString(type), loss, 0); });
  }
  Curves curves = scalars();
  curves.erase("warm-up");
  EXPECT_THAT(curves, SizeIs(4));
  for (const auto& [tag, points] : curves) {
    EXPECT_THAT(points, ElementsAre(Pair(0, 0.375F))) << tag;
  }
}

TEST_F(DeviceLogging, WritesABatchOfScalarsOfOneStepWithoutWaiting) {
  writer_.addScalar("warm-up", at::ones({}, device_), 0);
  at::Tensor loss = later(0.5);
  expectNoWait([&] {
    {
      StepBatch step = writer_.atStep(3);
      step.add("loss", loss);
      step.add("rate", 0.125);
    }
    loss.fill_(7);
  });
  const Curves curves = scalars();
  EXPECT_THAT(curves.at("loss"), ElementsAre(Pair(3, 0.5F)));
  EXPECT_THAT(curves.at("rate"), ElementsAre(Pair(3, 0.125F)));
}

TEST_F(DeviceLogging, KeepsTheOrderOfPoints) {
  constexpr std::int64_t kPoints = 100;
  at::Tensor value = later(0);
  expectNoWait([&] {
    for (std::int64_t step = 0; step < kPoints; step += 2) {
      writer_.addScalar("tag", value, step);
      writer_.addScalar("tag", static_cast<double>(step + 1), step + 1);
      value.add_(2);
    }
  });
  const auto points = scalars().at("tag");
  ASSERT_THAT(points, SizeIs(kPoints));
  for (std::int64_t step = 0; step < kPoints; ++step) {
    EXPECT_THAT(points[static_cast<std::size_t>(step)], Pair(step, static_cast<float>(step)));
  }
}

TEST_F(DeviceLogging, WritesAHistogramOfTheElementsAtTheCallAndDoesNotWait) {
  writer_.addHistogram("warm-up", at::ones({100, 30}, device_), 0);
  at::Tensor weights = later(3, {100, 30});
  expectNoWait([&] {
    writer_.addHistogram("weights", weights, 1);
    weights.fill_(-5);
  });
  const auto histogram = std::get<event::SummaryHistogram>(values().back().data);
  EXPECT_EQ(histogram.min, 3);
  EXPECT_EQ(histogram.max, 3);
  EXPECT_EQ(histogram.num, 3000);
}

TEST_F(DeviceLogging, WritesAnImageOfTheElementsAtTheCallAndDoesNotWait) {
  const at::Tensor onHost = at::full({3, 8, 5}, 0.5);
  writer_.addImage("on the host", onHost, 0);
  writer_.addImage("warm-up", at::ones({3, 8, 5}, device_), 0);
  at::Tensor pixels = later(0.5, {3, 8, 5});
  expectNoWait([&] {
    writer_.addImage("on the device", pixels, 0);
    pixels.fill_(1);
  });
  const std::vector<event::Value> all = values();
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[2].tag, "on the device");
  EXPECT_EQ(std::get<event::SummaryImage>(all[2].data).encoded,
            std::get<event::SummaryImage>(all[0].data).encoded);
}

TEST_F(DeviceLogging, WritesAnEmbeddingOfTheElementsAtTheCallAndDoesNotWait) {
  writer_.addEmbedding("warm-up", at::ones({2, 3}, device_), 0);
  at::Tensor vectors = later(0.5, {2, 3});
  expectNoWait([&] {
    writer_.addEmbedding("words", vectors, 1);
    vectors.fill_(7);
  });
  flush();
  std::ifstream file(dir_.string() + "/00001/words/tensors.tsv");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "0.5\t0.5\t0.5\n0.5\t0.5\t0.5\n");
}

TEST_F(DeviceLogging, WritesATensorThatIsNotContiguous) {
  const at::Tensor numbers = at::arange(12, at::kFloat).view({3, 4});
  at::Tensor onDevice = numbers.to(device_);
  writer_.addTensor("warm-up", onDevice.t().slice(0, 1, 3), 0);
  gpu::waitFor(device_);
  gpu::keepBusy(device_, gpu::kLongMillis);
  expectNoWait([&] { writer_.addTensor("transposed", onDevice.t().slice(0, 1, 3), 0); });
  onDevice.zero_();
  const auto tensor = std::get<event::Tensor>(values().back().data);
  EXPECT_THAT(tensor.shape, ElementsAre(2, 3));
  std::vector<float> elements(6);
  ASSERT_EQ(tensor.content.size(), elements.size() * sizeof(float));
  std::memcpy(elements.data(), tensor.content.data(), tensor.content.size());
  EXPECT_THAT(elements, ElementsAre(1, 5, 9, 2, 6, 10));
}

TEST_F(DeviceLogging, KeepsTheMemoryOfATensorThatIsFreedAfterTheCall) {
  writer_.addHistogram("warm-up", at::ones({1000}, device_), 0);
  at::Tensor weights = later(3, {1000});
  expectNoWait([&] {
    writer_.addHistogram("weights", weights, 1);
    weights.reset();
  });
  // Would reuse the memory.
  const at::Tensor next = at::full({1000}, -5, device_);
  const auto histogram = std::get<event::SummaryHistogram>(values().back().data);
  EXPECT_EQ(histogram.min, 3);
  EXPECT_EQ(histogram.max, 3);
}

TEST_F(DeviceLogging, FollowsTheCurrentStreamOfTheCaller) {
  writer_.addScalar("warm-up", at::ones({}, device_), 0);
  at::Tensor loss = at::zeros({}, device_);
  gpu::waitFor(device_);
  {
    const c10::StreamGuard guard(gpu::otherStream(device_));
    gpu::keepBusy(device_, gpu::kLongMillis);
    loss.fill_(0.5);
    expectNoWait([&] { writer_.addScalar("loss", loss, 1); });
    loss.fill_(7);
  }
  EXPECT_THAT(scalars().at("loss"), ElementsAre(Pair(1, 0.5F)));
}

TEST_F(DeviceLogging, SeesATensorOfAnotherStreamThatTheCurrentOneWaitsFor) {
  writer_.addScalar("warm-up", at::ones({}, device_), 0);
  at::Tensor loss = at::zeros({}, device_);
  gpu::waitFor(device_);
  c10::Event filled(device_.type());
  {
    const c10::StreamGuard guard(gpu::otherStream(device_));
    gpu::keepBusy(device_, gpu::kLongMillis);
    loss.fill_(0.5);
    filled.record(gpu::streams().getStream(device_));
  }
  filled.block(gpu::streams().getStream(device_));
  expectNoWait([&] { writer_.addScalar("loss", loss, 1); });
  EXPECT_THAT(scalars().at("loss"), ElementsAre(Pair(1, 0.5F)));
}

TEST_F(DeviceLogging, WritesTensorsOfEveryDevice) {
  for (c10::DeviceIndex index = 0; index < gpu::deviceCount(); ++index) {
    writer_.addScalar("value", at::full({}, index + 0.5, gpu::device(index)), index);
  }
  const auto points = scalars().at("value");
  ASSERT_EQ(points.size(), static_cast<std::size_t>(gpu::deviceCount()));
  for (c10::DeviceIndex index = 0; index < gpu::deviceCount(); ++index) {
    EXPECT_THAT(points[static_cast<std::size_t>(index)], Pair(index, index + 0.5F));
  }
}

}  // namespace
}  // namespace steptape
