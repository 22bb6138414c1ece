// SPDX-License-Identifier: Apache-2.0
// Watching, stopping and resuming a Trainer.
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "train/loop/training_fixture.h"

namespace steptape::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::runRanksShared;

class Callbacks : public Training {
 protected:
  /// Records each call as "<event> <step>".
  std::function<void(Trainer&)> noteAll() {
    return [this](Trainer& trainer) {
      for (int i = 0; i <= static_cast<int>(TrainerEvent::kAfterEvaluation); ++i) {
        const auto event = static_cast<TrainerEvent>(i);
        trainer.on(event, [this, event](TrainingContext& context) {
          note(std::string(trainerEventName(event)) + " " + std::to_string(context.step));
        });
      }
    };
  }
};

TEST_F(Callbacks, AreCalledAroundFitEpochsBatchesAndEvaluations) {
  Run run;
  run.options.epochs = 2;
  run.batchSize = 11;
  run.prepare = noteAll();
  fit(oneRank(), run);
  EXPECT_THAT(notes_,
              ElementsAre("beforeFit 0",                                              //
                          "beforeEpoch 0",                                            //
                          "beforeBatch 0", "afterBatch 1", "afterStep 1",             //
                          "beforeBatch 1", "afterBatch 2", "afterStep 2",             //
                          "beforeEvaluation 2", "afterEvaluation 2", "afterEpoch 2",  //
                          "beforeEpoch 2",                                            //
                          "beforeBatch 2", "afterBatch 3", "afterStep 3",             //
                          "beforeBatch 3", "afterBatch 4", "afterStep 4",             //
                          "beforeEvaluation 4", "afterEvaluation 4", "afterEpoch 4", "afterFit 4"));
}

TEST_F(Callbacks, AreCalledInTheOrderInWhichTheyWereAdded) {
  class Second : public TrainerCallback {
   public:
    explicit Second(std::vector<std::string>& calls) : calls_(calls) {}
    void beforeFit(TrainingContext& /*context*/) override { calls_.emplace_back("second"); }

   private:
    std::vector<std::string>& calls_;
  };
  Run run;
  run.options.epochs = 0;
  run.prepare = [&](Trainer& trainer) {
    trainer.on(TrainerEvent::kBeforeFit, [&](TrainingContext&) { note("first"); });
    trainer.add(std::make_shared<Second>(notes_));
  };
  fit(oneRank(), run);
  EXPECT_THAT(notes_, ElementsAre("first", "second"));
}

TEST_F(Callbacks, MayChangeABatchBeforeItIsLearnt) {
  Run run;
  run.options.maxSteps = 1;
  run.net = std::make_shared<SmallNet>(0);
  run.prepare = [](Trainer& trainer) {
    trainer.on(TrainerEvent::kBeforeBatch,
               [](TrainingContext& context) { context.batch->inputs.zero_(); });
  };
  fit(oneRank(), run);
  EXPECT_EQ(run.net->fc->weight.abs().max().item<double>(), 0) << "the images were not dark";
}

TEST_F(Callbacks, OfOneRankStopAllRanksAfterTheSameStep) {
  for (const TrainerEvent event : {TrainerEvent::kBeforeBatch, TrainerEvent::kAfterBatch}) {
    runRanksShared(3, [&](const World& world) {
      Run run;
      run.options.epochs = 9;
      run.prepare = [&](Trainer& trainer) {
        trainer.on(event, [&](TrainingContext& context) {
          if (world->rank() == 2 && context.step == 5) {
            context.stop();
          }
        });
      };
      const TrainingResult result = fit(world, run);
      EXPECT_EQ(result.step, 6);
      EXPECT_EQ(result.stoppedBy, StopReason::kCallback);
      EXPECT_GT(result.metric("loss"), 0) << "it was not evaluated";
    });
  }
}

TEST_F(Callbacks, OfAnEvaluationStopBeforeAFurtherStep) {
  runRanksShared(2, [&](const World& world) {
    Run run;
    run.options.epochs = 9;
    run.options.evaluateEverySteps = 4;
    run.prepare = [&](Trainer& trainer) {
      trainer.on(TrainerEvent::kAfterEvaluation, [&](TrainingContext& context) {
        if (!world->isRoot() && context.metric("loss") > 0) {
          context.stop();
        }
      });
    };
    EXPECT_EQ(fit(world, run).step, 4);
  });
}

