// SPDX-License-Identifier: Apache-2.0
// Real processes that end, or hang, in ways of their own, and what the tool says about them.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "steptape/log/summary_writer.h"
#include "steptape/process/zone.h"

#include "process/blackbox/state_page.h"
#include "tools/state_job.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::process::RankState;
using detail::process::StatePage;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class AutopsyCommand : public StateJob {
 protected:
  using Ready = std::function<void()>;

  /// A rank that logs, opens a zone and starts `collectives` collectives, the last of which does
  /// not end if `waits`.
  std::unique_ptr<RankProcess> rank(
      int rank, int size, int collectives, bool waits,
      const std::function<void()>& then = [] {}) const {
    return std::make_unique<RankProcess>(rank, size, [=](const Ready& ready) {
      SummaryWriter writer(path("runs/a"), sharedRun());
      writer.addScalar("loss", 0.5F, 7);
      EXPECT_TRUE(writer.flush().ok());
      StatePage* const page = StatePage::current();
      page->setPhase(detail::process::RunPhase::kBackward);
      const std::uint32_t group = page->collectives().addGroup(77, "ranks 0-2", rank, size);
      for (int i = 1; i <= collectives; ++i) {
        const std::uint64_t number = page->collectives().start(
            group, static_cast<std::uint64_t>(i), "allreduce(sum) 'gradients'", 400, nullptr,
            RankState::CollectivePhase::kWaiting);
        if (!waits || i < collectives) {
          page->collectives().end(group, number, true);
        }
      }
      STEPTAPE_ZONE("conv1");
      ready();
      then();
      while (true) {
        pause();
      }
    });
  }

  nlohmann::json json(const std::string& arguments) const {
    const Outcome outcome = steptape(arguments + " --json");
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    return nlohmann::json::parse(outcome.out);
  }
};

TEST_F(AutopsyCommand, NamesTheRankThatWasKilledAndThoseThatWaitForIt) {
  const auto first = rank(0, 3, 2, true);
  const auto second = rank(1, 3, 2, true);
  const auto third = rank(2, 3, 1, false);
  third->end(SIGKILL);
  const Outcome outcome = steptape("autopsy runs");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.out, StartsWith("Rank 2 on "));
  EXPECT_THAT(outcome.out, HasSubstr("ended without a trace"));
  EXPECT_THAT(outcome.out, HasSubstr("Ranks 0-1 have waited for rank 2 in allreduce(sum) "
                                     "'gradients' #2 for "));
  EXPECT_THAT(outcome.out, HasSubstr("where: step 7, phase backward, zone 'conv1'"));
}

TEST_F(AutopsyCommand, TellsTheSignalAndTheStackOfAFault) {
  const auto only = rank(0, 1, 0, false, [] { std::abort(); });
  only->end(0);
  const Outcome outcome = steptape("autopsy runs --markdown page.md");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("was ended by SIGABRT: it called abort()"));
  EXPECT_THAT(outcome.out, HasSubstr("Stack of rank 0"));
  EXPECT_THAT(outcome.out, ContainsRegex("\n  main[^\n]*  tools_test\\(\\+0x[0-9a-f]+\\)\n"));
  EXPECT_THAT(contentOf("page.md"), HasSubstr("\n## Stack of rank 0"));
  const nlohmann::json dead = json("autopsy runs").at("jobs").at(0).at("dead").at(0);
  EXPECT_EQ(dead.at("cause"), "fault");
  EXPECT_EQ(dead.at("signal"), SIGABRT);
  EXPECT_FALSE(dead.at("stack").empty());
}

TEST_F(AutopsyCommand, TellsWhoSentASignal) {
  const auto only = rank(0, 1, 0, false);
  only->end(SIGSEGV);
  EXPECT_THAT(steptape("autopsy runs").out,
              HasSubstr("was ended by SIGSEGV, which process " + std::to_string(getpid())));
}

TEST_F(AutopsyCommand, TellsThatAProcessWasAskedToEnd) {
  const auto only = rank(0, 1, 0, false);
  only->end(SIGTERM);
  EXPECT_THAT(steptape("autopsy runs").out,
              HasSubstr("ended after SIGTERM, which process " + std::to_string(getpid())));
}

TEST_F(AutopsyCommand, TellsWhatAScalarWasBeforeItWasNotFinite) {
  RankProcess only(0, 1, [&](const Ready& ready) {
    SummaryWriter writer(path("runs/a"), sharedRun());
    writer.addScalar("loss", 0.25F, 3);
    writer.addScalar("loss", std::numeric_limits<float>::quiet_NaN(), 4);
    writer.addScalar("loss", std::numeric_limits<float>::quiet_NaN(), 5);
    EXPECT_TRUE(writer.flush().ok());
    ready();
    while (true) {
      pause();
    }
  });
  only.end(SIGKILL);
  EXPECT_THAT(steptape("autopsy runs").out,
              HasSubstr("'loss' was not finite from step 4 on; the last finite value was 0.25 at "
                        "step 3."));
}

TEST_F(AutopsyCommand, ListsRanksOfWhichNothingIsLeft) {
  const auto only = rank(1, 4, 0, false);
  only->end(SIGKILL);
  EXPECT_THAT(steptape("autopsy runs").out, HasSubstr("Of ranks 0, 2-3 nothing is left"));
  EXPECT_EQ(json("autopsy runs").at("jobs").at(0).at("missing"), nlohmann::json({0, 2, 3}));
}

