// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/verdict.h"

#include <csignal>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tools/steptape/states/autopsy_text.h"
#include "tools/steptape/states/top_table.h"

#include <gmock/gmock.h>

namespace steptape::tools {
namespace {

using steptape::detail::process::RankState;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr double kNow = 1000000;

/// A living rank in collective #5 of the world.
RankView rankAt(int rank, int size) {
  RankView view;
  view.life = Life::kRuns;
  view.seen = kNow;
  RankState& state = view.state;
  std::strcpy(state.process.host.data(), rank < 256 ? "node1" : "node2");
  state.process.pid = static_cast<std::uint64_t>(1000 + rank);
  state.process.created = kNow - 500;
  state.rank = rank;
  state.worldSize = size;
  state.logDirectories = {"/runs/a"};
  state.heartbeat = kNow;
  state.phase = steptape::detail::process::RunPhase::kBackward;
  RankState::Group group;
  group.id = 1;
  group.rank = rank;
  group.size = size;
  group.started = 5;
  group.completed = 4;
  state.groups = {group};
  RankState::Collective collective;
  collective.name = "allreduce(sum) 'gradients'";
  collective.group = 1;
  collective.sequence = 5;
  collective.phase = RankState::CollectivePhase::kWaiting;
  collective.start = kNow - 41;
  state.collectives = {collective};
  return view;
}

void takeFromCollective(RankView* view) {
  view->state.collectives.clear();
  view->state.groups.front().started = 4;
  RankState::Thread thread;
  thread.tid = 1;
  thread.zones = {{"load", kNow - 42}};
  view->state.threads = {thread};
}

Job jobWith(std::vector<RankView> ranks) {
  std::vector<Job> jobs = jobsOf(std::move(ranks));
  EXPECT_THAT(jobs, SizeIs(1));
  return jobs.front();
}

TEST(Verdict, NamesTheOneRankOf512ThatDidNotCome) {
  std::vector<RankView> ranks;
  for (int rank = 0; rank < 512; ++rank) {
    ranks.push_back(rankAt(rank, 512));
  }
  takeFromCollective(&ranks[300]);
  const Job job = jobWith(std::move(ranks));
  const Verdict verdict = judge(job, {});
  ASSERT_THAT(verdict.blocked, SizeIs(1));
  EXPECT_EQ(namesOf(verdict.blocked.front().behind), "rank 300");
  EXPECT_EQ(namesOf(verdict.blocked.front().waiting), "ranks 0-299, 301-511");
  ASSERT_THAT(verdict.places, SizeIs(2));
  EXPECT_EQ(namesOf(verdict.places.front().ranks), "rank 300");
  EXPECT_EQ(verdict.places.front().zone, "load");
  const std::string text = autopsyText(job, verdict, {});
  EXPECT_THAT(text,
              HasSubstr("Ranks 0-299, 301-511 have waited for rank 300 in allreduce(sum) "
                        "'gradients' #5 for 41 s.\n"
                        "Rank 300 on node2 (process 1300) did not come to it: phase backward, "
                        "zone 'load'.\n"));
  EXPECT_THAT(text, HasSubstr("(511 on node1, node2)"));
  EXPECT_EQ(topRows({job}, kNow)[300].health, Health::kStuck);
  EXPECT_EQ(topRows({job}, kNow)[0].health, Health::kWaits);
}

TEST(Verdict, BlamesARankWithoutAStateToo) {
  const Job job = jobWith({rankAt(0, 3), rankAt(1, 3)});
  const Verdict verdict = judge(job, {});
  ASSERT_THAT(verdict.blocked, SizeIs(1));
  EXPECT_EQ(verdict.blocked.front().behindWithoutState, std::vector<int>{2});
}

TEST(Verdict, IsNotThatACollectiveIsBlockedIfAllHaveCome) {
  const Job job = jobWith({rankAt(0, 2), rankAt(1, 2)});
  EXPECT_THAT(judge(job, {}).blocked, SizeIs(0));
}

/// Two ranks that died outside of collectives and left no trace; the last sign of both is of kNow.
std::vector<RankView> twoDeadRanks() {
  std::vector<RankView> ranks{rankAt(0, 2), rankAt(1, 2)};
  for (RankView& rank : ranks) {
    rank.life = Life::kDead;
    rank.state.collectives.clear();
  }
  return ranks;
}

TEST(Verdict, ClaimsNoOrderOfRanksThatALauncherHasEndedTogether) {
  std::vector<RankView> ranks = twoDeadRanks();
  ranks[1].state.heartbeat = kNow - 0.005;
  const Job job = jobWith(std::move(ranks));
  const Verdict verdict = judge(job, {});
  EXPECT_EQ(verdict.firstDead, 2U);
  EXPECT_THAT(
      autopsyText(job, verdict, {}),
      HasSubstr("Ranks 0-1 ended without a trace within 5 ms, so which was the first cannot "
                "be told"));
}

TEST(Verdict, BelievesTheRanksThatFoundAnotherOneDead) {
  std::vector<RankView> ranks = twoDeadRanks();
  ranks.push_back(ranks.front());
  ranks[2].state.rank = 2;
  for (RankView& rank : ranks) {
    rank.state.worldSize = 3;
  }
  ranks[0].state.heartbeat = kNow - 0.1;
  ranks[2].state.lastError =
      std::string(steptape::detail::process::kEndedItself) +
      "rank 2 (node1): allreduce(sum) is not waited for, since rank 1 (node1) "
      "has ended or let go of the memory that it shared";
  ranks[2].state.lastErrorTime = kNow;
  const Job job = jobWith(std::move(ranks));
  const Verdict verdict = judge(job, {});
  ASSERT_THAT(verdict.dead, SizeIs(3));
  EXPECT_EQ(verdict.dead.front().rank->state.rank, 1);
  EXPECT_EQ(verdict.firstDead, 1U);
}

TEST(Verdict, NamesARankOfAnotherMachineThatOthersFoundSilent) {
  std::vector<RankView> ranks = twoDeadRanks();
  for (RankView& rank : ranks) {
    rank.state.worldSize = 4;
    rank.state.lastError = std::string(steptape::detail::process::kEndedItself) +
                           "gradients: not waited for, since rank 3 (vm) does not answer any more";
    rank.state.lastErrorTime = kNow;
  }
  const Job job = jobWith(std::move(ranks));
  const Verdict verdict = judge(job, {});
  EXPECT_EQ(verdict.accused, std::vector<int>{3});
  const std::string text = autopsyText(job, verdict, {});
  EXPECT_THAT(text, HasSubstr("Rank 3 was the first to go, as others noticed; its state is not on "
                              "this machine.\n"));
  EXPECT_THAT(text, Not(HasSubstr("It was the first to die")));
}

TEST(Verdict, TellsOfARankThatLeftByExitWhileItsJobRan) {
  std::vector<RankView> ranks = twoDeadRanks();
  ranks[1].state.lastError = std::string(steptape::detail::process::kLeftEarly) + "3";
  ranks[1].state.lastErrorTime = kNow;
  const Verdict verdict = judge(jobWith(ranks), {});
  EXPECT_EQ(verdict.dead.front().rank->state.rank, 1);
  EXPECT_EQ(verdict.dead.front().cause.kind, Cause::Kind::kLeftEarly);
  EXPECT_THAT(verdict.dead.front().cause.text, HasSubstr("called exit(3) while the job ran"));
}

TEST(Verdict, HasTheFirstDeadFirst) {
  std::vector<RankView> ranks = twoDeadRanks();
  ranks[1].state.heartbeat = kNow - 3;
  const Job job = jobWith(std::move(ranks));
  const Verdict verdict = judge(job, {});
  ASSERT_THAT(verdict.dead, SizeIs(2));
  EXPECT_EQ(verdict.dead.front().rank->state.rank, 1);
  EXPECT_THAT(autopsyText(job, verdict, {}),
              HasSubstr("It was the first to die. Rank 0 died after it, within 3.0 s."));
}

/// Two dead ranks. Rank 0 ended by an exception at kNow; rank 1 left no trace, and the last sign of
/// it is 0.2 s older.
std::vector<RankView> deadByExceptionAndWithoutATrace(const std::string& exception) {
  std::vector<RankView> ranks = twoDeadRanks();
  ranks[0].state.death.signal = SIGABRT;
  ranks[0].state.death.time = kNow;
  ranks[0].state.lastError = steptape::detail::process::kUncaughtException + exception;
  ranks[1].state.heartbeat = kNow - 0.2;
  return ranks;
}

TEST(Verdict, HasARankWhoseCauseIsKnownBeforeThoseThatTheLauncherKilledAtOnce) {
  const Job job = jobWith(deadByExceptionAndWithoutATrace("shard 7 is damaged"));
  const Verdict verdict = judge(job, {});
  EXPECT_EQ(verdict.dead.front().rank->state.rank, 0);
  EXPECT_THAT(autopsyText(job, verdict, {}), HasSubstr("Rank 1 died after it"));
}

TEST(Verdict, HasADeadRankBeforeTheExceptionThatNamesIt) {
  for (const char* const loss :
       {"rank 1 (node1) has ended or let go of the memory", "rank 1 does not answer any more"}) {
    const Verdict verdict = judge(jobWith(deadByExceptionAndWithoutATrace(loss)), {});
    EXPECT_EQ(verdict.dead.front().rank->state.rank, 1) << loss;
  }
}

TEST(Verdict, DatesARankThatWorkedOnAfterSigtermByItsEnd) {
  RankView rank = rankAt(0, 1);
  rank.life = Life::kDead;
  rank.state.termination.signal = SIGTERM;
  rank.state.termination.time = kNow - 30;
  rank.state.termination.senderPid = 7;
  rank.state.termination.senderName = "slurmstepd";
  const Job job = jobWith({rank});
  const Verdict verdict = judge(job, {});
  ASSERT_EQ(verdict.dead.size(), 1U);
  EXPECT_EQ(verdict.dead.front().cause.text,
            "ended 30 s after SIGTERM, which process 7 (slurmstepd) of user 0 sent");
  EXPECT_EQ(verdict.dead.front().time, kNow);
}

TEST(Verdict, HasARankWithoutATraceBeforeThoseThatTheLauncherThenEndedBySigterm) {
  std::vector<RankView> ranks = twoDeadRanks();
  ranks[0].state.termination.signal = SIGTERM;
  ranks[0].state.termination.time = kNow;
  ranks[1].state.heartbeat = kNow - 0.2;
  EXPECT_EQ(judge(jobWith(ranks), {}).dead.front().rank->state.rank, 1);
}

TEST(Verdict, HasARankWhoseTimeWasOverBeforeTheOneThatItWaitedFor) {
  const char* const wait = "rank 1 (node1) did not arrive";
  const Verdict verdict = judge(jobWith(deadByExceptionAndWithoutATrace(wait)), {});
  EXPECT_EQ(verdict.dead.front().rank->state.rank, 0);
}

TEST(Verdict, TakesARankForAliveThatGaveASignWhileTheOthersWaitedForIt) {
  std::vector<RankView> ranks =
      deadByExceptionAndWithoutATrace("allreduce(sum): rank 1 (node1) did not arrive");
  ranks[0].state.collectives = rankAt(0, 2).state.collectives;  // waits for 41 s
  for (const auto& [sign, first] : {std::pair(10, 0), std::pair(35, 1)}) {
    ranks[1].state.heartbeat = kNow - sign;
    EXPECT_EQ(judge(jobWith(ranks), {}).dead.front().rank->state.rank, first) << sign << " s";
  }
}

TEST(Verdict, AllowsForASignThatABusyHostDelayed) {
  std::vector<RankView> ranks = deadByExceptionAndWithoutATrace("shard 7 is damaged");
  ranks[1].state.heartbeat = kNow - 2;
  EXPECT_EQ(judge(jobWith(ranks), {}).dead.front().rank->state.rank, 0);
}

TEST(Verdict, HasARankWithoutATraceFirstIfItsLastSignIsLongBefore) {
  std::vector<RankView> ranks = deadByExceptionAndWithoutATrace("shard 7 is damaged");
  ranks[1].state.heartbeat = kNow - 30;
  EXPECT_EQ(judge(jobWith(ranks), {}).dead.front().rank->state.rank, 1);
}

TEST(Verdict, IsOutOfMemoryIfTheKernelHasKilledInTheSameCgroup) {
  std::vector<RankView> ranks{rankAt(0, 2), rankAt(1, 2)};
  for (RankView& rank : ranks) {
    rank.state.cgroupLimit = 1 << 30;
    rank.state.cgroupBytes = (1 << 30) - 1;
    rank.state.oomKillsAtStart = 2;
    rank.state.oomKills = 2;
    rank.state.memoryTime = kNow - 1;
  }
  ranks[0].life = Life::kDead;
  EXPECT_EQ(judge(jobWith(ranks), {}).dead.front().cause.kind, Cause::Kind::kMemoryAtLimit);
  ranks[1].state.oomKills = 3;  // a survivor has seen it
  const Cause cause = judge(jobWith(ranks), {}).dead.front().cause;
  EXPECT_EQ(cause.kind, Cause::Kind::kOutOfMemory);
  EXPECT_THAT(cause.text, HasSubstr("was killed by the kernel because memory ran out"));
}

/// Two ranks that died without a trace in a cgroup where the kernel has killed one process.
std::vector<RankView> twoDeadRanksWithoutMemory() {
  std::vector<RankView> ranks = twoDeadRanks();
  for (RankView& rank : ranks) {
    rank.state.cgroupLimit = 1 << 30;
    rank.state.cgroupBytes = (1 << 30) - 1;
    rank.state.oomKillsAtStart = 0;
    rank.state.oomKills = 1;
  }
  return ranks;
}

TEST(Verdict, TakesTheRankWithMostMemoryForTheOneThatTheKernelKilled) {
  std::vector<RankView> ranks = twoDeadRanksWithoutMemory();
  ranks[0].state.residentBytes = 1 << 20;
  ranks[0].state.heartbeat = kNow - 0.2;  // the launcher killed it, after its last sign
  ranks[1].state.residentBytes = 900 << 20;
  const Job job = jobWith(ranks);
  const Verdict verdict = judge(job, {});
  EXPECT_EQ(verdict.dead.front().rank->state.rank, 1);
  EXPECT_EQ(verdict.dead.front().cause.kind, Cause::Kind::kOutOfMemory);
  EXPECT_EQ(verdict.dead.back().cause.kind, Cause::Kind::kNoTrace);
  // Where the kernel does not count, too.
  for (RankView& rank : ranks) {
    rank.state.oomKillsAtStart = -1;
    rank.state.oomKills = -1;
  }
  EXPECT_EQ(judge(jobWith(ranks), {}).dead.front().cause.kind, Cause::Kind::kMemoryAtLimit);
  EXPECT_EQ(judge(jobWith(ranks), {}).dead.back().cause.kind, Cause::Kind::kNoTrace);
  // It has killed both, or other processes.
  for (RankView& rank : ranks) {
    rank.state.oomKillsAtStart = 0;
    rank.state.oomKills = 2;
  }
  EXPECT_EQ(judge(jobWith(ranks), {}).dead.back().cause.kind, Cause::Kind::kOutOfMemory);
}

TEST(Verdict, TakesARankThatDidNotWaitForTheOneThatTheKernelKilledIfMemoryWasNotMeasured) {
  std::vector<RankView> ranks = twoDeadRanksWithoutMemory();
  ranks[0].state.collectives = rankAt(0, 2).state.collectives;
  ranks[0].state.residentBytes = 2 << 20;
  ranks[1].state.residentBytes = 1 << 20;  // when it started
  ranks[1].state.heartbeat = 0;
  ranks[1].state.stepTime = kNow;
  const Job job = jobWith(ranks);
  const Verdict verdict = judge(job, {});
  EXPECT_EQ(verdict.dead.front().rank->state.rank, 1);
  EXPECT_EQ(verdict.dead.front().cause.kind, Cause::Kind::kOutOfMemory);
  EXPECT_EQ(verdict.dead.back().cause.kind, Cause::Kind::kNoTrace);
}

TEST(Verdict, IsWithoutTraceIfMemoryWasFree) {
  RankView rank = rankAt(0, 1);
  rank.life = Life::kDead;
  EXPECT_EQ(judge(jobWith({rank}), {}).dead.front().cause.kind, Cause::Kind::kNoTrace);
}

TEST(Verdict, IgnoresASignalThatTheProcessSurvived) {
  RankView rank = rankAt(0, 1);
  rank.life = Life::kDead;
  rank.state.death.signal = SIGFPE;
  rank.state.death.code = 1;
  rank.state.death.time = kNow - 400;
  EXPECT_EQ(judge(jobWith({rank}), {}).dead.front().cause.kind, Cause::Kind::kNoTrace);
  rank.state.death.time = kNow - 0.01;
  EXPECT_THAT(judge(jobWith({rank}), {}).dead.front().cause.text, HasSubstr("by zero"));
}

TEST(AutopsyText, NamesTheRankWithMostMemoryOnItsDevice) {
  std::vector<RankView> ranks{rankAt(0, 3), rankAt(1, 3), rankAt(2, 3)};
  const auto textOf = [&] {
    const Job job = jobWith(ranks);
    return autopsyText(job, judge(job, {}), Terminal{});
  };
  EXPECT_THAT(textOf(), Not(HasSubstr("device")));
  ranks[1].state.deviceBytes = std::int64_t{3} << 30;
  ranks[2].state.deviceBytes = std::int64_t{2} << 30;
  EXPECT_THAT(textOf(), HasSubstr("\n  rank 1 on node1 has most on its device, 3.00 GiB\n"));
}

TEST(AutopsyText, NamesAProcessWithoutARankOnce) {
  RankView process = rankAt(-1, -1);
  process.life = Life::kDead;
  const Job job = jobWith({process});
  EXPECT_THAT(autopsyText(job, judge(job, {}), Terminal{}),
              HasSubstr("  process 999 on node1 ended without a trace"));
}

TEST(Jobs, HaveTheNewestProcessOfEachRank) {
  RankView old = rankAt(0, 1);
  old.state.process.pid = 7;
  old.state.process.created = kNow - 900;
  const Job job = jobWith({rankAt(0, 1), old});
  ASSERT_THAT(job.ranks, SizeIs(1));
  EXPECT_EQ(job.ranks.front().state.process.pid, 1000U);
  EXPECT_EQ(job.olderStates, 1U);
}

TEST(Jobs, AreToldApartByDirectoryAndByScheduler) {
  RankView other = rankAt(0, 1);
  other.state.logDirectories = {"/elsewhere/b"};
  EXPECT_THAT(jobsOf({rankAt(0, 1), other}), SizeIs(2));
  RankView queued = rankAt(1, 2);
  queued.state.jobId = "4711";
  EXPECT_THAT(jobsOf({rankAt(0, 2), queued}), SizeIs(2));
}

TEST(Jobs, WithoutALauncherBeginAnewAfterTheirProcessesHaveEnded) {
  const auto processAt = [](double created, double seen) {
    RankView view = rankAt(-1, -1);
    view.state.process.pid = static_cast<std::uint64_t>(created);
    view.state.process.created = created;
    view.seen = seen;
    return view;
  };
  // Two at the same time, and a third one after them.
  const std::vector<Job> jobs =
      jobsOf({processAt(1000, 1060), processAt(1010, 1050), processAt(1070, 1090)});
  ASSERT_THAT(jobs, SizeIs(2));
  ASSERT_THAT(jobs[0].ranks, SizeIs(1));
  EXPECT_EQ(jobs[0].ranks.front().state.process.pid, 1070U);
  EXPECT_THAT(jobs[1].ranks, SizeIs(2));
}

TEST(RangesOf, JoinsNeighbours) {
  EXPECT_EQ(rangesOf({}), "");
  EXPECT_EQ(rangesOf({0, 1, 2, 5, 7, 8}), "0-2, 5, 7-8");
}

TEST(TopText, FitsTheTerminalWithTroubleFirst) {
  std::vector<RankView> ranks;
  for (int rank = 0; rank < 100; ++rank) {
    ranks.push_back(rankAt(rank, 100));
  }
  ranks[99].life = Life::kDead;
  Terminal terminal;
  terminal.isTerminal = true;
  terminal.columns = 60;
  terminal.rows = 20;
  const std::string text = topText(topRows({jobWith(std::move(ranks))}, kNow), kNow, terminal);
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size(); ++lines) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 60U);
    at = end + 1;
  }
  EXPECT_LE(lines, 20U);
  EXPECT_THAT(text, HasSubstr("\n    99  dead"));
  EXPECT_THAT(text, HasSubstr("and 85 more\n"));
}

}  // namespace
}  // namespace steptape::tools
