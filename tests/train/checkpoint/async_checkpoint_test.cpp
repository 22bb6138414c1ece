// SPDX-License-Identifier: Apache-2.0
// Checkpoints that a thread writes while training continues: what they hold, and what becomes of
// them when the disk fails, hangs, or the process dies at any of the thread's operations.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"
#include "steptape/train/checkpoint.h"
#include "steptape/train/learning_rate_schedule.h"

#include "support/content_of.h"
#include "support/expect_error.h"
#include "train/checkpoint/staged_disk.h"
#include "train/checkpoint/tensor_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

namespace fs = std::filesystem;

using test::expectError;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::runRanksShared;
using ::testing::UnorderedElementsAre;
using World = std::shared_ptr<Communicator>;

/// A small network with everything that changes in training: parameters, running statistics, the
/// optimizer's state, random numbers.
class Learner {
 public:
  explicit Learner(std::uint64_t seed = 1) {
    torch::manual_seed(seed);
    module = torch::nn::Sequential(torch::nn::Linear(3, 5), torch::nn::BatchNorm1d(5),
                                   torch::nn::Dropout(0.5), torch::nn::Linear(5, 2));
    optimizer =
        std::make_unique<torch::optim::Adam>(module->parameters(), torch::optim::AdamOptions(0.1));
    schedule = std::make_unique<LearningRateSchedule>(std::vector<double>{0.1});
    step();
  }

  /// Everything before the optimizer's step, which must not reach a checkpoint of before.
  void backward() {
    optimizer->zero_grad();
    module->forward(torch::rand({4, 3})).square().mean().backward();
  }

  void step(CheckpointCopy copy = {}) {
    backward();
    copy.wait();
    optimizer->step();
  }

  std::vector<torch::Tensor> tensors() const {
    std::vector<torch::Tensor> tensors = module->parameters();
    for (const torch::Tensor& buffer : module->buffers()) {
      tensors.push_back(buffer);
    }
    return tensors;
  }

  std::vector<torch::Tensor> clones() const {
    std::vector<torch::Tensor> clones;
    for (const torch::Tensor& tensor : tensors()) {
      clones.push_back(tensor.detach().clone());
    }
    return clones;
  }

  torch::nn::Sequential module{nullptr};
  std::unique_ptr<torch::optim::Adam> optimizer;
  std::unique_ptr<LearningRateSchedule> schedule;
};

bool equal(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& left, const auto& right) { return torch::equal(left, right); });
}

TrainingProgress atStep(std::int64_t step) {
  TrainingProgress progress;
  progress.step = step;
  progress.values["best"] = 0.5;
  return progress;
}

class AsyncCheckpoints : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    // A child has no OpenMP threads, and the same number of threads gives the same bits.
    torch::set_num_threads(1);
    test::diskWorks();
  }
  void TearDown() override { test::diskWorks(); }

  CheckpointStore store(const World& world) const { return {directory(), world}; }
  CheckpointStore store() const { return store(std::make_shared<Communicator>()); }

  static CheckpointCopy saveAsync(CheckpointStore& store, const Learner& learner, std::int64_t step,
                                  CheckpointRole role = CheckpointRole::kNewest) {
    return store.saveAsync(*learner.module, *learner.optimizer, atStep(step),
                           learner.schedule.get(), role);
  }

  std::string directory() const { return dir_.string() + "/checkpoints"; }
  std::string path(const std::string& name) const { return directory() + "/" + name; }
  std::string pathOf(std::int64_t step) const {
    return path("checkpoint_" + std::to_string(step) + ".pt");
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory())) {
      const std::string name = entry.path().filename().string();
      if (name != ".steptape_owner") {  // while a store exists, and after a kill
        names.push_back(name);
      }
    }
    return names;
  }

  /// The disk operations of a checkpoint after another one.
  static std::string operationsOfSave() {
    const testing::TempDir elsewhere;
    CheckpointStore store(elsewhere.string() + "/checkpoints", std::make_shared<Communicator>());
    Learner learner;
    saveAsync(store, learner, 1);
    store.wait();
    test::diskWorks();
    saveAsync(store, learner, 2);
    store.wait();
    return test::diskOperations();
  }

  static std::uint64_t firstSync() { return operationsOfSave().find('s'); }

  /// The operations at which a disk is to fail: of the many writes, three.
  static std::vector<std::uint64_t> operationsToFail() {
    const std::string operations = operationsOfSave();
    const std::size_t first = operations.find('w');
    const std::size_t last = operations.rfind('w');
    std::vector<std::uint64_t> chosen;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (operations[i] != 'w' || i == first || i == (first + last) / 2 || i == last) {
        chosen.push_back(i);
      }
    }
    return chosen;
  }

  /// Expects that the newest checkpoint is whole, and that of `step`.
  void expectNewest(std::int64_t step, const std::vector<torch::Tensor>& tensors) const {
    Learner learner(99);
    const auto found = store().loadNewest(*learner.module, *learner.optimizer);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->progress.step, step);
    EXPECT_TRUE(equal(learner.tensors(), tensors));
    EXPECT_THAT(found->passedOver, IsEmpty());
  }

  testing::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Ranks, AsyncCheckpoints, ::testing::Values(1, 2, 4));

