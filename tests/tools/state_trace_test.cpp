// SPDX-License-Identifier: Apache-2.0
// The timelines that `steptape autopsy --trace` and `steptape dump --trace` write of real
// processes.
#include "tools/steptape/states/state_trace.h"

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/process/zone.h"

#include "process/blackbox/state_page.h"
#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/perfetto_rules.h"
#include "tools/state_job.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::process::CollectiveNotes;
using detail::process::RankState;
using detail::process::StatePage;
using CollectivePhase = RankState::CollectivePhase;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

/// A span with the texts of its numbers.
struct ShownSpan {
  std::string row;
  std::string name;
  SpanKind kind;
  std::int64_t start;
  std::int64_t end;
  SpanDetails details;
  bool isDetached;
};

std::vector<ShownSpan> slicesOf(const Trace& trace) {
  std::vector<ShownSpan> slices;
  for (const TraceThread& row : trace.threads) {
    for (const TraceSpan& span : row.spans) {
      slices.push_back({row.name, trace.names[span.name].text, trace.names[span.name].kind,
                        span.start, span.start + span.duration, trace.details[span.details],
                        (span.flags & kDetached) != 0});
    }
  }
  return slices;
}

/// Returns the only slice of this name.
ShownSpan sliceNamed(const Trace& trace, const std::string& name) {
  std::vector<ShownSpan> found;
  std::string all;
  for (ShownSpan& slice : slicesOf(trace)) {
    all += slice.row + ": " + slice.name + '\n';
    if (slice.name.rfind(name, 0) == 0) {
      found.push_back(std::move(slice));
    }
  }
  EXPECT_EQ(found.size(), 1U) << name << " in\n" << all;
  return found.empty() ? ShownSpan{} : found.front();
}

class StateTrace : public StateJob {
 protected:
  /// A rank that logs, does `work`, and waits for its end.
  std::unique_ptr<RankProcess> rank(int rank, int size,
                                    const std::function<void(StatePage*)>& work) const {
    return std::make_unique<RankProcess>(rank, size, [=](const std::function<void()>& ready) {
      SummaryWriter writer(path("runs/a"), sharedRun());
      STEPTAPE_ZONE("epoch");
      { STEPTAPE_ZONE("input"); }
      STEPTAPE_ZONE("conv1");
      work(StatePage::current());
      ready();
      while (true) {
        pause();
      }
    });
  }

  static void startCollective(StatePage* page, int rank, std::uint64_t sequence,
                              CollectivePhase phase) {
    static std::uint32_t group = CollectiveNotes::kNoGroup;
    if (group == CollectiveNotes::kNoGroup) {
      group = page->collectives().addGroup(77, "ranks 0-1", rank, 2);
    }
    const DType type = DType::kFloat32;
    const std::uint64_t number = page->collectives().start(
        group, sequence, "allreduce(sum) 'gradients'", 400, &type, CollectivePhase::kWaiting);
    if (phase == CollectivePhase::kCompleted) {
      page->collectives().end(group, number, true);
    } else if (phase != CollectivePhase::kWaiting) {
      page->collectives().setPhase(number, phase);
    }
  }

  /// Returns what a command writes with --trace.
  std::vector<Trace> traced(const std::string& command) const {
    const Outcome outcome = steptape(command + " --trace out.json");
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_THAT(brokenPerfettoRules(contentOf("out.json")), IsEmpty());
    return detail::profile::readChromeTrace(path("out.json"));
  }
};

TEST_F(StateTrace, HasTheZonesThatNeverEndedUntilTheDeath) {
  const auto only = rank(0, 1, [](StatePage*) {});
  const pid_t pid = only->pid();
  only->end(SIGKILL);
  const std::vector<Trace> traces = traced("autopsy runs");
  ASSERT_THAT(traces, SizeIs(1));
  const Trace& trace = traces.front();
  EXPECT_EQ(trace.processId, pid);
  EXPECT_EQ(trace.processName, "tools_test, dead");
  const ShownSpan ended = sliceNamed(trace, "input");
  const ShownSpan open = sliceNamed(trace, "conv1");
  const ShownSpan outer = sliceNamed(trace, "epoch");
  const ShownSpan death = sliceNamed(trace, "rank 0 ended without a trace");
  EXPECT_EQ(ended.details.arguments, "");
  EXPECT_EQ(open.details.arguments, "\"ended\": false");
  EXPECT_EQ(outer.details.arguments, "\"ended\": false");
  EXPECT_LE(ended.end, open.start);
  EXPECT_EQ(open.row, outer.row);
  for (const std::int64_t end : {open.end, outer.end, death.start, death.end}) {
    EXPECT_EQ(end, trace.duration);
  }
}

