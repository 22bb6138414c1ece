// SPDX-License-Identifier: Apache-2.0
// The trainer on devices.
#include "gpu/device_training.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <stdexcept>

#include "libtorch/tensors/device_copy.h"
#include "metrics/read_back.h"

namespace steptape::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Eq;

class DeviceTrainingLog : public DeviceTraining {
 protected:
  /// Logs everything that each step computes.
  TrainerOptions fullyLogged(bool onDevice) {
    TrainerOptions options = onDevices();
    options.useDevices = onDevice;
    options.parameterNormSteps = 1;
    options.gradientSync.maxNorm = 0.1;
    return options;
  }

  void train(
      const TrainerOptions& options, const std::function<void(Run&)>& change = [](Run&) {}) {
    trained(options, 0, 2, [&](Run& run) {
      run.writer = DistributedWriterOptions();
      change(run);
    });
  }

  PointsByTag points() const { return readPoints(logDir(), "."); }
};

void expectClosePoints(const Points& got, const Points& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].first, expected[i].first);
    EXPECT_NEAR(got[i].second, expected[i].second, 1e-4) << "step " << got[i].first;
  }
}

constexpr const char* kTagsOfEachStep[] = {"loss/train", "optimizer/gradient_norm",
                                           "optimizer/parameter_norm",
                                           "parameter_gradient_norms/fc.weight"};

TEST_F(DeviceTraining, LearnsWhatTheCpuLearns) {
  TrainerOptions onCpu = onDevices();
  onCpu.useDevices = false;
  expectClose(trained(onDevices()), trained(onCpu), 1e-4);
}

TEST_F(DeviceTraining, LearnsTheSameWithEverythingLogged) {
  constexpr int kRanks = 1;  // A process has one profiler.
  const std::vector<at::Tensor> expected = trained(onDevices(), 0, kRanks);
  TrainerOptions options = onDevices();
  options.parameterNormSteps = 1;
  options.stragglerSteps = 2;
  options.profilingShare = 0.5;
  options.detailScalars = true;
  expectClose(trained(options, 0, kRanks), expected, 1e-6);
}

TEST_F(DeviceTrainingLog, HasTheValuesOfEachStepAsOnTheCpu) {
  train(fullyLogged(false));
  PointsByTag expected = points();
  std::filesystem::remove_all(logDir());
  train(fullyLogged(true));
  PointsByTag got = points();
  for (const char* const tag : kTagsOfEachStep) {
    SCOPED_TRACE(tag);
    ASSERT_GE(expected[tag].size(), 12U);
    expectClosePoints(got[tag], expected[tag]);
  }
}

TEST_F(DeviceTrainingLog, MakesTheHostWaitForTheDeviceAsRarelyAsWithoutALog) {
  std::vector<std::int64_t> waits;
  const auto countWaits = [&](Run& run) {
    run.prepare = [&](Trainer& trainer) {
      trainer.on(TrainerEvent::kAfterStep, [&](TrainingContext& context) {
        if (context.world.isRoot() && context.step >= 2 && context.step <= 5) {
          waits.push_back(gpu::hostWaits());
        }
      });
    };
  };
  TrainerOptions options = fullyLogged(true);
  options.epochs = 1;
  train(options, countWaits);
  ASSERT_EQ(waits.size(), 4U);
  EXPECT_THAT(waits, Each(Eq(waits.front())));
}

/// Notes when the host waits for a copy. The copies are numbered from 1.
class NotingCopier final : public detail::libtorch::DeviceCopier {
 public:
  explicit NotingCopier(std::function<void(const std::string&)> note) : note_(std::move(note)) {}

  Copy copy(const at::Tensor& tensor) const override {
    Copy copy = detail::libtorch::DeviceCopier::copy(tensor);
    const std::string line = "wait for loss " + std::to_string(++copies_);
    copy.arrival =
        std::make_shared<Arrival>(std::move(copy.arrival), [this, line] { note_(line); });
    return copy;
  }

