// SPDX-License-Identifier: Apache-2.0
//
// Tensors on a device, simulated by a device that the test controls. Only
// src/libtorch/tensors/device_copy.cpp knows real devices.
#include "libtorch/tensors/device_copy.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "steptape/libtorch/tensor_traits.h"
#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "log/writer/run_contents.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

/// Regards every tensor as one on a device, and copies it when the test requests it. Like a queue,
/// it reads the tensor's elements as they were when the copy was queued.
class FakeDeviceCopier final : public detail::libtorch::DeviceCopier {
 public:
  FakeDeviceCopier() { setForTesting(this); }
  ~FakeDeviceCopier() override {
    setForTesting(nullptr);
    finish();
  }

  void finish() {
    std::lock_guard<std::mutex> lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }
  int copies() const { return copies_; }

  bool canCopy(const at::Tensor& /*tensor*/) const override { return true; }
  Copy copy(const at::Tensor& tensor) const override {
    ++copies_;
    const at::Tensor host = at::zeros(tensor.sizes(), tensor.options());
    return {host, std::make_shared<Arrival>(this, host, tensor.clone())};
  }

 private:
  struct Arrival final : TensorArrival {
    Arrival(const FakeDeviceCopier* by, at::Tensor to, at::Tensor from)
        : copier(by), host(std::move(to)), source(std::move(from)) {}
    void wait() override {
      {
        std::unique_lock<std::mutex> lock(copier->mutex_);
        copier->changed_.wait_for(lock, std::chrono::seconds(20),
                                  [this] { return copier->finished_; });
      }
      host.copy_(source);
    }
    const FakeDeviceCopier* copier;
    at::Tensor host;
    at::Tensor source;
  };

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool finished_ = false;
  mutable int copies_ = 0;
};

class DeviceTensorTest : public ::testing::Test {
 protected:
  void finishAndFlush() {
    device_.finish();
    const Status status = writer_.flush();
    EXPECT_TRUE(status.ok()) << status.message();
  }

  testing::TempDir dir_;
  FakeDeviceCopier device_;
  SummaryWriter writer_{dir_.string()};
};

TEST_F(DeviceTensorTest, AScalarIsLoggedWithTheValueItHadAndWithoutWaiting) {
  at::Tensor loss = torch::full({}, 0.5);
  writer_.addScalar("loss", loss, 1);
  loss.fill_(0.25);  // the next step
  writer_.addScalar("loss", loss, 2);
  finishAndFlush();
  EXPECT_THAT(scalarsIn(dir_.string()).at("loss"), ElementsAre(Pair(1, 0.5F), Pair(2, 0.25F)));
  EXPECT_EQ(device_.copies(), 2);
}

TEST_F(DeviceTensorTest, CurvesOfOneChartAreLoggedWithTheValuesTheyHadAndWithoutWaiting) {
  at::Tensor loss = torch::full({}, 0.5);
  writer_.addScalars("loss", {{"train", loss}, {"test", 0.75}}, 1);
  loss.fill_(0.25);  // the next step
  finishAndFlush();
  EXPECT_THAT(scalarsIn(dir_.string() + "/loss/train").at("loss"), ElementsAre(Pair(1, 0.5F)));
  EXPECT_THAT(scalarsIn(dir_.string() + "/loss/test").at("loss"), ElementsAre(Pair(1, 0.75F)));
  EXPECT_EQ(device_.copies(), 1);
}

TEST_F(DeviceTensorTest, CapturesAHistogramAnImageAndATensorAtTheCall) {
  at::Tensor tensor = torch::ones({3, 4, 5});
  writer_.addHistogram("histogram", tensor, 0);
  writer_.addImage("image", tensor, 0);
  writer_.addTensor("tensor", tensor, 0);
  tensor.zero_();
  finishAndFlush();
  const std::vector<event::Value> values = valuesIn(dir_.string());
  ASSERT_THAT(values, SizeIs(3));
  EXPECT_EQ(std::get<event::SummaryHistogram>(values[0].data).min, 1.0);
  EXPECT_EQ(values[1].tag, "image");
  const auto& raw = std::get<event::Tensor>(values[2].data);
  EXPECT_THAT(raw.shape, ElementsAre(3, 4, 5));
  float element = 0;
  std::memcpy(&element, raw.content.data(), sizeof(element));
  EXPECT_EQ(element, 1.0F);
}

TEST_F(DeviceTensorTest, AWrongShapeIsTheCallersErrorBeforeAnythingArrives) {
  EXPECT_THROW(writer_.addScalar("loss", torch::ones({2}), 0), Error);
  EXPECT_THROW(writer_.addImage("image", torch::ones({2, 4, 5}), 0), Error);
  EXPECT_EQ(device_.copies(), 1) << "only the image was queued before its shape was looked at";
}

TEST_F(DeviceTensorTest, AComplexTensorIsRefusedBeforeACopyIsQueued) {
  try {
    writer_.addHistogram("h", torch::ones({2}, torch::kComplexFloat), 0);
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("ComplexFloat"));
  }
  EXPECT_EQ(device_.copies(), 0);
}

TEST(DeviceCopier, LeavesTensorsInMainMemoryAlone) {
  EXPECT_FALSE(detail::libtorch::DeviceCopier::current().canCopy(torch::ones({2})));
  EXPECT_FALSE(detail::libtorch::DeviceCopier::current().canCopy(torch::ones({2}, torch::kMeta)));
}

}  // namespace
}  // namespace steptape
