// SPDX-License-Identifier: Apache-2.0
//
// The parts of `steptape run` that start no process.
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "log/reader/log_dir_fixture.h"
#include "support/expect_error.h"
#include "tools/steptape/hosts/host_list.h"
#include "tools/steptape/jobs/duration_text.h"
#include "tools/steptape/jobs/job_end.h"
#include "tools/steptape/jobs/launcher.h"
#include "tools/steptape/jobs/restart_policy.h"
#include "tools/steptape/jobs/run_progress.h"

#include <gmock/gmock.h>

namespace steptape::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FailedStart deathAfter(double seconds, std::optional<bool> madeProgress = std::nullopt) {
  FailedStart start;
  start.seconds = seconds;
  start.madeProgress = madeProgress;
  return start;
}

TEST(RestartPolicy, DoublesThePauseUpToItsLimit) {
  RestartPolicy policy({6, 1, 5, 600});
  std::vector<double> pauses;
  for (int i = 0; i < 5; ++i) {
    pauses.push_back(policy.judge(deathAfter(60)).pause);
  }
  EXPECT_THAT(pauses, ElementsAre(1, 2, 4, 5, 5));
}

TEST(RestartPolicy, CountsTheRestartsThatAreLeft) {
  RestartPolicy policy({2, 1, 60, 600});
  EXPECT_EQ(policy.judge(deathAfter(60)).restartsLeft, 1);
  EXPECT_EQ(policy.judge(deathAfter(60)).restartsLeft, 0);
  EXPECT_EQ(policy.judge(deathAfter(60)).whyNot, "2 restarts used, and it never ran for 10:00");
}

TEST(RestartPolicy, StartsAnewAfterALongRun) {
  RestartPolicy policy({1, 1, 60, 600});
  EXPECT_EQ(policy.judge(deathAfter(60)).whyNot, "");
  const RestartDecision decision = policy.judge(deathAfter(600));
  EXPECT_EQ(decision.whyNot, "");
  EXPECT_EQ(decision.pause, 1);
}

TEST(RestartPolicy, StartsAnewOnlyWithProgress) {
  RestartPolicy policy({1, 1, 60, 600});
  EXPECT_EQ(policy.judge(deathAfter(900, false)).whyNot, "");
  EXPECT_THAT(policy.judge(deathAfter(900, false)).whyNot, HasSubstr("1 restart used"));
}

TEST(RestartPolicy, FindsAJobThatDiesAtTheSamePlaceHoweverLongItRuns) {
  RestartPolicy policy({9, 1, 60, 600});
  EXPECT_EQ(policy.judge(deathAfter(3600, false)).whyNot, "");
  EXPECT_EQ(policy.judge(deathAfter(3600, true)).whyNot, "");
  EXPECT_EQ(policy.judge(deathAfter(3600, false)).whyNot, "");
  EXPECT_EQ(policy.judge(deathAfter(3600, false)).whyNot, "");
  EXPECT_EQ(policy.judge(deathAfter(3600, false)).whyNot,
            "it died 3 times at the same place, without progress");
}

TEST(RestartPolicy, DoesNotRepeatAJobThatRanOutOfMemoryWithoutProgress) {
  RestartPolicy policy({9, 1, 60, 600});
  FailedStart start = deathAfter(5, true);
  start.ranOutOfMemory = true;
  EXPECT_EQ(policy.judge(start).whyNot, "");
  start.madeProgress = false;
  EXPECT_EQ(policy.judge(start).whyNot, "it ran out of memory before it made progress");
}

TEST(RestartPolicy, TakesTimeForProgressIfNothingElseIsKnown) {
  RestartPolicy policy({9, 1, 60, 600});
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(policy.judge(deathAfter(RestartPolicy::kEarlySeconds)).whyNot, "");
  }
}

TEST(RestartPolicy, DoesNotCountMissingHostsAsDeaths) {
  RestartPolicy policy({9, 1, 60, 600});
  FailedStart start;
  start.wasStarted = false;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(policy.judge(start).whyNot, "");
  }
}

TEST(RestartPolicy, NeverRestartsWithoutRestarts) {
  EXPECT_EQ(RestartPolicy({0, 1, 60, 600}).judge(deathAfter(9999)).whyNot, "--max-restarts is 0");
}

TEST(JobEnd, NamesTheSignal) {
  EXPECT_EQ(describe({137, false}, LauncherKind::kOpenMpi),
            "exit code 137, a rank was killed by SIGKILL");
  EXPECT_EQ(describe({139, true}, LauncherKind::kOpenMpi), "the launcher was killed by SIGSEGV");
  EXPECT_EQ(describe({134, true}, LauncherKind::kNone), "killed by SIGABRT");
  EXPECT_EQ(describe({3, false}, LauncherKind::kSlurm), "exit code 3");
  EXPECT_EQ(describe({255, false}, LauncherKind::kOpenMpi), "exit code 255");
}