TEST_F(StateTrace, HasTheCollectivesOfAGroupInOneRow) {
  const auto first = rank(0, 2, [](StatePage* page) {
    startCollective(page, 0, 1, CollectivePhase::kCompleted);
    startCollective(page, 0, 2, CollectivePhase::kWaiting);
  });
  const auto second =
      rank(1, 2, [](StatePage* page) { startCollective(page, 1, 1, CollectivePhase::kCompleted); });
  const std::vector<Trace> traces = traced("dump runs");
  ASSERT_THAT(traces, SizeIs(2));
  EXPECT_EQ(traces[0].originNanos, traces[1].originNanos);
  std::vector<ShownSpan> slices;
  for (const ShownSpan& slice : slicesOf(traces[0])) {
    if (slice.row == "collectives of ranks 0-1") {
      slices.push_back(slice);
    }
  }
  ASSERT_THAT(slices, SizeIs(3));
  EXPECT_EQ(slices[0].name, "allreduce(sum) 'gradients'");
  EXPECT_EQ(slices[0].kind, SpanKind::kCollective);
  EXPECT_EQ(slices[0].details.bytes, 400);
  EXPECT_THAT(slices[0].details.arguments,
              AllOf(StartsWith("\"sequence\": 1, \"phase\": \"completed\", "
                               "\"group\": \"ranks 0-1\", \"type\": \"float32\", \"thread\": "),
                    Not(HasSubstr("ended"))));
  EXPECT_LE(slices[0].end, slices[1].start);
  EXPECT_THAT(slices[1].details.arguments,
              StartsWith("\"ended\": false, \"sequence\": 2, \"phase\": \"waiting for ranks\""));
  EXPECT_EQ(slices[1].end, traces[0].duration);
  EXPECT_EQ(slices[2].name, "wait");
  EXPECT_EQ(slices[2].kind, SpanKind::kWait);
  EXPECT_EQ(slices[2].start, slices[1].start);
  EXPECT_EQ(slices[2].end, slices[1].end);
  EXPECT_THAT(slicesOf(traces[1]), Not(Contains(::testing::Field(&ShownSpan::name, "wait"))));
}

TEST_F(StateTrace, HasAMarkForASignalAndForTheLastError) {
  const auto only =
      rank(0, 1, [](StatePage* page) { page->noteError("cannot write to the disk"); });
  only->end(SIGTERM);
  const Trace trace = traced("autopsy runs").at(0);
  EXPECT_EQ(sliceNamed(trace, "error: ").name, "error: cannot write to the disk");
  const ShownSpan death =
      sliceNamed(trace, "rank 0 ended after SIGTERM, which process " + std::to_string(getpid()) +
                            " (tools_test) of user ");
  EXPECT_EQ(death.row, "marks");
  EXPECT_LE(sliceNamed(trace, "error: ").end, death.start);
}

TEST_F(StateTrace, HasAMarkForAFault) {
  const auto only = rank(0, 1, [](StatePage*) {});
  only->end(SIGSEGV);
  const ShownSpan death =
      sliceNamed(traced("autopsy runs").at(0), "rank 0 was ended by SIGSEGV, which process ");
  EXPECT_EQ(death.row, "marks");
}

TEST_F(StateTrace, NamesNoStepThatIsNotKnown) {
  const auto only = rank(0, 1, [](StatePage* page) {
    page->setPhase(detail::process::RunPhase::kBackward);
    for (const std::int64_t step : {10, 20, 30}) {
      page->noteStep(step);
    }
  });
  const Trace trace = traced("dump runs").at(0);
  std::vector<std::string> names;
  for (const ShownSpan& slice : slicesOf(trace)) {
    if (slice.row == "steps") {
      names.push_back(slice.name);
    }
  }
  EXPECT_THAT(names, UnorderedElementsAre("earlier", "until step 30", "after step 30"));
  EXPECT_EQ(sliceNamed(trace, "after step 30").end, trace.duration);
  EXPECT_EQ(sliceNamed(trace, "backward").row, "phase");
  EXPECT_EQ(sliceNamed(trace, "backward").details.arguments, "\"ended\": false");
  EXPECT_THAT(trace.steps, IsEmpty());
}