TEST_F(Callbacks, ThatThrowOnOneRankEndAllWithItsName) {
  for (const TrainerEvent event :
       {TrainerEvent::kBeforeFit, TrainerEvent::kBeforeEpoch, TrainerEvent::kBeforeBatch,
        TrainerEvent::kAfterBatch, TrainerEvent::kBeforeEvaluation, TrainerEvent::kAfterEvaluation,
        TrainerEvent::kAfterEpoch, TrainerEvent::kAfterFit}) {
    runRanksShared(3, [&](const World& world) {
      Run run;
      run.prepare = [&](Trainer& trainer) {
        trainer.on(event, [&](TrainingContext&) {
          if (world->rank() == 1) {
            throw std::runtime_error("no more paper");
          }
        });
      };
      expectError(ErrorCode::kFailedPrecondition,
                  std::string("Trainer: a callback threw: rank 1: ") + trainerEventName(event) +
                      " at step ",
                  [&] { fit(world, run); });
      expectError(ErrorCode::kFailedPrecondition, ": no more paper", [&] { fit(world, run); });
    });
  }
}

TEST_F(Callbacks, ThatWaitInVainForOtherRanksAreNamedByTheErrorTheyLeadTo) {
  runRanksShared(2, [&](const World& world) {
    Run run;
    run.prepare = [&](Trainer& trainer) {
      if (world->isRoot()) {
        trainer.on(TrainerEvent::kAfterBatch, [](TrainingContext& context) {
          context.world.setTimeout(std::chrono::milliseconds(200));
          context.world.barrier();
        });
      }
    };
    if (world->isRoot()) {
      expectError(ErrorCode::kDeadlineExceeded, "Trainer: afterBatch at step 1: barrier did not",
                  [&] { fit(world, run); });
    } else {
      EXPECT_THROW(fit(world, run), Error);
    }
  });
}

TEST_F(Callbacks, ThatThrewOnceDoNotEndTheNextFit) {
  runRanksShared(2, [&](const World& world) {
    const auto net = std::make_shared<SmallNet>();
    const auto optimizer = momentumSgd(net->parameters());
    ImageLoader train(images(), sampler(*world, true, true), 2);
    ImageLoader test(images(), sampler(*world, false, false), 4);
    DistributedWriter writer(logDir(), world, silent());
    TrainerOptions options;
    options.progress = ProgressStyle::kNone;
    Trainer trainer(net, *optimizer, world, writer, options);
    bool isFirst = true;
    trainer.on(TrainerEvent::kBeforeFit, [&](TrainingContext&) {
      if (std::exchange(isFirst, false)) {
        throw std::runtime_error("once");
      }
    });
    EXPECT_THROW(trainer.fit(train, test), Error);
    EXPECT_GT(trainer.fit(train, test).step, 0);
  });
}

TEST_F(Callbacks, ThatThrowOnASingleRankGiveTheExceptionItself) {
  Run run;
  run.prepare = [](Trainer& trainer) {
    trainer.on(TrainerEvent::kAfterBatch,
               [](TrainingContext&) { throw std::out_of_range("their own"); });
  };
  EXPECT_THROW(fit(oneRank(), run), std::out_of_range);
}

TEST_F(Callbacks, AskInVainForAMetricThatWasNotEvaluated) {
  Run run;
  run.prepare = [](Trainer& trainer) {
    trainer.on(TrainerEvent::kBeforeFit, [](TrainingContext& context) {
      expectError(ErrorCode::kInvalidArgument,
                  "no metric loss was evaluated, since there was no evaluation yet",
                  [&] { context.metric("loss"); });
    });
  };
  fit(oneRank(), run);
}

/// Stops a run and resumes it.
class Stopping : public Training {
 protected:
  /// Returns the weights after two uninterrupted epochs.
  torch::Tensor weightsOfAWholeRun(int ranks, const Run& setup) {
    return weightsAfter(ranks, setup, [](Run&) {});
  }

