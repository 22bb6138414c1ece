// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "steptape/train/trainer_callback.h"

#include "train/loop/training_fixture.h"

namespace steptape::test {
namespace {

using testing::runRanksShared;

using Options = ExponentialMovingAverageOptions;

std::shared_ptr<ExponentialMovingAverage> averageWith(const Options& options = {}) {
  return std::make_shared<ExponentialMovingAverage>(options);
}

class MovingAverage : public Training {
 protected:
  /// Without dropout, so that runs can be compared.
  static Run runWith(std::shared_ptr<ExponentialMovingAverage> average, TrainerOptions options) {
    Run run;
    run.options = std::move(options);
    run.net = std::make_shared<SmallNet>(0);
    run.prepare = [average](Trainer& trainer) { trainer.add(average); };
    return run;
  }

  static TrainerOptions epochs(std::int64_t count) {
    TrainerOptions options;
    options.epochs = count;
    return options;
  }

  static torch::Tensor weightOf(const ExponentialMovingAverage& average) {
    SmallNet net;
    average.copyTo(net);
    return net.fc->weight.detach();
  }

  /// The rank's own result of `body`, once it equals that of every rank.
  void expectSameOnAllRanks(const torch::Tensor& value) {
    const std::lock_guard<std::mutex> lock(notesMutex_);
    if (!ofFirst_.defined()) {
      ofFirst_ = value.clone();
    }
    EXPECT_TRUE(ofFirst_.equal(value));
  }