TEST_F(StateTrace, IsWrittenInTheFormOfItsNameAndProfileReadsIt) {
  const auto first = rank(0, 2, [](StatePage*) {});
  const auto second = rank(1, 2, [](StatePage*) {});
  for (const char* const name : {"a.json", "a.json.gz", "a.pftrace", "a.pftrace.gz"}) {
    EXPECT_EQ(steptape(std::string("dump runs --trace ") + name).exitCode, 0);
    EXPECT_GT(std::filesystem::file_size(path(name)), 0U) << name;
  }
  EXPECT_THAT(contentOf("a.pftrace"), AllOf(HasSubstr("conv1"), HasSubstr("ended")));
  const Outcome outcome = steptape("profile a.json.gz");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("2 processes"), HasSubstr("conv1")));
  EXPECT_EQ(outcome.error, "");
}

TEST_F(StateTrace, HasTheProcessesOfTheReportedJobsOnly) {
  const auto old = rank(0, 1, [](StatePage*) {});
  const auto other = std::make_unique<RankProcess>(0, 3, [&](const std::function<void()>& ready) {
    SummaryWriter writer(path("runs/b"), sharedRun());
    ready();
    while (true) {
      pause();
    }
  });
  const std::vector<Trace> one = traced("dump " + std::to_string(old->pid()));
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(one.front().processId, old->pid());
  EXPECT_THAT(traced("autopsy runs"), SizeIs(1));
  EXPECT_THAT(traced("autopsy runs --all"), SizeIs(2));
}

TEST_F(StateTrace, RefusesANameOfAnotherFormat) {
  for (const char* const command : {"autopsy", "dump 1"}) {
    EXPECT_THAT(steptape(std::string(command) + " --trace out.xplane.pb"),
                Exits(2, HasSubstr("--trace: got out.xplane.pb, which holds one process; "
                                   "expected a name that ends in .json, .json.gz, .pftrace "
                                   "or .pftrace.gz")));
  }
}

namespace states {

constexpr double kNow = 1000000;

/// A dead rank on a host whose clock is `ahead` seconds ahead. It has completed collectives 1 to 3,
/// 10 s apart, and was last seen at `seen` by a right clock.
tools::RankView deadRank(int rank, const std::string& host, double ahead, double seen) {
  tools::RankView view;
  view.life = tools::Life::kDead;
  view.seen = seen + ahead;
  RankState& state = view.state;
  host.copy(state.process.host.data(), state.process.host.size() - 1);
  state.process.pid = static_cast<std::uint64_t>(1000 + rank);
  state.process.created = kNow - 500 + ahead;
  state.heartbeat = view.seen;
  state.rank = rank;
  state.worldSize = 3;
  state.launch = 5;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    RankState::Collective collective;
    collective.name = "barrier";
    collective.group = 1;
    collective.sequence = i;
    collective.phase = CollectivePhase::kCompleted;
    collective.since = kNow - 100 + 10 * static_cast<double>(i) + ahead;
    collective.start = collective.since - 1 - rank;
    state.collectives.push_back(collective);
  }
  return view;
}

tools::Job jobWith(std::vector<tools::RankView> ranks) {
  std::vector<tools::Job> jobs = tools::jobsOf(std::move(ranks));
  EXPECT_THAT(jobs, SizeIs(1));
  return jobs.front();
}