TEST_P(AsyncCheckpoints, HaveTheBytesOfASynchronousOne) {
  runRanksShared(GetParam(), [&](const World& world) {
    Learner learner;
    world->barrier();  // Ranks that are threads share their random numbers.
    CheckpointStore store = this->store(world);
    const std::string expected =
        store.save(*learner.module, *learner.optimizer, atStep(1), learner.schedule.get());
    const std::string bytes = world->isRoot() ? test::contentOf(expected) : "";
    CheckpointCopy copy = saveAsync(store, learner, 1);
    EXPECT_EQ(copy.path(), expected);
    learner.step(std::move(copy));
    learner.schedule->setBaseRates({0.7});
    EXPECT_EQ(store.wait()->step, 1);
    EXPECT_FALSE(store.wait());
    if (world->isRoot()) {
      EXPECT_EQ(test::contentOf(expected), bytes) << "with a step before the copy was awaited";
    }
    saveAsync(store, learner, 2);  // The discarded result waits for the copy.
    learner.step();
    saveAsync(store, learner, 3).wait();
    store.save(*learner.module, *learner.optimizer, atStep(4), learner.schedule.get());
    if (world->isRoot()) {
      EXPECT_THAT(names(),
                  UnorderedElementsAre("checkpoint.pt", "checkpoint_3.pt", "checkpoint_4.pt"));
    }
  });
}

TEST_F(AsyncCheckpoints, ResumeARunBitIdentically) {
  Learner undisturbed;
  for (int i = 0; i < 6; ++i) {
    undisturbed.step();
  }
  Learner stopped;
  {
    CheckpointStore store = this->store();
    for (std::int64_t step = 10; step < 14; ++step) {
      stopped.step(saveAsync(store, stopped, step));
    }
  }
  Learner resumed(99);
  const auto found = store().loadNewest(*resumed.module, *resumed.optimizer);
  EXPECT_EQ(found->progress.step, 13);
  for (std::int64_t step = 13; step < 16; ++step) {
    resumed.step();
  }
  EXPECT_TRUE(equal(resumed.tensors(), undisturbed.tensors()));
}

TEST_P(AsyncCheckpoints, AreWrittenWhileRanksTrainOn) {
  test::diskHangsAt(firstSync());
  runRanksShared(GetParam(), [&](const World& world) {
    Learner learner;
    const std::vector<torch::Tensor> before = learner.clones();
    CheckpointStore store = this->store(world);
    learner.step(saveAsync(store, learner, 1));
    for (int i = 0; i < 3; ++i) {
      learner.step();
      world->barrier();  // All ranks come here while the disk hangs.
    }
    if (world->isRoot()) {
      EXPECT_FALSE(fs::exists(pathOf(1)));
      test::releaseDisk();
    }
    const CheckpointTimes times = store.wait().value();
    EXPECT_EQ(times.step, 1);
    EXPECT_GT(times.stallSeconds, 0);
    EXPECT_EQ(times.writeSeconds > 0, world->isRoot());
    if (world->isRoot()) {
      expectNewest(1, before);
    }
  });
}

TEST_P(AsyncCheckpoints, WaitForTheOneBefore) {
  test::diskHangsAt(firstSync());
  runRanksShared(GetParam(), [&](const World& world) {
    Learner learner;
    CheckpointStore store = this->store(world);
    saveAsync(store, learner, 1);
    std::thread disk;
    if (world->isRoot()) {
      disk = std::thread([] { test::releaseDisk(); });
    }
    saveAsync(store, learner, 2);
    if (world->isRoot()) {
      EXPECT_TRUE(fs::exists(pathOf(1)));
      disk.join();
    }
    EXPECT_EQ(store.findNewest()->progress.step, 2) << "waits, too";
  });
}

