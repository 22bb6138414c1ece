// SPDX-License-Identifier: Apache-2.0
// Profiles that a Trainer makes of its own steps.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "train/loop/training_fixture.h"

namespace steptape::test {
namespace {

using ::testing::ElementsAre;

class TrainingProfile : public Training {
 protected:
  /// Returns a run of one rank whose profiled steps are recorded.
  Run profiledRun() {
    Run run;
    run.writer = DistributedWriterOptions();
    run.batchSize = 2;
    run.options.histograms = false;
    run.options.onTrace = [this](const Trace& trace, SummaryWriter*, std::int64_t) {
      for (const TraceStep& step : trace.steps) {
        steps_.push_back(step.number);
      }
    };
    return run;
  }

  /// Calls `function` in a step.
  static std::function<void(Trainer&)> inStep(std::int64_t step, std::function<void()> function) {
    return [step, function = std::move(function)](Trainer& trainer) {
      trainer.on(TrainerEvent::kAfterBatch, [step, function](TrainingContext& context) {
        if (context.step == step) {
          function();
        }
      });
    };
  }

  int traceFiles() const {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(logDir())) {
      files += entry.path().extension() == ".gz" ? 1 : 0;
    }
    return files;
  }

  std::vector<std::int64_t> steps_;
};

TEST_F(TrainingProfile, IsMadeOfTheStepsAfterASignal) {
  Run run = profiledRun();
  run.options.profileTrigger.signal = SIGUSR2;
  run.prepare = inStep(4, [] { std::raise(SIGUSR2); });
  fit(oneRank(), run);
  EXPECT_THAT(steps_, ElementsAre(5, 6, 7)) << "one warms up";
  EXPECT_EQ(traceFiles(), 1);
}

TEST_F(TrainingProfile, IsMadeOfAsManyStepsAsTheFirstOne) {
  Run run = profiledRun();
  run.options.profiledSteps = 1;
  run.options.epochs = 3;
  run.options.profileTrigger.signal = SIGUSR2;
  run.prepare = inStep(20, [] { std::raise(SIGUSR2); });
  fit(oneRank(), run);
  EXPECT_THAT(steps_, ElementsAre(11, 21));
  EXPECT_EQ(traceFiles(), 2);
}

TEST_F(TrainingProfile, IsMadeWhileTheWholeRunIsTimed) {
  Run run = profiledRun();
  run.options.profilingShare = 0.5;
  run.options.profileTrigger.signal = SIGUSR2;
  run.prepare = inStep(4, [] { std::raise(SIGUSR2); });
  fit(oneRank(), run);
  EXPECT_THAT(steps_, ElementsAre(5, 6, 7));
}

TEST_F(TrainingProfile, IsMadeWhenAFileIsThere) {
  const std::string file = dir_.string() + "/profile_now";
  std::ofstream(file) << "";
  Run run = profiledRun();
  run.options.epochs = 1'000'000;
  run.options.profileTrigger.file = file;
  run.prepare = [this](Trainer& trainer) {
    trainer.on(TrainerEvent::kAfterBatch, [this](TrainingContext& context) {
      if (traceFiles() == 1) {
        context.stop();
      }
    });
  };
  fit(oneRank(), run);
  EXPECT_EQ(steps_.size(), 3U);
}

TEST_F(TrainingProfile, EndsWithTheStepsThereWereWhenACallbackThrows) {
  Run run = profiledRun();
  run.options.epochs = 3;
  run.options.profiledSteps = 8;
  run.prepare = inStep(14, [] { throw std::runtime_error("enough"); });
  EXPECT_THROW(fit(oneRank(), run), std::runtime_error);
  EXPECT_THAT(steps_, ElementsAre(11, 12));
  EXPECT_EQ(traceFiles(), 1);
  EXPECT_NO_THROW(Profiler()) << "none runs any more";
}

TEST_F(TrainingProfile, EndsAloneWhenTheFunctionThatGetsItThrows) {
  Run run = profiledRun();
  run.options.profiledSteps = 2;
  run.options.epochs = 3;
  run.options.onTrace = [](const Trace&, SummaryWriter*, std::int64_t) {
    throw std::runtime_error("no colors left");
  };
  const TrainingResult result = fit(oneRank(), run);
  EXPECT_EQ(result.epochs, 3);
  EXPECT_EQ(traceFiles(), 1);
}

TEST_F(TrainingProfile, CannotBeginAtASignalThatStopsTheRun) {
  Run run = profiledRun();
  run.options.profileTrigger.signal = SIGUSR1;
  expectError(ErrorCode::kInvalidArgument, "in both profileTrigger and stopSignals",
              [&] { fit(oneRank(), run); });
}

}  // namespace
}  // namespace steptape::test
