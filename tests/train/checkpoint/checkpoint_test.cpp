// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/checkpoint.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"
#include "steptape/train/learning_rate_schedule.h"
#include "steptape/train/parameters.h"

#include "base/replacement_file.h"
#include "base/whole_file.h"
#include "support/expect_error.h"
#include "train/checkpoint/checkpoint_archive.h"
#include "train/replicas/small_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using test::expectError;
using test::makeModel;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::runRanks;
using testing::runRanksShared;
using World = std::shared_ptr<Communicator>;

/// A model with its optimizer on one rank, or on each.
struct Learner {
  explicit Learner(std::int64_t seed, std::int64_t inputs = 3)
      : model(makeModel(seed, inputs)), optimizer(test::momentumSgd(model->parameters())) {}

  void train(std::int64_t seed) { test::trainStep(model, *optimizer, seed); }

  torch::nn::Linear model;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
};

TrainingProgress atStep(std::int64_t step) {
  TrainingProgress progress;
  progress.step = step;
  return progress;
}

class Checkpoints : public ::testing::Test {
 protected:
  void save(Communicator& world, TrainingProgress progress = {}) {
    Learner learner(1);
    learner.train(0);
    saveCheckpoint(path_, *learner.model, *learner.optimizer, progress, world);
  }

  TrainingProgress load(Learner& learner, Communicator& world) {
    return loadCheckpoint(path_, *learner.model, *learner.optimizer, world);
  }

  testing::TempDir dir_;
  std::string path_ = checkpointPath(dir_.string() + "/new/directory");
  Communicator alone_;
};

TEST_F(Checkpoints, KeepProgress) {
  TrainingProgress saved;
  saved.epoch = 2;
  saved.stepInEpoch = 3;
  saved.step = 17;
  saved.seed = 0xffffffffffffffff;
  saved.samplesDone = 96;
  saved.writerStep = 340;
  saved.values = {{"best accuracy", 0.1}, {"patience", 3}};
  save(alone_, saved);
  Learner learner(9);
  for (const TrainingProgress& progress :
       {load(learner, alone_), readCheckpointProgress(path_, alone_)}) {
    EXPECT_EQ(progress.epoch, 2);
    EXPECT_EQ(progress.stepInEpoch, 3);
    EXPECT_EQ(progress.step, 17);
    EXPECT_EQ(progress.seed, 0xffffffffffffffff);
    EXPECT_EQ(progress.ranks, 1);
    EXPECT_EQ(progress.samplesDone, 96);
    EXPECT_EQ(progress.writerStep, 340);
    EXPECT_EQ(progress.values, saved.values);
  }
  save(alone_, atStep(5));
  EXPECT_EQ(readCheckpointProgress(path_, alone_).writerStep, 5) << "by default the step";
}

TEST_F(Checkpoints, KeepTensorsOfTheCaller) {
  TrainingProgress saved;
  saved.tensors = {{"average/fc.weight", torch::arange(6.0).view({2, 3})},
                   {"of no elements", torch::empty({0})}};
  save(alone_, saved);
  runRanks(2, [&](Communicator& world) {
    Learner learner(9);
    const TrainingProgress loaded = load(learner, world);
    ASSERT_EQ(loaded.tensors.size(), 2U);
    for (const auto& [name, tensor] : saved.tensors) {
      EXPECT_TRUE(loaded.tensors.at(name).equal(tensor)) << name;
    }
    EXPECT_THAT(readCheckpointProgress(path_, world).tensors, IsEmpty());
  });
  save(alone_);
  Learner learner(9);
  EXPECT_THAT(load(learner, alone_).tensors, IsEmpty());
}

TEST_F(Checkpoints, ResumeTrainingAsIfItHadNotStopped) {
  for (const int ranks : {1, 2, 3, 7}) {
    runRanks(ranks, [&](Communicator& world) {
      Learner learner(1);
      learner.train(0);
      saveCheckpoint(path_, *learner.model, *learner.optimizer, {}, world);
      learner.train(1);

      Learner resumed(9);
      const void* memory = resumed.model->weight.data_ptr();
      const torch::Tensor view = resumed.model->weight.detach().view({-1});
      load(resumed, world);
      resumed.train(1);
      EXPECT_TRUE(torch::equal(resumed.model->weight, learner.model->weight));
      EXPECT_EQ(resumed.model->weight.data_ptr(), memory) << "the parameters were moved";
      EXPECT_TRUE(torch::equal(view, resumed.model->weight.view({-1})));
    });
  }
}