TEST(JobEnd, KnowsTheSignalsOfMpich) {
  EXPECT_EQ(describe({9, false}, LauncherKind::kHydra),
            "exit code 9, a rank was killed by SIGKILL");
  EXPECT_EQ(describe({3, false}, LauncherKind::kHydra), "exit code 3");
  EXPECT_EQ(finalReason({15, false}, LauncherKind::kHydra, {}), "");
  EXPECT_EQ(finalReason({143, true}, LauncherKind::kHydra, {}), "somebody stopped it by SIGTERM");
  EXPECT_EQ(finalReason({15, false}, LauncherKind::kOpenMpi, {}), "");
}

TEST(JobEnd, OfSrunMayHelpToStartAgainIfItHasEndedTheRanksItself) {
  EXPECT_EQ(finalReason({143, false}, LauncherKind::kSlurm, {}), "");
  EXPECT_EQ(finalReason({143, true}, LauncherKind::kSlurm, {}), "somebody stopped it by SIGTERM");
  EXPECT_EQ(describe({143, false}, LauncherKind::kSlurm),
            "exit code 143: a rank died, and srun ended the others");
  EXPECT_EQ(finalReason({130, false}, LauncherKind::kSlurm, {}), "somebody stopped it by SIGINT");
}

TEST(JobEnd, MayHelpToStartAgain) {
  for (const int code : {1, 3, 134, 135, 137, 138, 139, 255}) {
    EXPECT_EQ(finalReason({code, false}, LauncherKind::kOpenMpi, {}), "") << code;
  }
}

std::vector<std::string> textsOf(const std::vector<Host>& hosts) {
  std::vector<std::string> texts;
  for (const Host& host : hosts) {
    texts.push_back(host.name + ' ' + std::to_string(host.slots));
  }
  return texts;
}

TEST(HostList, SharesRanksEqually) {
  EXPECT_THAT(textsOf(hostsOf("a,b", 4)), ElementsAre("a 2", "b 2"));
  EXPECT_THAT(textsOf(hostsOf("a,b", 5)), ElementsAre("a 3", "b 3"));
  EXPECT_THAT(textsOf(hostsOf("a:3,b:1", 4)), ElementsAre("a 3", "b 1"));
}

using HostFileForms = LogDirFixture;

TEST_F(HostFileForms, AreThoseOfTheLaunchers) {
  const auto hostsIn = [&](const std::string& content) {
    return textsOf(hostsOf(writeBytes("hosts", content), 4));
  };
  EXPECT_THAT(hostsIn("# all\na slots=3 max_slots=9\n\n b slots=1 # small\n"),
              ElementsAre("a 3", "b 1"));
  EXPECT_THAT(hostsIn("a:3\nb:1\n"), ElementsAre("a 3", "b 1"));
  EXPECT_THAT(hostsIn("a\na\na\nb\nb\n"), ElementsAre("a 3", "b 2"));
  EXPECT_THAT(hostsIn("a\nb\n"), ElementsAre("a 2", "b 2"));
}

TEST_F(HostFileForms, AreRefusedWithTheirLine) {
  writeBytes("hosts", "a\nb slots=many\n");
  test::expectInvalidArgument(
      [&] { hostsOf(path("hosts"), 2); },
      path("hosts") + ", line 2: got slots \"many\"; expected a number of at least 1");
  test::expectInvalidArgument([] { hostsOf(",", 2); },
                              "--hosts: got no host; expected names of hosts, or a host file");
  test::expectInvalidArgument(
      [] { hostsOf("./absent", 2); },
      "--hosts: got no file ./absent; expected names of hosts, or a host file");
}

TEST(Launcher, IsRecognizedByItsVersion) {
  EXPECT_EQ(launcherKindOf("mpiexec (OpenRTE) 4.1.4"), LauncherKind::kOpenMpi);
  EXPECT_EQ(launcherKindOf("mpiexec (Open MPI) 5.0.3"), LauncherKind::kOpenMpi);
  EXPECT_EQ(launcherKindOf("HYDRA build details:\n    Version: 4.0.2"), LauncherKind::kHydra);
  EXPECT_EQ(launcherKindOf("Intel(R) MPI Library for Linux* OS, Version 2021.8"),
            LauncherKind::kHydra);
  EXPECT_EQ(launcherKindOf("mpiexec version 1.2"), LauncherKind::kOther);
  EXPECT_EQ(majorVersionOf("mpiexec (OpenRTE) 4.1.4\n\nReport bugs"), 4);
  EXPECT_EQ(majorVersionOf("mpiexec (Open MPI) 6.0.0rc2"), 6);
  EXPECT_EQ(majorVersionOf("HYDRA build details:"), 0);
}