 private:
  class Arrival final : public TensorArrival {
   public:
    Arrival(std::shared_ptr<TensorArrival> arrival, std::function<void()> note)
        : arrival_(std::move(arrival)), note_(std::move(note)) {}
    void wait() override {
      note_();
      arrival_->wait();
    }

   private:
    std::shared_ptr<TensorArrival> arrival_;
    std::function<void()> note_;
  };

  std::function<void(const std::string&)> note_;
  mutable std::atomic<int> copies_{0};
};

TEST_F(DeviceTrainingLog, MakesTheHostWaitForALossOnlyAfterItHasQueuedTheNextOne) {
  const NotingCopier copier([&](const std::string& line) { note(line); });
  detail::libtorch::DeviceCopier::setForTesting(&copier);
  TrainerOptions options = onDevices(1);
  options.maxSteps = 3;
  trained(options, 0, /*most=*/1, [&](Run& run) {
    run.options.loss = [&](const at::Tensor& output, const at::Tensor& targets) {
      note("compute a loss");
      return at::nll_loss(output, targets);
    };
    run.prepare = [&](Trainer& trainer) {
      trainer.on(TrainerEvent::kBeforeEvaluation, [&](TrainingContext&) { note("evaluate"); });
    };
  });
  detail::libtorch::DeviceCopier::setForTesting(nullptr);
  notes_.erase(std::find(notes_.begin(), notes_.end(), "evaluate"), notes_.end());
  EXPECT_THAT(notes_, ElementsAre("compute a loss", "compute a loss", "wait for loss 1",
                                  "compute a loss", "wait for loss 2", "wait for loss 3"));
}

TEST_F(DeviceTrainingLog, HasEachStepOnceIfTheRunResumes) {
  constexpr std::int64_t kInterrupted = 4;
  TrainerOptions options = fullyLogged(true);
  options.checkpointDirectory = dir_.string() + "/checkpoints";
  options.maxSteps = kInterrupted;
  train(options);
  options.maxSteps = 0;
  options.resume = true;
  train(options);
  const Points losses = points()["loss/train"];
  ASSERT_GE(losses.size(), 12U);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    EXPECT_EQ(losses[i].first, static_cast<std::int64_t>(i + 1));
  }
}

TEST_F(DeviceTrainingLog, HasTheStepBeforeAnException) {
  TrainerOptions options = fullyLogged(true);
  const auto change = [&](Run& run) {
    run.writer = DistributedWriterOptions();
    run.prepare = [](Trainer& trainer) {
      trainer.on(TrainerEvent::kBeforeBatch, [](TrainingContext& context) {
        if (context.step == 3) {
          throw std::runtime_error("no more");
        }
      });
    };
  };
  EXPECT_THROW(trained(options, 0, /*most=*/1, change), std::runtime_error);
  const Points losses = points()["loss/train"];
  ASSERT_FALSE(losses.empty());
  EXPECT_EQ(losses.back().first, 3);
}

TEST_F(DeviceTrainingLog, IsAsCallbacksSeeTheLoss) {
  Points seen;
  train(fullyLogged(true), [&](Run& run) {
    run.options.reduceTrainLoss = false;
    run.prepare = [&](Trainer& trainer) {
      trainer.on(TrainerEvent::kAfterStep, [&](TrainingContext& context) {
        if (context.world.isRoot()) {
          seen.emplace_back(context.step, static_cast<float>(context.loss()));
        }
      });
    };
  });
  EXPECT_EQ(points()["loss/train"], seen);
}

TEST_F(DeviceTraining, ResumesBitForBitWithTheRandomNumbersOfTheDevices) {
  constexpr double kDrop = 0.5;
  const std::vector<at::Tensor> expected = trained(onDevices(4), kDrop);
  TrainerOptions first = withCheckpoints(2);
  first.useDevices = true;
  trained(first, kDrop);
  TrainerOptions second = withCheckpoints(4, true);
  second.useDevices = true;
  expectClose(trained(second, kDrop), expected, 0);
}

}  // namespace
}  // namespace steptape::test