  /// Returns the root's weights after a run changed by `change`. Dropout uses random numbers of the
  /// one CPU generator that all threads share, so it is off on several ranks.
  torch::Tensor weightsAfter(int ranks, const Run& setup, const std::function<void(Run&)>& change) {
    torch::Tensor weights;
    runRanksShared(ranks, [&](const World& world) {
      Run run = setup;
      run.net = std::make_shared<SmallNet>(ranks == 1 ? 0.25 : 0);
      run.options.epochs = 2;
      change(run);
      const TrainingResult result = fit(world, run);
      if (world->isRoot()) {
        result_ = result;
        weights = run.net->fc->weight.detach().clone();
      }
    });
    return weights;
  }

  void withDirectory(Run& run, bool resume) const {
    run.options.checkpointDirectory = withCheckpoints(1).checkpointDirectory;
    run.options.resume = resume;
  }

  TrainingResult result_;
};

TEST_F(Stopping, ResumesInTheMiddleOfAnEpochAsIfItHadNotStopped) {
  torch::manual_seed(5);
  const torch::Tensor whole = weightsOfAWholeRun(1, Run());
  torch::manual_seed(5);
  weightsAfter(1, Run(), [&](Run& run) {
    withDirectory(run, false);
    run.options.maxSteps = 4;
  });
  torch::manual_seed(99);
  const torch::Tensor resumed = weightsAfter(1, Run(), [&](Run& run) { withDirectory(run, true); });
  EXPECT_EQ(result_.step, 22);
  EXPECT_TRUE(torch::equal(resumed, whole)) << resumed << "\nwanted\n" << whole;
}

TEST_F(Stopping, ResumesOnSeveralRanksWithAdamAndAccumulation) {
  Run setup;
  setup.batchSize = 1;
  setup.options.gradientSync.accumulationSteps = 2;
  setup.optimizer = [](std::vector<torch::Tensor> parameters) {
    return std::make_unique<torch::optim::Adam>(std::move(parameters),
                                                torch::optim::AdamOptions(0.05));
  };
  const torch::Tensor whole = weightsOfAWholeRun(2, setup);
  weightsAfter(2, setup, [&](Run& run) {
    withDirectory(run, false);
    run.options.maxSteps = 8;  // in the second epoch of 5 steps
  });
  const torch::Tensor resumed = weightsAfter(2, setup, [&](Run& run) { withDirectory(run, true); });
  EXPECT_TRUE(torch::equal(resumed, whole)) << resumed << "\nwanted\n" << whole;
}

TEST_F(Stopping, ResumesOnADifferentNumberOfRanksInTheMiddleOfAnEpoch) {
  weightsAfter(1, Run(), [&](Run& run) {
    withDirectory(run, false);
    run.options.maxSteps = 5;  // 10 of 22 images.
  });
  std::atomic<std::int64_t> samples{0};
  weightsAfter(2, Run(), [&](Run& run) {
    withDirectory(run, true);
    run.options.epochs = 1;
    run.prepare = [&](Trainer& trainer) {
      trainer.on(TrainerEvent::kAfterBatch,
                 [&](TrainingContext& context) { samples += context.batch->size(); });
    };
  });
  EXPECT_EQ(samples, 12);
  EXPECT_EQ(result_.epochs, 1);
}

TEST_F(Stopping, StartsFromScratchIfThereIsNoCheckpoint) {
  EXPECT_EQ(fit(oneRank(), withCheckpoints(1, true)).step, 11);
}

TEST_F(Stopping, NeedsADirectoryForCheckpoints) {
  TrainerOptions options;
  options.resume = true;
  expectError(ErrorCode::kInvalidArgument, "Trainer: got resume without a checkpointDirectory",
              [&] { fit(oneRank(), options); });
}

TEST_F(Stopping, HappensAfterTheStepInWhichASignalArrives) {
  for (const int ranks : {1, 2}) {
    runRanksShared(ranks, [&](const World& world) {
      Run run;
      run.options = withCheckpoints(9);
      run.prepare = [&](Trainer& trainer) {
        trainer.on(TrainerEvent::kBeforeBatch, [&](TrainingContext& context) {
          if (context.step == 3 && world->isRoot()) {
            std::raise(SIGUSR1);
          }
        });
      };
      const TrainingResult result = fit(world, run);
      EXPECT_EQ(result.stoppedBy, StopReason::kSignal);
      EXPECT_EQ(result.signal, SIGUSR1);
      EXPECT_EQ(result.step, 4);
      EXPECT_TRUE(result.metrics.empty()) << "there is no time for an evaluation";
      EXPECT_EQ(
          readCheckpointProgress(checkpointPath(run.options.checkpointDirectory), *world).step,
          result.step);
    });
  }
}

