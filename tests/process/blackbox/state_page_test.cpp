// SPDX-License-Identifier: Apache-2.0
// What a process keeps of its state, as another process reads it.
#include "process/blackbox/state_page.h"

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/metrics/straggler_report.h"
#include "steptape/process/zone.h"
#include "steptape/ranks/testing.h"

#include "base/whole_file.h"
#include "process/blackbox/box_header.h"
#include "process/blackbox/state_child.h"
#include "support/small_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::process {
namespace {

using test::StateChild;
using test::StateTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<std::string> namesOf(const std::vector<RankState::OpenZone>& zones) {
  std::vector<std::string> names;
  for (const RankState::OpenZone& zone : zones) {
    names.push_back(zone.name);
  }
  return names;
}

const RankState::Thread* threadOf(const RankState& state, std::uint32_t tid) {
  for (const RankState::Thread& thread : state.threads) {
    if (thread.tid == tid) {
      return &thread;
    }
  }
  return nullptr;
}

const RankState::LastValue* valueOf(const RankState& state, const std::string& tag) {
  for (const RankState::LastValue& value : state.values) {
    if (value.tag == tag) {
      return &value;
    }
  }
  return nullptr;
}

/// Waits until the state of this process has a heartbeat after now.
void waitForHeartbeat() {
  const auto passes = [] {
    RankState state;
    EXPECT_TRUE(readRankState(StatePage::current()->box(), &state).ok());
    return state.passes;
  };
  const std::uint64_t before = passes();
  while (passes() < before + 3) {
    std::this_thread::yield();
  }
}

/// A training job with everything that a state keeps.
void train(const std::string& directory, const StateChild::Ready& ready) {
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
  setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
  setenv("SLURM_JOB_ID", "4711", 1);
  SummaryWriter writer(directory);
  StatePage& page = *StatePage::current();
  { STEPTAPE_ZONE("prepare"); }
  for (int step = 1; step <= 20; ++step) {
    writer.addScalar("loss", step < 10 ? 1.0F / static_cast<float>(step) : kNaN, step);
    noteStep(step);
  }
  noteError("disk full");
  page.noteDeviceBytes(4096);
  const PhaseScope phase(RunPhase::kBackward);
  STEPTAPE_ZONE("train");
  STEPTAPE_ZONE("layer");
  waitForHeartbeat();
  ready.tellAndWait();
}

void expectTrained(const RankState& state, const std::string& directory, pid_t pid, double before) {
  EXPECT_EQ(state.process.pid, static_cast<std::uint64_t>(pid));
  EXPECT_EQ(state.rank, 3);
  EXPECT_EQ(state.worldSize, 8);
  EXPECT_EQ(state.localRank, 1);
  EXPECT_EQ(state.jobId, "4711");
  EXPECT_THAT(state.command, HasSubstr("state_page_test"));
  EXPECT_THAT(state.logDirectories, ElementsAre(directory));
  EXPECT_TRUE(state.hasStep);
  EXPECT_EQ(state.step, 20);
  EXPECT_GE(state.stepTime, before);
  EXPECT_THAT(state.stepTimes, SizeIs(16));
  EXPECT_EQ(state.phase, RunPhase::kBackward);
  EXPECT_GE(state.phaseSince, state.stepTime);
  EXPECT_GE(state.heartbeat, state.phaseSince);
  EXPECT_GE(state.passes, 3U);
  EXPECT_EQ(state.lastError, "disk full");
  EXPECT_GE(state.lastErrorTime, before);
  EXPECT_EQ(state.deviceBytes, 4096);
  EXPECT_GT(state.residentBytes, 1 << 20);
  EXPECT_EQ(state.death.signal, 0);

  const RankState::Thread* const thread = threadOf(state, static_cast<std::uint32_t>(pid));
  ASSERT_NE(thread, nullptr);
  EXPECT_THAT(namesOf(thread->zones), ElementsAre("train", "layer"));
  EXPECT_EQ(thread->depth, 2U);
  EXPECT_GE(thread->zones[0].start, state.stepTime);
  EXPECT_GE(thread->zones[1].start, thread->zones[0].start);
  ASSERT_THAT(state.completed, SizeIs(1));
  EXPECT_EQ(state.completed[0].name, "prepare");
  EXPECT_EQ(state.completed[0].thread, static_cast<std::uint32_t>(pid));
  EXPECT_GE(state.completed[0].end, state.completed[0].start);

  const RankState::LastValue* const loss = valueOf(state, "loss");
  ASSERT_NE(loss, nullptr);
  EXPECT_EQ(loss->directory, directory);
  EXPECT_EQ(loss->step, 20);
  EXPECT_TRUE(std::isnan(loss->value));
  EXPECT_TRUE(loss->hasFinite);
  EXPECT_EQ(loss->finiteStep, 9);
  EXPECT_FLOAT_EQ(loss->finiteValue, 1.0F / 9);
  EXPECT_TRUE(loss->hasNonFinite);
  EXPECT_EQ(loss->firstNonFiniteStep, 10);

  EXPECT_FALSE(state.isIdentityUncertain || state.isProgressUncertain || state.isErrorUncertain ||
               thread->isUncertain || loss->isUncertain);
}

TEST_F(StateTest, OfALiveProcessIsReadWithoutItsHelp) {
  const double before = Clock::system().wallSeconds() - 0.001;
  const testing::TempDir logs;
  StateChild child([&](const auto& ready) { train(logs.string(), ready); });
  ASSERT_TRUE(child.isReady());
  expectTrained(state(), logs.string(), child.pid(), before);
  child.letEnd();
  EXPECT_EQ(child.end(), 0);
}

TEST_F(StateTest, OfAStoppedProcessIsRead) {
  const double before = Clock::system().wallSeconds() - 0.001;
  const testing::TempDir logs;
  StateChild child([&](const auto& ready) { train(logs.string(), ready); });
  ASSERT_TRUE(child.isReady());
  child.send(SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(child.pid(), &status, WUNTRACED), child.pid());
  ASSERT_TRUE(WIFSTOPPED(status));
  expectTrained(state(), logs.string(), child.pid(), before);
}

TEST_F(StateTest, OutlivesAKilledProcess) {
  const double before = Clock::system().wallSeconds() - 0.001;
  const testing::TempDir logs;
  StateChild child([&](const auto& ready) { train(logs.string(), ready); });
  ASSERT_TRUE(child.isReady());
  const pid_t pid = child.pid();
  child.send(SIGKILL);
  child.end();
  expectTrained(state(), logs.string(), pid, before);
}

TEST_F(StateTest, CanBeCopiedToALogDirectoryAndReadThere) {
  const double before = Clock::system().wallSeconds() - 0.001;
  const testing::TempDir logs;
  const testing::TempDir copies;
  StateChild child([&](const auto& ready) { train(logs.string(), ready); });
  ASSERT_TRUE(child.isReady());
  const std::string copy = copies.string() + "/rank3.state";
  ASSERT_TRUE(copyRankState(boxes().front(), copy).ok());
  const pid_t pid = child.pid();
  child.send(SIGKILL);
  child.end();
  RankState read;
  ASSERT_TRUE(readRankStateFile(copy, &read).ok());
  expectTrained(read, logs.string(), pid, before);
  EXPECT_THAT(readRankStateFile(copies.string() + "/none.state", &read).message(),
              HasSubstr("No such file"));
  EXPECT_THAT(readRankStateFile(copies.string(), &read).message(),
              HasSubstr("got something else; expected a file"));
}

TEST_F(StateTest, IsRemovedWithItsBoxAtANormalEnd) {
  const testing::TempDir logs;
  StateChild child([&](const auto& ready) { train(logs.string(), ready); });
  ASSERT_TRUE(child.isReady());
  EXPECT_FALSE(std::filesystem::is_empty(folder()));
  child.letEnd();
  EXPECT_EQ(child.end(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST_F(StateTest, StaysWhenTheLastWriterIsClosed) {
  const testing::TempDir logs;
  StateChild child([&](const auto& ready) {
    { const SummaryWriter writer(logs.string()); }
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  EXPECT_THAT(state().logDirectories, ElementsAre(logs.string()));
}

TEST_F(StateTest, OfAJobComesFromTheCommunicatorIfItTells) {
  StateChild child([](const auto& ready) {
    unsetenv("OMPI_COMM_WORLD_RANK");
    setenv("RANK", "5", 1);
    setenv("WORLD_SIZE", "6", 1);
    setenv("SLURM_JOB_ID", "", 1);
    setenv("PBS_JOBID", "12.server", 1);
    StatePage::keep();
    StatePage::current()->noteRank(2, 4, -1);
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  const RankState read = state();
  EXPECT_EQ(read.rank, 2);
  EXPECT_EQ(read.worldSize, 4);
  EXPECT_EQ(read.jobId, "12.server");
}

TEST_F(StateTest, TakesStepsFromWhatWasLoggedIfNobodyTellsThem) {
  const testing::TempDir logs;
  StateChild child([&](const auto& ready) {
    SummaryWriter writer(logs.string());
    writer.addScalar("loss", 1, 700);
    writer.addScalar("epoch", 1, 7);
    waitForHeartbeat();
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  EXPECT_TRUE(state().hasStep);
  EXPECT_EQ(state().step, 700);
}

TEST_F(StateTest, KnowsThePartsOfAStep) {
  const testing::TempDir logs;
  StateChild child([&](const auto& ready) {
    auto world = std::make_shared<Communicator>();
    DistributedWriter writer(logs.string(), world, DistributedWriterOptions());
    StragglerReport report(writer);
    report.endStep(41);
    const auto timer = report.time(StepPart::kForward);
    const auto inner = report.time(StepPart::kWait);
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  EXPECT_EQ(state().phase, RunPhase::kForward) << "waiting is no phase";
  EXPECT_EQ(state().step, 41);
}

TEST_F(StateTest, CountsZonesThatAreTooDeepAndThreadsThatAreTooMany) {
  StateChild child([](const auto& ready) {
    StatePage::keep();
    const std::function<void(int)> nest = [&](int depth) {
      STEPTAPE_ZONE("deep");
      if (depth > 1) {
        nest(depth - 1);
        return;
      }
      std::atomic<int> inside{0};
      std::atomic<bool> over{false};
      std::vector<std::thread> threads;
      for (int i = 0; i < 70; ++i) {
        threads.emplace_back([&] {
          STEPTAPE_ZONE("many");
          ++inside;
          while (!over) {
            std::this_thread::yield();
          }
        });
      }
      while (inside < 70) {
        std::this_thread::yield();
      }
      ready.tellAndWait();
      over = true;
      for (std::thread& thread : threads) {
        thread.join();
      }
    };
    nest(30);
  });
  ASSERT_TRUE(child.isReady());
  const RankState read = state();
  EXPECT_THAT(read.threads, SizeIs(64));
  EXPECT_EQ(read.threadsWithoutRoom, 7U);
  const RankState::Thread* const main = threadOf(read, static_cast<std::uint32_t>(child.pid()));
  ASSERT_NE(main, nullptr);
  EXPECT_EQ(main->depth, 30U);
  EXPECT_THAT(main->zones, SizeIs(24));
  child.letEnd();
  EXPECT_EQ(child.end(), 0);
}

TEST_F(StateTest, ForgetsThreadsThatHaveEnded) {
  StateChild child([](const auto& ready) {
    StatePage::keep();
    for (int i = 0; i < 200; ++i) {
      std::thread([] { STEPTAPE_ZONE("short"); }).join();
    }
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  EXPECT_THAT(state().threads, SizeIs(1));
  EXPECT_EQ(state().threadsWithoutRoom, 0U);
}

TEST_F(StateTest, NamesTheRankThatIsBehindInACollective) {
  StateChild child([](const auto& ready) {
    StatePage::keep();
    testing::runRanks(
        2,
        [&](Communicator& world) {
          CollectiveOptions options;
          options.name = "gradients";
          std::vector<float> data(100);
          world.allreduce(data, ReduceOp::kSum, options);
          world.barrier();
          if (world.rank() == 1) {
            // Until rank 0 waits for this one.
            const auto isWaiting = [] {
              RankState now;
              EXPECT_TRUE(readRankState(StatePage::current()->box(), &now).ok());
              return !now.collectives.empty() && now.collectives.back().sequence == 3 &&
                     now.collectives.back().phase == RankState::CollectivePhase::kWaiting;
            };
            while (!isWaiting()) {
              std::this_thread::yield();
            }
            ready.tellAndWait();
          }
          world.allreduce(data, ReduceOp::kMax, options);
        },
        std::chrono::seconds(60));
  });
  ASSERT_TRUE(child.isReady());
  const RankState read = state();
  ASSERT_THAT(read.groups, SizeIs(2)) << "one for each rank: they are threads here";
  EXPECT_EQ(read.groups[0].id, read.groups[1].id);
  EXPECT_EQ(read.groups[0].name, "ranks 0-1");
  EXPECT_EQ(read.groups[0].size, 2);
  for (const RankState::Group& group : read.groups) {
    EXPECT_EQ(group.completed, 2U);
    EXPECT_EQ(group.started, group.rank == 0 ? 3U : 2U);
    EXPECT_GE(group.lastEnd, read.collectives.front().start);
  }
  ASSERT_THAT(read.collectives, SizeIs(5));
  const RankState::Collective& first = read.collectives.front();
  EXPECT_EQ(first.name, "allreduce(sum) 'gradients'");
  EXPECT_EQ(first.phase, RankState::CollectivePhase::kCompleted);
  EXPECT_EQ(first.bytes, 400);
  EXPECT_EQ(first.type, "float32");
  EXPECT_EQ(first.sequence, 1U);
  const RankState::Collective& last = read.collectives.back();
  EXPECT_EQ(last.name, "allreduce(max) 'gradients'");
  EXPECT_EQ(last.phase, RankState::CollectivePhase::kWaiting);
  EXPECT_EQ(last.group, read.groups[0].id);
  EXPECT_GE(last.since, first.since);
  EXPECT_FALSE(last.isUncertain);
  child.letEnd();
  EXPECT_EQ(child.end(), 0);
}

TEST_F(StateTest, ShowsCollectivesInFlightAndThoseThatFailed) {
  StateChild child([](const auto& ready) {
    StatePage::keep();
    testing::runRanks(
        2,
        [&](Communicator& world) {
          std::vector<double> data(3);
          EXPECT_ANY_THROW(
              world.allreduce(data, world.rank() == 0 ? ReduceOp::kSum : ReduceOp::kMin));
          CollectiveHandle handle = world.allreduceAsync(data, ReduceOp::kSum);
          world.barrier();
          handle.wait();
          world.barrier();
          CollectiveHandle open = world.allreduceAsync(data, ReduceOp::kMax);
          if (world.rank() == 0) {
            ready.tellAndWait();
          }
          open.wait();
        },
        std::chrono::seconds(60));
  });
  ASSERT_TRUE(child.isReady());
  const RankState read = state();
  using Phase = RankState::CollectivePhase;
  int failed = 0;
  int ended = 0;
  int open = 0;
  for (const RankState::Collective& one : read.collectives) {
    failed += one.phase == Phase::kFailed ? 1 : 0;
    ended +=
        one.name == "allreduce(sum)" && one.sequence == 2 && one.phase == Phase::kCompleted ? 1 : 0;
    open += one.name == "allreduce(max)" && one.phase == Phase::kStarted ? 1 : 0;
  }
  EXPECT_EQ(failed, 2);
  EXPECT_EQ(ended, 2);
  EXPECT_GE(open, 1);
}

TEST_F(StateTest, OfAForkedChildIsAnotherOne) {
  StateChild child([this](const auto& ready) {
    StatePage::keep();
    STEPTAPE_ZONE("parent");
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      // It has no page: nothing is stored, and nothing is removed at its end.
      bool isRight = StatePage::current() == nullptr;
      {
        STEPTAPE_ZONE("before");
        noteStep(1);
      }
      StatePage::keep();
      STEPTAPE_ZONE("after");
      noteStep(2);
      RankState own;
      isRight = isRight && StatePage::current() != nullptr &&
                readRankState(StatePage::current()->box(), &own).ok() && own.step == 2 &&
                own.threads.size() == 1 && own.threads[0].zones.size() == 1 &&
                own.threads[0].zones[0].name == "after" && boxes().size() == 2;
      std::exit(isRight ? 0 : 1);
    }
    int status = 0;
    waitpid(grandchild, &status, 0);
    EXPECT_EQ(status, 0);
    if (status == 0) {
      ready.tellAndWait();
    }
  });
  ASSERT_TRUE(child.isReady());
  const RankState read = state();
  ASSERT_THAT(read.threads, SizeIs(1));
  EXPECT_THAT(namesOf(read.threads[0].zones), ElementsAre("parent"));
  EXPECT_FALSE(read.hasStep);
}

TEST_F(StateTest, OfTwoWritersHasBothDirectories) {
  const testing::TempDir logs;
  StateChild child([&](const auto& ready) {
    SummaryWriter train(logs.string() + "/train");
    SummaryWriter test(logs.string() + "/test");
    train.addScalar("loss", 1, 1);
    test.addScalar("loss", 2, 1);
    waitForHeartbeat();
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  const RankState read = state();
  EXPECT_THAT(read.logDirectories, ElementsAre(logs.string() + "/train", logs.string() + "/test"));
  ASSERT_THAT(read.values, SizeIs(2));
  EXPECT_NE(read.values[0].directory, read.values[1].directory);
}

TEST_F(StateTest, OfManyTagsKeepsTheFirstAndReusesThoseOfClosedWriters) {
  const testing::TempDir logs;
  StateChild child([&](const auto& ready) {
    {
      SummaryWriter first(logs.string() + "/first");
      for (int i = 0; i < 100; ++i) {
        first.addScalar("first " + std::to_string(i), i, 1);
      }
    }
    SummaryWriter second(logs.string() + "/second");
    for (int i = 0; i < 130; ++i) {
      second.addScalar("second " + std::to_string(i), i, 1);
    }
    waitForHeartbeat();
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  const RankState read = state();
  EXPECT_THAT(read.values, SizeIs(128));
  EXPECT_EQ(read.valuesWithoutRoom, 2U);
  for (const RankState::LastValue& value : read.values) {
    EXPECT_THAT(value.tag, HasSubstr("second"));
  }
}

TEST_F(StateTest, IsNotKeptIfItIsTurnedOff) {
  setenv("STEPTAPE_BLACK_BOX", "off", 1);
  const testing::TempDir logs;
  StateChild child([&](const auto& ready) {
    ::testing::internal::CaptureStderr();
    SummaryWriter writer(logs.string());
    STEPTAPE_ZONE("zone");
    writer.addScalar("loss", 1, 1);
    noteStep(1);
    const bool isRight = StatePage::current() == nullptr && writer.flush().ok() &&
                         ::testing::internal::GetCapturedStderr().empty();
    if (isRight) {
      ready.tellAndWait();
    }
  });
  EXPECT_TRUE(child.isReady());
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST_F(StateTest, ThatHasNoRoomCostsNothingAndIsSaidOnce) {
  const testing::TempDir logs;
  StateChild child([&](const auto& ready) {
    ::testing::internal::CaptureStderr();
    constexpr rlim_t kTooLittle = 64 << 10;
    const test::SmallDisk disk(kTooLittle);
    SummaryWriter first(logs.string() + "/a");
    SummaryWriter second(logs.string() + "/b");
    STEPTAPE_ZONE("zone");
    first.addScalar("loss", 1, 1);
    const bool isRight =
        StatePage::current() == nullptr && first.flush().ok() && second.flush().ok();
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, HasSubstr("cannot reserve room in"));
    EXPECT_THAT(said, HasSubstr("File too large; the state of this process is not kept"));
    const std::string notKept = "the state of this process is not kept";
    EXPECT_EQ(said.find(notKept), said.rfind(notKept)) << said;
    if (isRight && !::testing::Test::HasFailure()) {
      ready.tellAndWait();
    }
  });
  EXPECT_TRUE(child.isReady());
  child.letEnd();
  EXPECT_EQ(child.end(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST_F(StateTest, StaysWithTheCodeIfTheProcessCallsExitWhileItsJobRuns) {
  StateChild child([&](const auto&) {
    StatePage::keep();
    noteJobIsOpen(true);
    std::exit(3);
  });
  EXPECT_EQ(WEXITSTATUS(child.end()), 3);
  EXPECT_EQ(state().lastError, std::string(kLeftEarly) + "3");
}

TEST_F(StateTest, OfAForkedChildOfARankGoesWithTheChild) {
  StateChild child([&](const auto&) {
    StatePage::keep();
    noteJobIsOpen(true);
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      StatePage::keep();
      std::exit(0);
    }
    waitpid(grandchild, nullptr, 0);
    std::_Exit(boxes().size() == 1 ? 0 : 1);
  });
  EXPECT_EQ(WEXITSTATUS(child.end()), 0);
}

TEST_F(StateTest, GoesWithAProcessWhoseJobHasEnded) {
  StateChild child([&](const auto&) {
    StatePage::keep();
    noteJobIsOpen(true);
    noteJobIsOpen(false);
    std::exit(3);
  });
  EXPECT_EQ(WEXITSTATUS(child.end()), 3);
  EXPECT_TRUE(boxes().empty());
}

}  // namespace
}  // namespace steptape::detail::process