  torch::Tensor ofFirst_;
};

TEST_F(MovingAverage, FollowsItsFormulaWithItsWarmUp) {
  Options options;
  options.decay = 0.4;
  options.everySteps = 2;
  const auto average = averageWith(options);
  Run run = runWith(average, epochs(2));
  torch::Tensor expected = run.net->fc->weight.detach().clone();
  std::int64_t updates = 0;
  run.prepare = [&](Trainer& trainer) {
    trainer.add(average);
    trainer.on(TrainerEvent::kAfterStep, [&, net = run.net](TrainingContext& context) {
      if (context.step % 2 == 0) {
        const auto n = static_cast<double>(updates++);
        const double decay = std::min(0.4, (1 + n) / (10 + n));  // Reaches 0.4 in update 5.
        expected = decay * expected + (1 - decay) * net->fc->weight.detach();
      }
    });
  };
  fit(oneRank(), run);
  EXPECT_EQ(updates, 11);
  EXPECT_EQ(average->updates(), 11);
  EXPECT_TRUE(torch::allclose(weightOf(*average), expected, 1e-5, 1e-6));
  EXPECT_FALSE(torch::allclose(weightOf(*average), run.net->fc->weight, 1e-3, 1e-3));
}

TEST_F(MovingAverage, IsEvaluatedWithoutChangingTheTraining) {
  for (const int ranks : {1, 2}) {
    torch::Tensor trainedAlone;
    runRanksShared(ranks, [&](const World& world) {
      Run run;
      run.options = epochs(2);
      run.net = std::make_shared<SmallNet>(0);
      fit(world, run);
      if (world->isRoot()) {
        trainedAlone = run.net->fc->weight.detach().clone();
      }
    });
    runRanksShared(ranks, [&](const World& world) {
      const auto average = averageWith();
      Run run = runWith(average, epochs(2));
      torch::Tensor evaluated;
      EvaluationMetric probe{"probe", {}, true};
      probe.function = [&evaluated, net = run.net](const at::Tensor&, const at::Tensor&) {
        evaluated = net->fc->weight.detach().clone();
        return MetricSum{1, 1};
      };
      run.options.metrics = {probe};
      fit(world, run);
      EXPECT_TRUE(evaluated.equal(weightOf(*average)));
      EXPECT_TRUE(run.net->fc->weight.equal(trainedAlone));
    });
  }
}

TEST_F(MovingAverage, IsNotEvaluatedIfItIsToldSo) {
  Options options;
  options.evaluate = false;
  Run run = runWith(averageWith(options), epochs(1));
  torch::Tensor evaluated;
  run.prepare = [&, prepare = run.prepare](Trainer& trainer) {
    prepare(trainer);
    trainer.on(TrainerEvent::kAfterEvaluation, [&, net = run.net](TrainingContext&) {
      evaluated = net->fc->weight.detach().clone();
    });
  };
  fit(oneRank(), run);
  EXPECT_TRUE(evaluated.equal(run.net->fc->weight));
}

TEST_F(MovingAverage, BringsTheParametersBackWhenAnEvaluationThrows) {
  for (const int ranks : {1, 2}) {
    runRanksShared(ranks, [&](const World& world) {
      Run run = runWith(averageWith(), epochs(1));
      torch::Tensor trained;
      run.prepare = [&, prepare = run.prepare](Trainer& trainer) {
        trainer.on(TrainerEvent::kBeforeEvaluation, [&, net = run.net](TrainingContext&) {
          trained = net->fc->weight.detach().clone();
        });
        prepare(trainer);
        trainer.on(TrainerEvent::kBeforeEvaluation,
                   [](TrainingContext&) { throw std::runtime_error("no light"); });
      };
      EXPECT_THROW(fit(world, run), std::runtime_error);
      EXPECT_TRUE(run.net->fc->weight.equal(trained));
    });
  }
}

TEST_F(MovingAverage, ContinuesFromACheckpointBitIdentically) {
  torch::Tensor uninterrupted;
  runRanksShared(2, [&](const World& world) {
    const auto average = averageWith();
    fit(world, runWith(average, epochs(2)));
    expectSameOnAllRanks(weightOf(*average));
  });
  uninterrupted = std::exchange(ofFirst_, {});
  runRanksShared(2, [&](const World& world) {
    fit(world, runWith(averageWith(), withCheckpoints(1)));
    const auto average = averageWith();
    fit(world, runWith(average, withCheckpoints(2, true)));
    expectSameOnAllRanks(weightOf(*average));
    EXPECT_EQ(average->updates(), 12);
  });
  EXPECT_TRUE(ofFirst_.equal(uninterrupted));
}

TEST_F(MovingAverage, StartsFromACheckpointThatHoldsNone) {
  fit(oneRank(), withCheckpoints(1));
  Options frozen;
  frozen.everySteps = 1000;
  const auto average = averageWith(frozen);
  Run run = runWith(average, withCheckpoints(2, true));
  torch::Tensor ofCheckpoint;
  run.prepare = [&, prepare = run.prepare](Trainer& trainer) {
    prepare(trainer);
    trainer.on(TrainerEvent::kBeforeFit, [&, net = run.net](TrainingContext&) {
      ofCheckpoint = net->fc->weight.detach().clone();
    });
  };
  fit(oneRank(), run);
  EXPECT_EQ(average->updates(), 0);
  EXPECT_TRUE(weightOf(*average).equal(ofCheckpoint));
}

TEST_F(MovingAverage, IsTheModelOfTheBestCheckpoint) {
  const auto average = averageWith();
  TrainerOptions options = withCheckpoints(1);
  options.monitor.metric = "loss";
  options.monitor.keepBest = options.monitor.restoreBest = true;
  const Run run = runWith(average, options);
  fit(oneRank(), run);
  EXPECT_FALSE(run.net->fc->weight.equal(weightOf(*average))) << "the best is also the last";
  const auto optimizer = run.optimizer(run.net->parameters());
  CheckpointStore(options.checkpointDirectory, oneRank()).loadBest(*run.net, *optimizer);
  EXPECT_TRUE(run.net->fc->weight.equal(weightOf(*average)));
}

TEST_F(MovingAverage, IsTheSameOnARankWithoutData) {
  runRanksShared(3, [&](const World& world) {
    const auto average = averageWith();
    Run run = runWith(average, epochs(1));
    run.options.unevenBatches = true;
    run.evenShares = false;  // 8, 7 and 7 images: batches of 1 differ in number.
    run.batchSize = 1;
    fit(world, run);
    EXPECT_EQ(average->updates(), 8);
    expectSameOnAllRanks(weightOf(*average));
  });
}

TEST_F(MovingAverage, KeepsAveragesOfHalfPrecisionInFloat) {
  torch::nn::Linear layer(2, 1);
  layer->to(at::kBFloat16);
  torch::optim::SGD optimizer(layer->parameters(), 0.1);
  DistributedWriter writer(logDir(), oneRank(), silent());
  TrainingContext context(*layer, optimizer, writer, *oneRank());
  Options options;
  options.decay = 0.999;
  options.warmUp = false;
  ExponentialMovingAverage average(options);
  {
    const torch::NoGradGuard noGradients;
    layer->weight.fill_(0);
    average.beforeFit(context);
    layer->weight.fill_(1);
  }
  for (int i = 0; i < 1000; ++i) {
    average.afterStep(context);
  }
  average.beforeEvaluation(context);
  EXPECT_EQ(layer->weight.scalar_type(), at::kBFloat16);
  // 1 - 0.999^1000; bfloat16 would stop as soon as a change is less than half of its last bit.
  EXPECT_NEAR(layer->weight.min().item<double>(), 0.632, 0.005);
  average.afterEvaluation(context);
  EXPECT_EQ(layer->weight.min().item<double>(), 1);
}

TEST_F(MovingAverage, RejectsOptionsOutOfRange) {
  Options options;
  options.decay = 1;
  expectError(ErrorCode::kInvalidArgument,
              "ExponentialMovingAverageOptions::decay: got 1.000000; expected a number from 0 to "
              "less than 1",
              [&] { averageWith(options); });
  options.decay = 0.5;
  options.everySteps = 0;
  expectError(ErrorCode::kInvalidArgument,
              "ExponentialMovingAverageOptions::everySteps: got 0.000000; expected at least 1",
              [&] { averageWith(options); });
}

TEST_F(MovingAverage, CannotBeCopiedToAnotherModel) {
  const auto average = averageWith();
  SmallNet net;
  expectError(ErrorCode::kFailedPrecondition, "expected a call after fit()",
              [&] { average->copyTo(net); });
  fit(oneRank(), runWith(average, epochs(1)));
  torch::nn::Linear other(4, 2);
  expectError(ErrorCode::kInvalidArgument, "without the parameter fc.weight",
              [&] { average->copyTo(*other); });
}

}  // namespace
}  // namespace steptape::test