TEST_F(Stopping, RestoresTheSignalHandlers) {
  struct sigaction before {};
  struct sigaction after {};
  sigaction(SIGTERM, nullptr, &before);
  fit(oneRank(), TrainerOptions());
  sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

TEST_F(Stopping, HappensWhenTheTimeIsOver) {
  runRanksShared(2, [&](const World& world) {
    TrainerOptions options;
    options.epochs = 1000000;
    options.maxDuration = std::chrono::nanoseconds(1);
    const TrainingResult result = fit(world, options);
    EXPECT_EQ(result.stoppedBy, StopReason::kMaxDuration);
    EXPECT_LE(result.step, 1);
    EXPECT_GT(result.metric("loss"), 0) << "it was not evaluated";
  });
}

TEST_F(Stopping, KeepsTheLatestOfTheCheckpointsOfEveryFewSteps) {
  Run run;
  run.options = withCheckpoints(1);
  run.options.checkpointEverySteps = 4;
  run.options.keptCheckpoints = 3;
  fit(oneRank(), run);
  CheckpointStore store(run.options.checkpointDirectory, oneRank());
  std::vector<std::string> names;
  for (const std::string& path : store.paths()) {
    names.push_back(std::filesystem::path(path).filename().string());
  }
  EXPECT_THAT(names, ElementsAre("checkpoint_11.pt", "checkpoint_8.pt", "checkpoint_4.pt"));
}

TEST_F(Stopping, KeepsWhatACallbackChangesLaterOutOfTheCheckpoint) {
  Run run;
  run.options = withCheckpoints(2);
  torch::Tensor atCheckpoint;
  run.prepare = [&](Trainer& trainer) {
    trainer.on(TrainerEvent::kAfterEpoch, [&](TrainingContext&) {
      if (!atCheckpoint.defined()) {
        atCheckpoint = run.net->fc->weight.detach().clone();
      }
    });
    trainer.on(TrainerEvent::kBeforeEpoch, [&](TrainingContext&) {
      const torch::NoGradGuard noGradients;
      run.net->fc->weight.zero_();
    });
  };
  const std::int64_t steps = fit(oneRank(), run).step;
  SmallNet saved;
  const auto optimizer = momentumSgd(saved.parameters());
  const std::string first =
      run.options.checkpointDirectory + "/checkpoint_" + std::to_string(steps / 2) + ".pt";
  loadCheckpoint(first, saved, *optimizer, *oneRank());
  EXPECT_TRUE(torch::equal(saved.fc->weight, atCheckpoint));
}

TEST_F(Stopping, EndsOnAllRanksIfACheckpointCannotBeWritten) {
  std::ofstream(withCheckpoints(1).checkpointDirectory) << "a file, where a directory should be";
  for (const bool isAsync : {true, false}) {
    runRanksShared(3, [&](const World& world) {
      TrainerOptions options = withCheckpoints(1);
      options.asyncCheckpoints = isAsync;
      expectError(ErrorCode::kIoError, "cannot create the directory", [&] { fit(world, options); });
    });
  }
}

TEST_F(Stopping, WritesCheckpointsByTheRootsClock) {
  runRanksShared(2, [&](const World& world) {
    Run run;
    run.options = withCheckpoints(1);
    run.options.checkpointPeriod = std::chrono::nanoseconds(1);  // at every step
    run.options.keptCheckpoints = 100;
    const std::int64_t steps = fit(world, run).step;
    CheckpointStore store(run.options.checkpointDirectory, world);
    EXPECT_EQ(static_cast<std::int64_t>(store.paths().size()), steps);
  });
}

/// A metric whose values the test sets, for each evaluation, on every rank.
class Monitoring : public Training {
 protected:
  /// The caller sets `patience` and similar options.
  Run runWithScores(const std::vector<double>& scores) const {
    Run run;
    run.options = withCheckpoints(static_cast<std::int64_t>(scores.size()));
    EvaluationMetric score;
    score.name = "score";
    auto evaluations = std::make_shared<std::size_t>(0);
    score.function = [scores, evaluations](const at::Tensor& /*output*/,
                                           const at::Tensor& /*targets*/) {
      return MetricSum{scores[std::min(*evaluations, scores.size()) - 1], 1};
    };
    run.options.metrics = {score};
    run.options.monitor.metric = "score";
    run.prepare = [evaluations](Trainer& trainer) {
      trainer.on(TrainerEvent::kBeforeEvaluation,
                 [evaluations](TrainingContext&) { ++*evaluations; });
    };
    return run;
  }
};

TEST_F(Monitoring, StopsAfterSoManyEvaluationsWithoutABetterValue) {
  runRanksShared(2, [&](const World& world) {
    Run run = runWithScores({0.5, 0.7, 0.7, 0.6, 0.9, 0.9});
    run.options.monitor.patience = 2;
    const TrainingResult result = fit(world, run);
    EXPECT_EQ(result.stoppedBy, StopReason::kMonitor);
    EXPECT_EQ(result.epochs, 4);
    EXPECT_DOUBLE_EQ(result.bestValue, 0.7);
    EXPECT_EQ(result.bestStep, 2 * result.step / 4);
  });
}

TEST_F(Monitoring, KeepsItsPatienceInAResumedRun) {
  Run first = runWithScores({0.7, 0.6});
  first.options.monitor.patience = 3;
  fit(oneRank(), first);
  Run second = runWithScores({0.6, 0.6, 0.6, 0.6, 0.6});
  second.options.epochs = 7;
  second.options.resume = true;
  second.options.monitor.patience = 3;
  const TrainingResult result = fit(oneRank(), second);
  EXPECT_EQ(result.epochs, 4);
  EXPECT_DOUBLE_EQ(result.bestValue, 0.7);
}

TEST_F(Monitoring, EndsWithTheBestModelOnRequest) {
  runRanksShared(2, [&](const World& world) {
    Run run = runWithScores({0.5, 0.9, 0.6});
    run.options.monitor.keepBest = true;
    run.options.monitor.restoreBest = true;
    torch::Tensor best;
    const auto count = run.prepare;
    run.prepare = [&](Trainer& trainer) {
      trainer.on(TrainerEvent::kAfterEvaluation, [&](TrainingContext& context) {
        if (context.metric("score") > 0.8) {
          best = run.net->fc->weight.detach().clone();
        }
      });
      count(trainer);
    };
    const TrainingResult result = fit(world, run);
    EXPECT_EQ(result.epochs, 3);
    ASSERT_TRUE(best.defined());
    EXPECT_TRUE(torch::equal(run.net->fc->weight, best));
  });
}

TEST_F(Monitoring, WritesTheBestModelAndTheCheckpointOfItsStepOnce) {
  Run run = runWithScores({0.5, 0.9, 0.6});
  run.options.monitor.keepBest = true;
  const std::int64_t steps = fit(oneRank(), run).step;
  const std::filesystem::path directory = run.options.checkpointDirectory;
  const auto best = directory / "checkpoint_best.pt";
  const auto second = directory / ("checkpoint_" + std::to_string(steps * 2 / 3) + ".pt");
  EXPECT_TRUE(std::filesystem::equivalent(best, second));
  EXPECT_EQ(readCheckpointProgress(best.string(), *oneRank()).step, steps * 2 / 3);
}

TEST_F(Monitoring, KeepsTheBestModelBetweenCheckpoints) {
  Run run = runWithScores({0.5, 0.9, 0.6, 0.6});
  run.options.epochs = 1;
  run.options.evaluateEverySteps = 3;
  run.options.monitor.keepBest = true;
  fit(oneRank(), run);
  const std::string best = run.options.checkpointDirectory + "/checkpoint_best.pt";
  EXPECT_EQ(readCheckpointProgress(best, *oneRank()).step, 6);
}

TEST_F(Monitoring, RejectsAMetricThatIsNotEvaluated) {
  TrainerOptions options;
  options.monitor.metric = "speed";
  expectError(ErrorCode::kInvalidArgument,
              R"(MonitorOptions::metric: got "speed"; expected "loss" or the name of one of)",
              [&] { fit(oneRank(), options); });
}

}  // namespace
}  // namespace steptape::test
