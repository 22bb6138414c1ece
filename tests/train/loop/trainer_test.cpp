// SPDX-License-Identifier: Apache-2.0
// Training and evaluation by a Trainer.
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "train/loop/training_fixture.h"

namespace steptape::test {
namespace {

using testing::runRanksShared;

TEST_F(Training, LearnsOnEveryNumberOfRanks) {
  for (const int ranks : {1, 2, 3}) {
    runRanksShared(ranks, [&](const World& world) {
      TrainerOptions options;
      options.epochs = 20;
      options.metrics = {accuracyMetric()};
      const TrainingResult result = fit(world, options);
      EXPECT_EQ(result.epochs, 20);
      EXPECT_EQ(result.stoppedBy, StopReason::kEpochs);
      EXPECT_EQ(result.metric("accuracy"), 1.0);
      EXPECT_LT(result.metric("loss"), 0.3);
      EXPECT_GT(result.samplesPerSecond, 0);
    });
  }
}

TEST_F(Training, JudgesEveryTestImageOnceWhateverTheNumberOfRanks) {
  TrainerOptions options;
  options.epochs = 0;  // only evaluates
  options.metrics = {accuracyMetric()};
  const TrainingResult single = fit(oneRank(), options);
  EXPECT_EQ(single.metric("accuracy"), 14.0 / 22.0);  // On three ranks: 0 of 8, 7 of 7 and 7 of 7.
  runRanksShared(3, [&](const World& world) {
    const TrainingResult result = fit(world, options);
    EXPECT_EQ(result.metric("accuracy"), single.metric("accuracy"));
    EXPECT_NEAR(result.metric("loss"), single.metric("loss"), 1e-6);
  });
}

TEST_F(Training, AveragesMetricsOfTheCallerOverTheSamplesOfAllRanks) {
  EvaluationMetric brightness;
  brightness.name = "share_of_class_1";
  brightness.function = [](const at::Tensor& /*output*/, const at::Tensor& targets) {
    return MetricSum{targets.sum().item<double>(), static_cast<double>(targets.size(0))};
  };
  runRanksShared(3, [&](const World& world) {
    TrainerOptions options;
    options.epochs = 0;
    options.metrics = {brightness};
    const TrainingResult result = fit(world, options);
    ASSERT_EQ(result.metrics.size(), 2U);
    EXPECT_EQ(result.metrics[0].name, "loss");
    EXPECT_EQ(result.metrics[1].name, "share_of_class_1");
    EXPECT_EQ(result.metrics[1].value, 8.0 / 22.0);  // Images 0, 3, ..., 21.
    EXPECT_EQ(result.metric("share_of_class_1"), 8.0 / 22.0);
    expectError(ErrorCode::kInvalidArgument,
                "TrainingResult: no metric accuracy was evaluated; got loss, share_of_class_1",
                [&] { result.metric("accuracy"); });
  });
}

TEST_F(Training, EvaluatesOnlyTheLossByDefault) {
  const TrainingResult result = fit(oneRank(), TrainerOptions());
  ASSERT_EQ(result.metrics.size(), 1U);
  EXPECT_EQ(result.metrics[0].name, "loss");
  EXPECT_EQ(result.metrics[0].value, result.metric("loss"));
}

TEST_F(Training, RejectsMetricsWithTheSameName) {
  TrainerOptions options;
  options.metrics = {accuracyMetric(), accuracyMetric()};
  expectError(ErrorCode::kInvalidArgument, "Trainer: got two evaluation metrics named accuracy",
              [&] { fit(oneRank(), options); });
}

TEST_F(Training, StopsAfterMaxSteps) {
  TrainerOptions options;
  options.epochs = 3;
  options.maxSteps = 13;
  const TrainingResult result = fit(oneRank(), options);
  EXPECT_EQ(result.step, 13);
  EXPECT_EQ(result.epochs, 1);
  EXPECT_EQ(result.stoppedBy, StopReason::kMaxSteps);
}

TEST_F(Training, ScalesTheLearningRateWithTheRanks) {
  runRanksShared(2, [&](const World& world) {
    Run run;
    run.options.scaleLearningRate = true;
    run.options.maxSteps = 1;
    run.prepare = [](Trainer& trainer) {
      trainer.on(TrainerEvent::kBeforeFit,
                 [](TrainingContext& context) { EXPECT_DOUBLE_EQ(context.learningRate, 0.2); });
    };
    fit(world, run);
  });
}

TEST_F(Training, FollowsALearningRateScheduleByFractionsOfAnEpoch) {
  std::vector<double> rates;
  Run run;
  run.options.learningRate = LearningRateScheduleOptions();
  run.options.learningRate->scale = 12;
  run.options.learningRate->warmUpEpochs = 1;
  run.prepare = [&](Trainer& trainer) {
    trainer.on(TrainerEvent::kAfterBatch,
               [&](TrainingContext& context) { rates.push_back(context.learningRate); });
  };
  fit(oneRank(), run);
  ASSERT_EQ(rates.size(), 11U);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    EXPECT_NEAR(rates[i], 0.1 + 0.1 * static_cast<double>(i), 1e-12);  // 11 steps, x 1 to x 12.
  }
}

TEST_F(Training, SwitchesTf32OnlyOnRequest) {
  TrainerOptions options;
  options.maxSteps = 1;
  allowTf32(false);
  fit(oneRank(), options);
  EXPECT_EQ(describeTf32(), "matrix products off, convolutions off");
  options.allowTf32 = true;
  fit(oneRank(), options);
  EXPECT_EQ(describeTf32(), "matrix products on, convolutions on");
}

TEST_F(Training, RejectsTwoWaysToScaleTheLearningRate) {
  TrainerOptions options;
  options.scaleLearningRate = true;
  options.learningRate = LearningRateScheduleOptions();
  expectError(ErrorCode::kInvalidArgument, "expected LearningRateScheduleOptions::scale",
              [&] { fit(oneRank(), options); });
}

TEST_F(Training, ReportsOnEveryRankWhoseShareDiffers) {
  runRanksShared(2, [&](const World& world) {
    Run run;
    run.batchSize = world->isRoot() ? 2 : 4;
    expectError(
        ErrorCode::kRankMismatch,
        "Trainer: rank 1 has a different run from rank 0: got training batches per epoch: 3; "
        "expected training batches per epoch: 6",
        [&] { fit(world, run); });
  });
}

TEST_F(Training, ReportsOnEveryRankWhoseOptionsDiffer) {
  runRanksShared(3, [&](const World& world) {
    TrainerOptions options;
    options.epochs = world->rank() == 2 ? 4 : 3;
    expectError(
        ErrorCode::kRankMismatch,
        "Trainer: rank 2 has a different run from rank 0: got epochs: 4; expected epochs: 3",
        [&] { fit(world, options); });
  });
}

/// The loss of every step, as the mean over the ranks, and the final model.
struct Curve {
  std::map<std::int64_t, double> losses;
  torch::Tensor weights;
};

class LossCurve : public Training, public ::testing::WithParamInterface<std::string> {
 protected:
  static Run runWith(const std::string& optimizer) {
    Run run;
    run.net = std::make_shared<SmallNet>(0);
    run.options.epochs = 3;
    if (optimizer == "SGD") {
      run.optimizer = [](std::vector<torch::Tensor> parameters) {
        return std::make_unique<torch::optim::SGD>(std::move(parameters),
                                                   torch::optim::SGDOptions(0.1));
      };
    } else if (optimizer == "Adam") {
      run.optimizer = [](std::vector<torch::Tensor> parameters) {
        return std::make_unique<torch::optim::Adam>(std::move(parameters),
                                                    torch::optim::AdamOptions(0.05));
      };
    }
    return run;
  }

