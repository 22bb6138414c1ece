// SPDX-License-Identifier: Apache-2.0
// Processes that store into their state without pause are read, and killed at any moment: what is
// read belongs together, or is marked as uncertain.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/process/zone.h"

#include "process/blackbox/state_child.h"
#include "process/blackbox/state_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::process {
namespace {

using test::StateChild;
using CollectivePhase = RankState::CollectivePhase;

// Zones of which each may only lie inside the one before.
void zones(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    STEPTAPE_ZONE("0");
    for (int j = 0; j < 3; ++j) {
      STEPTAPE_ZONE("1");
      { STEPTAPE_ZONE("2"); }
      STEPTAPE_ZONE("2");
      STEPTAPE_ZONE("3");
    }
  }
}

/// Stores fields of which each tells what the others must be.
[[noreturn]] void storeWithoutPause(const std::string& directory, const StateChild::Ready& ready) {
  SummaryWriter writer(directory);
  StatePage& page = *StatePage::current();
  std::vector<std::thread> threads;
  std::atomic<int> running{0};
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      ++running;
      while (true) {
        zones(100);
      }
    });
  }
  threads.emplace_back([&] {
    ++running;
    const std::uint32_t group = page.collectives().addGroup(7, "ranks 0-1", 0, 2);
    for (std::uint64_t n = 1;; ++n) {
      const DType type = n % 2 == 0 ? DType::kFloat32 : DType::kInt64;
      const std::uint64_t number =
          page.collectives().start(group, n, "op " + std::to_string(n),
                                   static_cast<std::int64_t>(n), &type, CollectivePhase::kWaiting);
      page.collectives().setPhase(number, CollectivePhase::kTransfer);
      page.collectives().end(group, number, true);
    }
  });
  threads.emplace_back([&] {
    ++running;
    for (std::int64_t step = 1;; ++step) {
      const PhaseScope phase(step % 2 == 0 ? RunPhase::kForward : RunPhase::kBackward);
      noteStep(step);
      writer.addScalar("loss", static_cast<double>(step), step);
      noteError("error " + std::string(static_cast<std::size_t>(step % 64), 'x'));
    }
  });
  while (running < 4) {
    std::this_thread::yield();
  }
  ready.tell();
  threads[0].join();
  std::abort();
}

struct Seen {
  std::int64_t certain = 0;
  std::int64_t uncertain = 0;

  void count(bool isUncertain) { ++(isUncertain ? uncertain : certain); }
};

void checkThreads(const RankState& state, Seen* seen) {
  for (const RankState::Thread& thread : state.threads) {
    seen->count(thread.isUncertain);
    if (thread.isUncertain) {
      continue;
    }
    ASSERT_EQ(thread.depth, thread.zones.size());
    double start = 0;
    for (std::size_t i = 0; i < thread.zones.size(); ++i) {
      ASSERT_EQ(thread.zones[i].name, std::to_string(i));
      ASSERT_GE(thread.zones[i].start, start);
      start = thread.zones[i].start;
    }
  }
  for (const RankState::CompletedZone& zone : state.completed) {
    ASSERT_GE(zone.end, zone.start);
  }
}

void checkCollectives(const RankState& state, Seen* seen) {
  for (const RankState::Group& group : state.groups) {
    seen->count(group.isUncertain);
    if (!group.isUncertain) {
      ASSERT_EQ(group.name, "ranks 0-1");
      ASSERT_GE(group.started, group.completed);
      ASSERT_LE(group.started, group.completed + 1);
    }
  }
  for (const RankState::Collective& one : state.collectives) {
    seen->count(one.isUncertain);
    if (!one.isUncertain) {
      ASSERT_EQ(one.name, "op " + std::to_string(one.sequence));
      ASSERT_EQ(one.bytes, static_cast<std::int64_t>(one.sequence));
      ASSERT_EQ(one.type, one.sequence % 2 == 0 ? "float32" : "int64");
      ASSERT_GE(one.since, one.start);
    }
  }
}

void checkRest(const RankState& state, Seen* seen) {
  seen->count(state.isProgressUncertain);
  if (!state.isProgressUncertain && state.stepTimes.size() > 1) {
    ASSERT_TRUE(std::is_sorted(state.stepTimes.begin(), state.stepTimes.end()));
  }
  seen->count(state.isErrorUncertain);
  if (!state.isErrorUncertain && !state.lastError.empty()) {
    ASSERT_EQ(state.lastError.find_first_not_of('x', 6), std::string::npos) << state.lastError;
  }
  for (const RankState::LastValue& value : state.values) {
    seen->count(value.isUncertain);
    if (!value.isUncertain) {
      ASSERT_EQ(value.tag, "loss");
      ASSERT_FLOAT_EQ(value.value, static_cast<float>(value.step));
      ASSERT_EQ(value.finiteStep, value.step);
    }
  }
}

void check(const RankState& state, Seen* seen) {
  checkThreads(state, seen);
  checkCollectives(state, seen);
  checkRest(state, seen);
}

class StateLoadTest : public test::StateTest {};

TEST_F(StateLoadTest, IsReadWholeOrMarkedAsUncertainAfterKillsAtAnyMoment) {
  constexpr int kKills = 100;
  std::minstd_rand random(1);
  const testing::TempDir logs;
  Seen alive;
  Seen dead;
  for (int i = 0; i < kKills && !HasFatalFailure(); ++i) {
    std::filesystem::remove_all(folder());
    std::filesystem::create_directory(folder());
    StateChild child([&](const auto& ready) { storeWithoutPause(logs.string(), ready); });
    ASSERT_TRUE(child.isReady());
    // A random moment: this reads the state a number of times, or a part of it.
    check(state(), &alive);
    for (std::uint_fast32_t spin = random() % 20000; spin > 0; --spin) {
      static_cast<void>(readTicks());
    }
    child.send(SIGKILL);
    child.end();
    check(state(), &dead);
  }
  std::printf("read alive: %lld certain, %lld uncertain; dead: %lld and %lld\n",
              static_cast<long long>(alive.certain), static_cast<long long>(alive.uncertain),
              static_cast<long long>(dead.certain), static_cast<long long>(dead.uncertain));
  EXPECT_GT(dead.certain, dead.uncertain) << "few are killed inside of a store";
}

}  // namespace
}  // namespace steptape::detail::process