TEST_F(AutopsyCommand, ReadsCopiesThatWereCollectedFromSeveralMachines) {
  const auto first = rank(0, 2, 0, false, [] { std::abort(); });
  first->end(0);
  const auto second = rank(1, 2, 0, false);  // its writer moves the first one's state to the run
  second->end(SIGKILL);
  std::filesystem::create_directories(path("collected/node1"));
  for (const std::string& folder : {boxes_.folder(), path("runs/a/black_box")}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".state") {
        std::filesystem::copy(entry.path(), path("collected/node1"));
      }
    }
  }
  std::filesystem::remove_all(boxes_.folder());
  const Outcome outcome = steptape("autopsy collected");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("Rank 0 on "));
  EXPECT_THAT(outcome.out, HasSubstr("was ended by SIGABRT"));
  EXPECT_THAT(outcome.out, HasSubstr("2 ranks"));
}

TEST_F(AutopsyCommand, SaysWhyThereIsNothingToTell) {
  EXPECT_THAT(steptape("autopsy"), Exits(1, HasSubstr("no state of a process is here")));
  EXPECT_THAT(steptape("autopsy nowhere"),
              Exits(1, HasSubstr("got \"nowhere\"; expected a log directory")));
}

TEST_F(AutopsyCommand, ReportsADamagedFile) {
  writeBytes("bad.state", "no state");
  EXPECT_THAT(steptape("autopsy bad.state"), Exits(1, HasSubstr("bad.state")));
}

TEST_F(AutopsyCommand, IsDumpForALivingJob) {
  const auto first = rank(0, 2, 2, true);
  const auto second = rank(1, 2, 1, false);
  const Outcome outcome = steptape("dump " + std::to_string(first->pid()));
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.out, StartsWith("Rank 0 has waited for rank 1 in allreduce(sum) "
                                      "'gradients' #2 for "));
  EXPECT_THAT(outcome.out, HasSubstr("Rank 1 on "));
  EXPECT_THAT(outcome.out, HasSubstr("did not come to it: step 7, phase backward, zone 'conv1'."));
  EXPECT_THAT(outcome.out, HasSubstr("gdb -p " + std::to_string(second->pid())));
  EXPECT_THAT(outcome.out, Not(HasSubstr("Dead")));
  EXPECT_EQ(steptape("dump 1").exitCode, 1);
}

TEST_F(AutopsyCommand, SaysThatARankIsStopped) {
  const auto first = rank(0, 2, 0, false);
  first->stop();
  const Outcome outcome = steptape("dump runs");
  EXPECT_THAT(outcome.out, StartsWith("Rank 0 on "));
  EXPECT_THAT(outcome.out, HasSubstr("'kill -CONT " + std::to_string(first->pid()) + "'"));
}

TEST_F(AutopsyCommand, HasATableOfLivingRanks) {
  const auto first = rank(0, 3, 0, false);
  const auto second = rank(1, 3, 0, false);
  const auto third = rank(2, 3, 1, true);
  first->stop();
  second->end(SIGKILL);
  const Outcome outcome = steptape("top runs --once");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("3 processes, 1 dead, 1 stopped, 1 waiting\n"));
  EXPECT_THAT(outcome.out, HasSubstr("conv1, "));
  EXPECT_THAT(outcome.out, HasSubstr("allreduce(sum) 'gradients' #1, "));
  const nlohmann::json ranks = json("top --once").at("ranks");
  EXPECT_EQ(ranks.at(0).at("state"), "stopped");
  EXPECT_EQ(ranks.at(1).at("state"), "dead");
  EXPECT_EQ(ranks.at(2).at("state"), "waiting");
  EXPECT_EQ(ranks.at(2).at("step"), 7);
  EXPECT_THAT(steptape("top --once").out, HasSubstr("3 processes"));
  std::filesystem::create_directory(path("other"));
  EXPECT_THAT(steptape("top other --once").out, HasSubstr("0 processes"));
}

/// The background thread of a writer measures the memory of the others.
TEST_F(AutopsyCommand, TellsTheMemoryOfARankThatLogsNothingOnlyWhileItLives) {
  RankProcess only(0, 1, [](const Ready& ready) {
    StatePage::keep();
    static const std::string kMemory(std::size_t{64} << 20, 'x');
    ready();
  });
  const nlohmann::json alive = json("top --once").at("ranks").at(0);
  EXPECT_GE(alive.at("resident_bytes"), 64 << 20);
  only.end(SIGKILL);
  const nlohmann::json dead = json("autopsy").at("jobs").at(0).at("ranks").at(0);
  EXPECT_EQ(dead.at("resident_bytes"), -1);
}

TEST_F(AutopsyCommand, HasNoRankOfAJobThatIsOverUnlessItIsNamed) {
  rank(0, 2, 0, false)->end(SIGKILL);
  rank(1, 2, 0, false)->end(SIGKILL);
  EXPECT_THAT(steptape("top --once").out, HasSubstr("0 processes"));
  EXPECT_THAT(steptape("top runs --once").out, HasSubstr("2 processes, 2 dead"));
}

}  // namespace
}  // namespace steptape