TEST_P(AsyncCheckpoints, ReportOnEveryRankThatTheDiskIsFull) {
  const bool isSweep = GetParam() == 2;
  for (const std::uint64_t first : isSweep ? operationsToFail() : std::vector{firstSync()}) {
    SCOPED_TRACE("from operation " + std::to_string(first));
    test::diskWorks();
    fs::remove_all(directory());
    runRanksShared(GetParam(), [&](const World& world) {
      Learner learner;
      CheckpointStore store = this->store(world);
      saveAsync(store, learner, 1);
      store.wait();
      const std::vector<torch::Tensor> atFirst = learner.clones();
      learner.step();
      if (world->isRoot()) {
        test::diskFailsAt(first, ENOSPC, /*forever=*/true);
      }
      saveAsync(store, learner, 2);
      std::string message;
      try {
        store.wait();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kIoError);
        message = error.what();
      }
      for (const std::string& ofRank : world->allgather(message)) {
        EXPECT_EQ(ofRank, message);
      }
      if (world->isRoot()) {
        test::diskWorks();
        const bool isThere = fs::exists(pathOf(2));
        EXPECT_TRUE(isThere || message.find("No space left on device") != std::string::npos);
        expectNewest(isThere ? 2 : 1, isThere ? learner.clones() : atFirst);
      }
      world->barrier();
      saveAsync(store, learner, 3);
      EXPECT_EQ(store.wait()->step, 3) << "the store is usable again";
    });
    EXPECT_THAT(names(), ::testing::Each(HasSubstr("checkpoint"))) << "no temporary file is left";
  }
}

TEST_P(AsyncCheckpoints, ReportAFailureAtTheNextCallOfAnyKind) {
  const std::vector<std::function<void(CheckpointStore&, Learner&)>> calls = {
      [](auto& store, auto& learner) { saveAsync(store, learner, 3); },
      [](auto& store, auto& learner) {
        store.save(*learner.module, *learner.optimizer, atStep(3));
      },
      [](auto& store, auto& learner) { store.loadNewest(*learner.module, *learner.optimizer); },
      [](auto& store, auto& learner) { store.loadBest(*learner.module, *learner.optimizer); },
      [](auto& store, auto& /*learner*/) { store.paths(); },
  };
  for (const auto& call : calls) {
    fs::remove_all(directory());
    std::ofstream(directory()) << "a file, where there was a directory";
    runRanksShared(GetParam(), [&](const World& world) {
      Learner learner;
      CheckpointStore store = this->store(world);
      learner.step(saveAsync(store, learner, 1));
      expectError(ErrorCode::kIoError, "cannot create the directory " + directory(),
                  [&] { call(store, learner); });
      EXPECT_FALSE(store.wait()) << "it is reported once";
    });
  }
}

TEST_F(AsyncCheckpoints, ReportAFailureInTheDestructor) {
  std::ofstream(directory()) << "a file, where a directory should be";
  ::testing::internal::CaptureStderr();
  {
    Learner learner;
    CheckpointStore store = this->store();
    saveAsync(store, learner, 1);
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("steptape: cannot create the directory " + directory()));
}

/// Runs `function` in a child. @return its wait status.
template <typename Function>
int inChild(const Function& function) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a child that hangs is a failure
    function();
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST_F(AsyncCheckpoints, SurviveAKillAtAnyOperation) {
  for (const std::uint64_t first : operationsToFail()) {
    SCOPED_TRACE("at operation " + std::to_string(first));
    fs::remove_all(directory());
    const int status = inChild([&] {
      Learner learner;
      CheckpointStore store = this->store();
      saveAsync(store, learner, 1);
      store.wait();
      learner.step();
      test::diskKillsAt(first);
      saveAsync(store, learner, 2);
      store.wait();
    });
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    Learner learner;
    const std::vector<torch::Tensor> atFirst = learner.clones();
    learner.step();
    const bool isThere = fs::exists(pathOf(2));
    expectNewest(isThere ? 2 : 1, isThere ? learner.tensors() : atFirst);
    CheckpointStore store = this->store();
    saveAsync(store, learner, 3);
    store.wait();
    EXPECT_THAT(names(), UnorderedElementsAre("checkpoint.pt", "checkpoint_3.pt",
                                              isThere ? "checkpoint_2.pt" : "checkpoint_1.pt"))
        << "the temporary file of the job that died is removed";
  }
}