TEST(Launcher, GetsHostsInItsOwnForm) {
  ::setenv("STEPTAPE_TEST_VARIABLE", "5", 1);
  JobStart start;
  start.ranks = 4;
  start.hosts = {{"a", 3}, {"b", 1}};
  start.hostFile = "hosts";
  start.program = {"./train", "--lr"};
  start.variables = {"STEPTAPE_TEST_VARIABLE"};
  EXPECT_THAT(startCommand({LauncherKind::kOpenMpi, {"mpiexec", "--bind-to", "core"}}, start),
              ElementsAre("mpiexec", "--bind-to", "core", "-n", "4", "--host", "a:3,b:1", "-x",
                          "STEPTAPE_TEST_VARIABLE", "./train", "--lr"));
  EXPECT_THAT(startCommand({LauncherKind::kHydra, {"mpiexec"}}, start),
              ElementsAre("mpiexec", "-n", "4", "-machinefile", "hosts", "-genv",
                          "STEPTAPE_TEST_VARIABLE", "5", "./train", "--lr"));
  EXPECT_EQ(machineFile(start.hosts), "a:3\nb:1\n");
  EXPECT_THAT(startCommand({LauncherKind::kSlurm, {"srun"}}, start),
              ElementsAre("srun", "-n", "4", "--kill-on-bad-exit=1", "--quit-on-interrupt",
                          "--nodes=2", "--nodelist=a,b", "./train", "--lr"));
  EXPECT_THAT(startCommand({}, {1, {}, "", {"./train"}, {}}), ElementsAre("./train"));
  ::unsetenv("STEPTAPE_TEST_VARIABLE");
}

TEST(Duration, HasAUnit) {
  EXPECT_EQ(secondsOf("1.5"), 1.5);
  EXPECT_EQ(secondsOf("500ms"), 0.5);
  EXPECT_EQ(secondsOf("2min"), 120);
  EXPECT_EQ(secondsOf("1h"), 3600);
  for (const char* const text : {"", "s", "-1s", "1 day", "inf", "nan", "1d"}) {
    EXPECT_EQ(secondsOf(text), std::nullopt) << text;
  }
}

using JobProgress = LogDirFixture;

TEST_F(JobProgress, IsALaterStep) {
  RunProgress progress(path("runs"));
  EXPECT_EQ(progress.update(), std::nullopt);
  writeEvents("runs/events.out.tfevents.1", {version(), simpleScalar("loss", 1, 7)});
  EXPECT_EQ(progress.update(), true);
  EXPECT_EQ(progress.update(), false);
  // The restarted job dies where it died before, and then two steps later.
  writeEvents("runs/events.out.tfevents.2", {version(), start(5), simpleScalar("loss", 1, 7)});
  EXPECT_EQ(progress.update(), false);
  writeEvents("runs/events.out.tfevents.3", {version(), start(5), simpleScalar("loss", 1, 9)});
  EXPECT_EQ(progress.update(), true);
}

TEST_F(JobProgress, IsACheckpointOfALaterStep) {
  writeBytes("runs/checkpoints/checkpoint_20.pt", "");
  RunProgress progress(path("runs"));
  EXPECT_EQ(progress.update(), false);
  writeBytes("runs/checkpoints/checkpoint_best.pt", "");
  writeBytes("runs/checkpoints/checkpoint_9.pt", "");
  EXPECT_EQ(progress.update(), false);
  writeBytes("runs/checkpoints/checkpoint_30.pt", "");
  EXPECT_EQ(progress.update(), true);
  EXPECT_EQ(newestCheckpoint(path("runs")), 30);
}

TEST_F(JobProgress, IsFoundInADamagedFile) {
  RunProgress progress(path("runs"));
  const std::string bytes = framed({simpleScalar("loss", 1, 7), simpleScalar("loss", 1, 8)});
  writeBytes("runs/events.out.tfevents.1", bytes.substr(0, bytes.size() - 3));
  EXPECT_EQ(progress.update(), true);
}

TEST_F(JobProgress, IgnoresWhatWasThereBefore) {
  writeEvents("runs/events.out.tfevents.1", {version(), simpleScalar("loss", 1, 900)});
  RunProgress progress(path("runs"));
  writeEvents("runs/events.out.tfevents.2", {version(), simpleScalar("loss", 1, 7)});
  EXPECT_EQ(progress.update(), true);
}

}  // namespace
}  // namespace steptape::tools