TEST_F(Checkpoints, ContinueTheRandomNumbers) {
  at::manual_seed(5);
  save(alone_);
  const torch::Tensor next = torch::rand({3});
  Learner learner(9);
  load(learner, alone_);
  EXPECT_TRUE(torch::equal(torch::rand({3}), next));
}

TEST_F(Checkpoints, SeedRanksThatTheJobDidNotHaveBefore) {
  TrainingProgress progress;
  progress.seed = 3;
  save(alone_, progress);
  const auto drawnBy = [&](int rank) {
    detail::train::CheckpointArchive archive;
    std::string bytes;
    EXPECT_TRUE(detail::base::readWholeFile(path_, bytes).ok());
    EXPECT_EQ(archive.open(bytes), "");
    Learner learner(9);
    archive.restore(*learner.model, *learner.optimizer, nullptr, rank);
    return torch::rand({3});
  };
  EXPECT_FALSE(torch::equal(drawnBy(0), drawnBy(1)));
  EXPECT_FALSE(torch::equal(drawnBy(1), drawnBy(2)));
  EXPECT_TRUE(torch::equal(drawnBy(2), drawnBy(2)));
}

TEST_F(Checkpoints, KeepTheBaseRatesOfASchedule) {
  Learner learner(1);
  LearningRateSchedule schedule(std::vector<double>{0.5});
  saveCheckpoint(path_, *learner.model, *learner.optimizer, {}, alone_, &schedule);
  LearningRateSchedule other(std::vector<double>{0.1});
  loadCheckpoint(path_, *learner.model, *learner.optimizer, alone_, &other);
  EXPECT_THAT(other.baseRates(), ElementsAre(0.5));
  save(alone_);  // without a learning rate schedule
  LearningRateSchedule own(std::vector<double>{0.1});
  loadCheckpoint(path_, *learner.model, *learner.optimizer, alone_, &own);
  EXPECT_THAT(own.baseRates(), ElementsAre(0.1));
}

TEST_F(Checkpoints, ReachEveryRankFromTheRootsDisk) {
  save(alone_, atStep(17));
  runRanks(3, [&](Communicator& world) {
    Learner learner(9);
    const std::string path = world.isRoot() ? path_ : "/nonexistent";
    EXPECT_TRUE(checkpointExists(path, world));
    EXPECT_EQ(loadCheckpoint(path, *learner.model, *learner.optimizer, world).step, 17);
    EXPECT_NO_THROW(checkParametersAreEqual(*learner.model, world));
    EXPECT_NE(learner.model->bias[0].item<float>(), 9.0F);
  });
}

TEST_F(Checkpoints, ReplaceThePreviousOneAndLeaveNoTemporaryFile) {
  save(alone_);
  save(alone_);
  const auto directory = std::filesystem::path(path_).parent_path();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
}

TEST_F(Checkpoints, ReportAMissingFileOnEveryRank) {
  runRanks(2, [&](Communicator& world) {
    EXPECT_FALSE(checkpointExists(path_, world));
    expectError(ErrorCode::kIoError, "cannot read " + path_ + ": No such file or directory",
                [&] { readCheckpointProgress(path_, world); });
  });
}

TEST_F(Checkpoints, CannotBeWrittenBelowAFile) {
  std::ofstream(dir_.path() / "new") << "a file";
  runRanks(2, [&](Communicator& world) {
    expectError(ErrorCode::kIoError, "cannot create the directory " + dir_.string() + "/new",
                [&] { save(world); });
  });
}

TEST_F(Checkpoints, RejectNamesOfValuesThatTheyCannotKeep) {
  TrainingProgress progress;
  progress.values["a\nb"] = 1;
  expectError(ErrorCode::kInvalidArgument, "expected a name without line breaks",
              [&] { save(alone_, progress); });
  progress.values.clear();
  progress.tensors["a\nb"] = torch::ones({1});
  expectError(ErrorCode::kInvalidArgument, "a tensor of the progress called 'a\nb'",
              [&] { save(alone_, progress); });
}