TEST_F(AsyncCheckpoints, AreFinishedByExit) {
  const int status = inChild([&] {
    Learner learner;
    auto* const store = new CheckpointStore(this->store());
    saveAsync(*store, learner, 1);
    std::exit(7);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT_EQ(store().findNewest()->progress.step, 1);
}

TEST_F(AsyncCheckpoints, BelongToTheProcessThatBeganThem) {
  Learner learner;
  auto store = std::make_unique<CheckpointStore>(this->store());
  saveAsync(*store, learner, 1);
  store->wait();
  test::diskHangsAt(0);
  saveAsync(*store, learner, 2);
  EXPECT_EQ(inChild([&] { store.reset(); }), 0) << "does not wait for what it does not have";
  test::releaseDisk();
  EXPECT_EQ(store->wait()->step, 2);
}

TEST_F(AsyncCheckpoints, OfTheBestModelAreOneFileWithTwoNames) {
  Learner learner;
  CheckpointStore store = this->store();
  saveAsync(store, learner, 1, CheckpointRole::kNewestAndBest);
  store.wait();
  EXPECT_TRUE(fs::equivalent(pathOf(1), path("checkpoint_best.pt")));
  EXPECT_EQ(readCheckpointProgress(path("checkpoint.pt"), *std::make_shared<Communicator>()).step,
            1);
  for (const std::int64_t step : {2, 3}) {
    saveAsync(store, learner, step);
  }
  EXPECT_EQ(store.loadBest(*learner.module, *learner.optimizer)->step, 1);
  saveAsync(store, learner, 4, CheckpointRole::kBest);
  EXPECT_EQ(store.loadBest(*learner.module, *learner.optimizer)->step, 4);
  EXPECT_THAT(store.paths(), ElementsAre(pathOf(3), pathOf(2)));
}

std::atomic<int> refusedCalls{0};

/// From now on this thread's calls that touch a file are refused and counted.
void refuseFileAccess() {
  struct sigaction action {};
  action.sa_handler = [](int) { ++refusedCalls; };
  ASSERT_EQ(sigaction(SIGSYS, &action, nullptr), 0);
  std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned number :
       {SYS_write, SYS_writev, SYS_pwrite64, SYS_fsync, SYS_fdatasync, SYS_openat, SYS_renameat,
        SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_unlinkat, SYS_mkdirat,
#ifdef SYS_rename
        SYS_open, SYS_rename, SYS_link, SYS_symlink, SYS_unlink, SYS_mkdir
#endif
       }) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

TEST_F(AsyncCheckpoints, TouchNoFileOnTheTrainingThread) {
  std::thread([this] {
    Learner learner;
    CheckpointStore store = this->store();
    saveAsync(store, learner, 1);  // Starts the thread, which would inherit the filter.
    store.wait();
    refuseFileAccess();
    learner.step(saveAsync(store, learner, 2));
    store.wait();
    EXPECT_EQ(refusedCalls, 0);
    static_cast<void>(fs::exists("/") && std::ofstream(path("refused")));
    EXPECT_GT(refusedCalls, 0) << "the filter works";
  }).join();
  EXPECT_EQ(store().findNewest()->progress.step, 2);
}

TEST(TensorCopies, TakeBuffersAtOnceAndTheRestLater) {
  detail::train::TensorCopies copies;
  const torch::Tensor parameter = torch::ones({3});
  const torch::Tensor buffer = torch::ones({3});
  copies.restart();
  const torch::Tensor later = copies.add(parameter);
  const torch::Tensor now = copies.addNow(buffer);
  buffer.fill_(2);
  copies.wait();
  parameter.fill_(2);
  copies.finish();
  EXPECT_TRUE(torch::equal(now, torch::ones({3})));
  EXPECT_TRUE(torch::equal(later, torch::ones({3})));
}

TEST(TensorCopies, HaveTheLayoutOfTheOriginals) {
  detail::train::TensorCopies copies;
  const torch::Tensor whole = torch::rand({4, 6}).requires_grad_();
  const torch::Tensor part = whole.detach().t().slice(0, 1, 3);
  const torch::Tensor sparse = torch::eye(3).to_sparse();
  copies.restart();
  const torch::Tensor copy = copies.add(whole);
  const torch::Tensor partialCopy = copies.add(part);
  const torch::Tensor sparseCopy = copies.add(sparse);
  copies.finish();
  EXPECT_TRUE(torch::equal(copy, whole));
  EXPECT_TRUE(copy.requires_grad());
  EXPECT_TRUE(torch::equal(partialCopy, part));
  EXPECT_EQ(partialCopy.strides(), part.strides());
  EXPECT_TRUE(partialCopy.is_alias_of(copy)) << "copied once";
  EXPECT_TRUE(torch::equal(sparseCopy.to_dense(), torch::eye(3)));
}

TEST(TensorCopies, ReuseTheirMemory) {
  detail::train::TensorCopies copies;
  std::vector<const void*> memory;
  for (int round = 0; round < 3; ++round) {
    copies.restart();
    memory.push_back(copies.add(torch::full({1 << 20}, round)).data_ptr());
    copies.finish();
  }
  EXPECT_EQ(memory[1], memory[0]);
  EXPECT_EQ(memory[2], memory[0]);
}

TEST(TensorCopies, AreMadeByAllThreadsTogether) {
  detail::train::TensorCopies copies;
  const torch::Tensor large = torch::rand({8, 1 << 20});
  copies.restart();
  const torch::Tensor copy = copies.add(large);
  std::thread finisher([&] { copies.finish(); });
  copies.wait();
  EXPECT_TRUE(torch::equal(copy, large));
  finisher.join();
}

}  // namespace
}  // namespace steptape
