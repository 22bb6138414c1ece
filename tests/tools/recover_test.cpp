// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "steptape/log/summary_writer.h"

#include "log/writer/faulty_file_system.h"
#include "tools/state_job.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class RecoverCommand : public StateJob {
 protected:
  /// Logs two scalars in a process that is killed before it has written them.
  void killedRun(const std::string& run) const {
    const pid_t child = fork();
    if (child == 0) {
      FaultyFileSystem disk;
      SummaryWriter writer(path(run));
      disk.stall();
      writer.addScalar("loss", 0.5F, 1);
      writer.addScalar("loss", 0.25F, 2);
      raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
  }
};

TEST_F(RecoverCommand, BringsTheScalarsOfAKilledProgramIntoItsRun) {
  killedRun("runs/a");
  const Outcome outcome = steptape("recover runs");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.out,
              MatchesRegex("process [0-9]+ on [^ ]+ \\(.*tools_test\\): 2 values recovered\n"
                           "  written: .*/runs/a/events.out.tfevents.*\n"));
  EXPECT_THAT(steptape("export runs/a --format csv").out, HasSubstr("0.25"));
  EXPECT_EQ(steptape("recover runs").out, "nothing to recover\n");
  EXPECT_TRUE(std::filesystem::is_empty(boxes_.folder()));
}

TEST_F(RecoverCommand, ReportsAsJsonWhatItDid) {
  killedRun("runs/a");
  killedRun("runs/b");
  const Outcome outcome = steptape("recover --all --json");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.out, HasSubstr("\"values_recovered\": 2"));
  EXPECT_THAT(outcome.out, HasSubstr("/runs/a\""));
  EXPECT_THAT(outcome.out, HasSubstr("/runs/b\""));
}

TEST_F(RecoverCommand, KeepsWhatBelongsToAMissingDirectoryUntilItIsToldNotTo) {
  killedRun("runs/a");
  std::filesystem::rename(path("runs"), path("moved"));
  const Outcome kept = steptape("recover --all");
  EXPECT_EQ(kept.exitCode, 1);
  EXPECT_THAT(kept.out, HasSubstr("/runs/a does not exist any more\n  kept for another try\n"));
  const Outcome dropped = steptape("recover --all --discard-missing");
  EXPECT_EQ(dropped.exitCode, 1);
  EXPECT_THAT(dropped.out, HasSubstr("its last values are dropped"));
  EXPECT_EQ(steptape("recover --all").out, "nothing to recover\n");
}

TEST_F(RecoverCommand, NamesProgramsThatStillRun) {
  SummaryWriter writer(path("runs/a"));
  const Outcome outcome = steptape("recover runs");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(
      outcome.out,
      MatchesRegex("process [0-9]+ on [^ ]+ \\(.*tools_test\\) still runs, and writes its values "
                   "itself\n"));
  EXPECT_THAT(steptape("recover runs --json").out, HasSubstr("\"living\": [\n{\"pid\": "));
}

TEST_F(RecoverCommand, WantsEitherPathsOrAll) {
  EXPECT_EQ(steptape("recover").exitCode, 2);
  EXPECT_EQ(steptape("recover --all runs").exitCode, 2);
}

TEST_F(RecoverCommand, IsWhatTailDoesFirst) {
  killedRun("runs/a");
  const Outcome outcome = steptape("tail runs --once");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.error, MatchesRegex("note: process [0-9]+ was killed; 2 values recovered\n"));
  EXPECT_THAT(outcome.out, HasSubstr("0.25"));
}

}  // namespace
}  // namespace steptape