TEST_F(Checkpoints, SayThatTheyAreTruncatedOrDamaged) {
  save(alone_);
  std::string whole;
  ASSERT_TRUE(detail::base::readWholeFile(path_, whole).ok());
  const auto expectDamage = [&](const std::string& bytes, const std::string& words) {
    ASSERT_TRUE(detail::base::replaceFile(path_, bytes).ok());
    Learner learner(9);
    expectError(ErrorCode::kDataLoss, "the checkpoint " + path_ + " is damaged: " + words,
                [&] { load(learner, alone_); });
    EXPECT_EQ(learner.model->bias[0].item<float>(), 9.0F) << "half restored";
  };
  for (std::size_t sixteenth = 0; sixteenth < 16; ++sixteenth) {
    expectDamage(whole.substr(0, whole.size() * sixteenth / 16), "its end is missing, at ");
  }
  expectDamage(whole.substr(0, whole.size() - 1), "its end is missing, at ");
  for (std::size_t sixteenth = 0; sixteenth < 16; ++sixteenth) {
    std::string flipped = whole;
    flipped[whole.size() * sixteenth / 16] ^= 0x10;
    expectDamage(flipped, "its bytes are not those that its checksum is of");
  }
}

TEST_F(Checkpoints, SayWhichTensorOfAnotherModelDiffers) {
  save(alone_);
  runRanks(2, [&](Communicator& world) {
    Learner other(9, 4);
    expectError(ErrorCode::kInvalidArgument,
                "the checkpoint " + path_ +
                    " does not fit: rank 0: the model: got weight: Float [2, 3]; expected weight: "
                    "Float [2, 4]",
                [&] { load(other, world); });
    EXPECT_EQ(other.model->bias[0].item<float>(), 9.0F) << "half restored";
    torch::optim::Adam adam(makeModel(1)->parameters());
    expectError(ErrorCode::kInvalidArgument,
                "the optimizer: got an optimizer of type torch::optim::SGD",
                [&] { loadCheckpoint(path_, *makeModel(1), adam, world); });
  });
}

class CheckpointStores : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return dir_.string() + "/" + name; }

  void save(std::int64_t step, std::int64_t keep = 2) {
    CheckpointStoreOptions options;
    options.keep = keep;
    CheckpointStore store(dir_.string(), alone_, options);
    Learner learner(step);
    EXPECT_EQ(store.save(*learner.model, *learner.optimizer, atStep(step)),
              path("checkpoint_" + std::to_string(step) + ".pt"));
  }

  void truncate(const std::string& name, std::uintmax_t bytes = 100) {
    std::filesystem::resize_file(path(name), bytes);
  }

  std::string wholeFile(const std::string& name) const {
    std::string bytes;
    EXPECT_TRUE(detail::base::readWholeFile(path(name), bytes).ok());
    return bytes;
  }

  /// Loads on a job of `ranks` ranks, and expects that the model of that step is restored.
  FoundCheckpoint load(int ranks = 2) {
    FoundCheckpoint onRoot;
    runRanksShared(ranks, [&](const World& world) {
      CheckpointStore store(dir_.string(), world);
      Learner learner(99);
      const auto found = store.loadNewest(*learner.model, *learner.optimizer);
      ASSERT_TRUE(found);
      EXPECT_EQ(learner.model->bias[0].item<float>(), static_cast<float>(found->progress.step));
      EXPECT_EQ(store.findNewest()->path, found->path);
      if (world->isRoot()) {
        onRoot = *found;
      }
    });
    return onRoot;
  }

  testing::TempDir dir_;
  World alone_ = std::make_shared<Communicator>();
};

TEST_F(CheckpointStores, KeepTheNewestAndNameIt) {
  for (const std::int64_t step : {90, 100, 110}) {
    save(step);
  }
  CheckpointStore store(dir_.string(), alone_);
  EXPECT_THAT(store.paths(), ElementsAre(path("checkpoint_110.pt"), path("checkpoint_100.pt")));
  EXPECT_EQ(readCheckpointProgress(checkpointPath(dir_.string()), *alone_).step, 110);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 3);
  const FoundCheckpoint found = load(3);
  EXPECT_EQ(found.path, path("checkpoint_110.pt"));
  EXPECT_THAT(found.passedOver, IsEmpty());
}