  Curve curve(int ranks, const std::function<Run()>& makeRun) {
    Curve curve;
    std::mutex mutex;
    runRanksShared(ranks, [&](const World& world) {
      Run run = makeRun();
      run.prepare = [&](Trainer& trainer) {
        trainer.on(TrainerEvent::kAfterBatch, [&](TrainingContext& context) {
          const std::lock_guard<std::mutex> lock(mutex);
          curve.losses[context.step] += context.loss() / ranks;
        });
      };
      fit(world, run);
      if (world->isRoot()) {
        curve.weights = run.net->fc->weight.detach().clone();
      }
    });
    return curve;
  }

  static void expectNear(const Curve& got, const Curve& wanted) {
    ASSERT_EQ(got.losses.size(), wanted.losses.size());
    for (const auto& [step, loss] : wanted.losses) {
      EXPECT_NEAR(got.losses.at(step), loss, 1e-5) << "step " << step;
    }
    EXPECT_TRUE(torch::allclose(got.weights, wanted.weights, 1e-4, 1e-5))
        << got.weights << "\nwanted\n"
        << wanted.weights;
  }
};
INSTANTIATE_TEST_SUITE_P(Optimizers, LossCurve, ::testing::Values("SGD", "Momentum", "Adam"),
                         [](const auto& test) { return test.param; });

TEST_P(LossCurve, OnTwoRanksIsThatOfOneRankWithBatchesTwiceAsLarge) {
  const auto makeRun = [](std::int64_t batchSize) {
    return [batchSize] {
      Run run = runWith(GetParam());
      run.batchSize = batchSize;
      return run;
    };
  };
  expectNear(curve(2, makeRun(2)), curve(1, makeRun(4)));
}

TEST_P(LossCurve, WithAccumulationEqualsThatOfBatchesTwiceAsLarge) {
  const auto makeRun = [](std::int64_t batches) {
    return [batches] {
      Run run = runWith(GetParam());
      run.batchSize = 2 / batches;
      run.options.gradientSync.accumulationSteps = batches;
      run.options.maxSteps = 5;
      return run;
    };
  };
  const Curve accumulated = curve(2, makeRun(2));
  const Curve whole = curve(2, makeRun(1));
  EXPECT_TRUE(torch::allclose(accumulated.weights, whole.weights, 1e-4, 1e-5));
}

TEST_F(Training, LeavesOutBatchesThatFillNoStep) {
  std::vector<std::int64_t> batches;
  std::vector<std::int64_t> steps;
  Run run;
  run.options.epochs = 2;
  run.options.gradientSync.accumulationSteps = 2;
  run.prepare = [&](Trainer& trainer) {
    trainer.on(TrainerEvent::kAfterBatch,
               [&](TrainingContext& context) { batches.push_back(context.batchInEpoch); });
    trainer.on(TrainerEvent::kAfterStep,
               [&](TrainingContext& context) { steps.push_back(context.step); });
  };
  const TrainingResult result = fit(oneRank(), run);
  EXPECT_EQ(result.step, 10);  // 11 batches an epoch make 5 steps.
  EXPECT_EQ(steps.size(), 10U);
  EXPECT_EQ(batches.size(), 20U);
  EXPECT_EQ(batches.back(), 10);
}

TEST_F(Training, RejectsMoreBatchesAStepThanThereAre) {
  TrainerOptions options;
  options.gradientSync.accumulationSteps = 12;
  expectError(ErrorCode::kInvalidArgument, "Trainer: got 11 training batches; expected at least 12",
              [&] { fit(oneRank(), options); });
}

TEST_F(Training, ContinuesWithTheRanksThatStillHaveData) {
  runRanksShared(3, [&](const World& world) {
    Run run;
    run.net = std::make_shared<SmallNet>(0);
    run.evenShares = false;  // 8, 7 and 7 images: 8, 7 and 7 batches.
    run.batchSize = 1;
    run.options.unevenBatches = true;
    run.options.epochs = 2;
    std::int64_t ownBatches = 0;
    run.prepare = [&](Trainer& trainer) {
      trainer.on(TrainerEvent::kAfterBatch, [&](TrainingContext&) { ++ownBatches; });
    };
    EXPECT_EQ(fit(world, run).step, 16);
    EXPECT_EQ(ownBatches, world->isRoot() ? 16 : 14);
  });
}

TEST_F(Training, LimitsTheGradientAndKnowsItsNorm) {
  constexpr double kMaxNorm = 1e-3;
  runRanksShared(2, [&](const World& world) {
    Run run;
    run.net = std::make_shared<SmallNet>(0);
    run.options.maxSteps = 1;
    run.options.gradientSync.maxNorm = kMaxNorm;
    fit(world, run);
    const double change = run.net->fc->weight.norm().item<double>();  // it started with zeros
    EXPECT_GT(change, 0);
    EXPECT_LE(change, 0.1 * kMaxNorm * 1.001);  // the learning rate times the gradient
  });
}

TEST_F(Training, EvaluatesEveryFewStepsAndEpochs) {
  std::vector<std::int64_t> steps;
  Run run;
  run.options.epochs = 3;
  run.options.metrics = {accuracyMetric()};
  run.options.evaluateEveryEpochs = 2;
  run.options.evaluateEverySteps = 5;
  run.prepare = [&](Trainer& trainer) {
    trainer.on(TrainerEvent::kAfterEvaluation, [&](TrainingContext& context) {
      steps.push_back(context.step);
      EXPECT_EQ(context.metrics.size(), 2U);
    });
  };
  fit(oneRank(), run);
  // After every fifth step, after the second epoch of 11 steps, and after the last step.
  EXPECT_EQ(steps, (std::vector<std::int64_t>{5, 10, 15, 20, 22, 25, 30, 33}));
}

TEST_F(Training, TrainsOnAfterAnEvaluationInTheMiddleOfAnEpoch) {
  std::vector<bool> modes;
  Run run;
  run.options.evaluateEverySteps = 4;
  run.prepare = [&](Trainer& trainer) {
    trainer.on(TrainerEvent::kBeforeBatch,
               [&](TrainingContext& context) { modes.push_back(context.module.is_training()); });
  };
  fit(oneRank(), run);
  EXPECT_EQ(modes, std::vector<bool>(11, true));
}

TEST_F(Training, KeepsModelCommunicatorAndCallbacksAlive) {
  auto net = std::make_shared<SmallNet>();
  auto world = oneRank();
  auto callback = std::make_shared<TrainerCallback>();
  const std::weak_ptr<void> kept[] = {net, world, callback};
  const auto optimizer = momentumSgd(net->parameters());
  DistributedWriter writer(logDir(), oneRank(), silent());
  {
    Trainer trainer(net, *optimizer, world, writer);
    trainer.add(callback);
    net = nullptr;
    world = nullptr;
    callback = nullptr;
    for (const std::weak_ptr<void>& object : kept) {
      EXPECT_FALSE(object.expired());
    }
  }
  for (const std::weak_ptr<void>& object : kept) {
    EXPECT_TRUE(object.expired());
  }
}

template <typename Optimizer, typename Writer>
inline constexpr bool kTrainsWith =
    std::is_constructible_v<Trainer, std::shared_ptr<SmallNet>, Optimizer, World, Writer>;
static_assert(kTrainsWith<torch::optim::SGD&, DistributedWriter&>);
static_assert(!kTrainsWith<torch::optim::SGD, DistributedWriter&>,
              "what must outlive the trainer is no temporary");
static_assert(!kTrainsWith<torch::optim::SGD&, DistributedWriter>,
              "what must outlive the trainer is no temporary");

constexpr bool kHasFloat16OnCpu = TORCH_VERSION_MAJOR > 2 ||
                                  (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4);

class MixedPrecision : public Training, public ::testing::WithParamInterface<Precision> {};
INSTANTIATE_TEST_SUITE_P(Types, MixedPrecision,
                         ::testing::ValuesIn(kHasFloat16OnCpu
                                                 ? std::vector<Precision>{Precision::kBfloat16,
                                                                          Precision::kFloat16}
                                                 : std::vector<Precision>{Precision::kBfloat16}));

TEST_P(MixedPrecision, LearnsInIt) {
  runRanksShared(2, [&](const World& world) {
    Run run;
    run.options.epochs = 20;
    run.options.metrics = {accuracyMetric()};
    run.options.precision = GetParam();
    std::string types;
    run.prepare = [&](Trainer& trainer) {
      trainer.on(TrainerEvent::kAfterBatch, [&](TrainingContext& context) {
        types = at::toString(context.module.parameters()[0].scalar_type());
      });
    };
    EXPECT_EQ(fit(world, run).metric("accuracy"), 1.0);
    EXPECT_EQ(types, "Float") << "parameters keep their type";
  });
}

TEST_P(MixedPrecision, CalculatesMatrixProductsInIt) {
  TrainerOptions options;
  options.maxSteps = 1;
  options.precision = GetParam();
  at::ScalarType type = at::kFloat;
  options.loss = [&](const at::Tensor& output, const at::Tensor& targets) {
    type = at::matmul(output.exp(), output.exp().t()).scalar_type();
    return at::nll_loss(output.to(at::kFloat), targets);
  };
  fit(oneRank(), options);
  EXPECT_EQ(type, GetParam() == Precision::kFloat16 ? at::kHalf : at::kBFloat16);
}

TEST_F(Training, LeavesOutAStepWithAnInfiniteGradientOnAllRanks) {
  runRanksShared(2, [&](const World& world) {
    Run run;
    run.net = std::make_shared<SmallNet>(0);
    run.options.precision = Precision::kFloat16;
    run.options.maxSteps = 1;
    run.options.loss = [&](const at::Tensor& output, const at::Tensor& targets) {
      const at::Tensor loss = at::nll_loss(output.to(at::kFloat), targets);
      return world->rank() == 1 ? loss * std::numeric_limits<double>::infinity() : loss;
    };
    if (kHasFloat16OnCpu) {
      fit(world, run);
    } else {
      expectError(ErrorCode::kInvalidArgument, "Trainer: got Precision::kFloat16 on cpu",
                  [&] { fit(world, run); });
    }
    EXPECT_EQ(run.net->fc->weight.abs().max().item<double>(), 0) << "a step was made";
  });
}

TEST_F(Training, RejectsPowerSgdWithAScaledLoss) {
  TrainerOptions options;
  options.precision = Precision::kFloat16;
  options.gradientSync.compression = Compression::kPowerSgd;
  expectError(ErrorCode::kInvalidArgument,
              kHasFloat16OnCpu ? "Compression::kPowerSgd with Precision::kFloat16"
                               : "Trainer: got Precision::kFloat16 on cpu",
              [&] { fit(oneRank(), options); });
}

}  // namespace
}  // namespace steptape::test