TEST(ClockOffsets, AreKnownFromCollectivesThatEndTogether) {
  // By their own clocks rank 0 was the first to die, and rank 2 the last.
  tools::RankView second = deadRank(1, "node2", 100, kNow - 3);
  second.state.collectives.back().since += 7;  // the median ignores one that was seen late
  const tools::Job job =
      jobWith({deadRank(0, "node1", 0, kNow - 1), second, deadRank(2, "node3", 200, kNow - 5)});
  EXPECT_NEAR(job.ranks[1].clockOffset, -100, 1e-6);
  EXPECT_NEAR(job.ranks[2].clockOffset, -200, 1e-6);
  const tools::Verdict verdict = tools::judge(job, {});
  std::vector<int> order;
  for (const tools::DeadRank& dead : verdict.dead) {
    order.push_back(dead.rank->state.rank);
  }
  EXPECT_THAT(order, ElementsAre(2, 1, 0));
  const std::vector<Trace> traces = tools::stateTraces(job, verdict);
  ASSERT_THAT(traces, SizeIs(3));
  // Rank 2's first collective started first, at kNow - 93.
  EXPECT_EQ(traces[0].originNanos, static_cast<std::int64_t>(kNow - 93) * 1'000'000'000);
  const auto endOf = [&](std::size_t rank) {
    for (const ShownSpan& slice : slicesOf(traces[rank])) {
      if (slice.name == "barrier") {
        return slice.end;
      }
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(endOf(0), 3'000'000'000);
  EXPECT_EQ(endOf(1), endOf(0));
  EXPECT_EQ(endOf(2), endOf(0));
  EXPECT_THAT(traces[2].metadata, ElementsAre(std::make_pair(std::string("clock_offset_ms"),
                                                             std::string("-200000.000"))));
}

TEST(ClockOffsets, AreKnownOverAHostInBetween) {
  tools::RankView second = deadRank(1, "node2", 100, kNow);
  tools::RankView third = deadRank(2, "node3", 200, kNow);
  for (RankState::Collective& collective : third.state.collectives) {
    collective.group = 2;
    second.state.collectives.push_back(collective);
    second.state.collectives.back().since -= 100;
  }
  const tools::Job job = jobWith({deadRank(0, "node1", 0, kNow), second, third});
  EXPECT_NEAR(job.ranks[2].clockOffset, -200, 1e-6);
}

TEST(ClockOffsets, AreZeroWithoutACommonCollective) {
  tools::RankView second = deadRank(1, "node2", 100, kNow);
  second.state.collectives.clear();
  const tools::Job job = jobWith({deadRank(0, "node1", 0, kNow), second});
  EXPECT_EQ(job.ranks[1].clockOffset, 0);
}

TEST(StateTraces, TellWaitingFromTransfer) {
  tools::RankView view = deadRank(0, "node1", 0, kNow);
  RankState::Collective& last = view.state.collectives.back();
  last.phase = CollectivePhase::kTransfer;
  last.since = last.start + 0.25;
  const tools::Job job = jobWith({view});
  const Trace trace = tools::stateTraces(job, tools::judge(job, {})).at(0);
  const ShownSpan wait = sliceNamed(trace, "wait");
  EXPECT_EQ(wait.end - wait.start, 250'000'000);
  EXPECT_EQ(wait.details.arguments, "");
}

TEST(StateTraces, HaveACollectiveBesideTheOneThatItOverlaps) {
  tools::RankView view = deadRank(0, "node1", 0, kNow);
  // The second one lies within the first one's time, and is no part of it.
  view.state.collectives[0].since = view.state.collectives[1].since + 1;
  const tools::Job job = jobWith({view});
  std::vector<bool> areDetached;
  for (const ShownSpan& slice : slicesOf(tools::stateTraces(job, tools::judge(job, {})).at(0))) {
    if (slice.name == "barrier") {
      areDetached.push_back(slice.isDetached);
    }
  }
  EXPECT_THAT(areDetached, ElementsAre(false, true, false));
}

TEST(StateTraces, LeaveOutTimesOfADamagedState) {
  tools::RankView view = deadRank(0, "node1", 0, kNow);
  view.state.collectives[1].start = -1e300;
  view.state.collectives[2].start = std::numeric_limits<double>::quiet_NaN();
  const tools::Job job = jobWith({view});
  const Trace trace = tools::stateTraces(job, tools::judge(job, {})).at(0);
  EXPECT_EQ(trace.dropped, 2U);
  EXPECT_EQ(sliceNamed(trace, "barrier").details.bytes, 0);
}

}  // namespace states
}  // namespace
}  // namespace steptape