TEST_F(CheckpointStores, FallBackToThePreviousOneAndSayWhy) {
  save(1);
  save(2);
  truncate("checkpoint_2.pt");
  const FoundCheckpoint found = load();
  EXPECT_EQ(found.progress.step, 1);
  EXPECT_THAT(found.passedOver, ElementsAre("the checkpoint " + path("checkpoint_2.pt") +
                                            " is damaged: its end is missing, at 100 bytes"));
}

TEST_F(CheckpointStores, SayOnEveryRankThatNoneCanBeUsed) {
  save(1);
  save(2);
  truncate("checkpoint_1.pt", 0);
  truncate("checkpoint_2.pt");
  runRanksShared(3, [&](const World& world) {
    CheckpointStore store(dir_.string(), world);
    Learner learner(99);
    const auto loadIt = [&] { store.loadNewest(*learner.model, *learner.optimizer); };
    expectError(ErrorCode::kDataLoss, "no checkpoint in " + dir_.string() + " can be used; the ",
                loadIt);
    expectError(ErrorCode::kDataLoss, "checkpoint_1.pt is damaged: its end is missing, at 0 bytes",
                loadIt);
  });
}

TEST_F(CheckpointStores, AreEmptyAtFirst) {
  runRanksShared(2, [&](const World& world) {
    CheckpointStore store(path("none"), world);
    Learner learner(99);
    EXPECT_FALSE(store.loadNewest(*learner.model, *learner.optimizer));
    EXPECT_FALSE(store.loadBest(*learner.model, *learner.optimizer));
    EXPECT_THAT(store.paths(), IsEmpty());
  });
}

TEST_F(CheckpointStores, SurviveAJobThatDiesWhileItWrites) {
  save(1);
  detail::base::ReplacementFile dying(path("checkpoint_2.pt"));
  ASSERT_TRUE(dying.open().ok());
  dying.write("half of a checkpoint");
  ASSERT_TRUE(dying.finish().ok());
  EXPECT_EQ(load().progress.step, 1) << "before the file was renamed";
  ASSERT_TRUE(
      detail::base::replaceFile(path("checkpoint_2.pt"), wholeFile("checkpoint_1.pt")).ok());
  EXPECT_EQ(load().path, path("checkpoint_2.pt")) << "before checkpoint.pt pointed to it";
}

TEST_F(CheckpointStores, DiscardTheStepsOfAnAbandonedRun) {
  save(100);
  save(200);
  truncate("checkpoint_200.pt");
  EXPECT_EQ(load().progress.step, 100);
  save(150);
  CheckpointStore store(dir_.string(), alone_);
  EXPECT_THAT(store.paths(), ElementsAre(path("checkpoint_150.pt"), path("checkpoint_100.pt")));
}

TEST_F(CheckpointStores, KeepTheBestApart) {
  CheckpointStore store(dir_.string(), alone_);
  Learner best(7);
  store.saveBest(*best.model, *best.optimizer, atStep(7));
  for (const std::int64_t step : {8, 9, 10}) {
    save(step, 1);
  }
  EXPECT_THAT(store.paths(), ElementsAre(path("checkpoint_10.pt")));
  Learner learner(99);
  EXPECT_EQ(store.loadBest(*learner.model, *learner.optimizer)->step, 7);
  EXPECT_TRUE(torch::equal(learner.model->weight, best.model->weight));
}

TEST_F(CheckpointStores, PreferACheckpointThatWasWrittenOnItsOwn) {
  save(5);
  Learner learner(3);
  saveCheckpoint(checkpointPath(dir_.string()), *learner.model, *learner.optimizer, atStep(3),
                 *alone_);
  EXPECT_EQ(load().progress.step, 3);
  save(6);
  EXPECT_EQ(load().progress.step, 6);
}

TEST_F(CheckpointStores, KeepAtLeastOne) {
  CheckpointStoreOptions options;
  options.keep = 0;
  expectError(ErrorCode::kInvalidArgument,
              "CheckpointStoreOptions::keep: got 0; expected at least 1",
              [&] { CheckpointStore(dir_.string(), alone_, options); });
}

}  // namespace
}  // namespace steptape
