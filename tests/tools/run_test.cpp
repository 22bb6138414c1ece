// SPDX-License-Identifier: Apache-2.0
//
// `steptape run` with jobs of one process and with launchers that only record how they are called.
// tests/tools/run_mpi_test.cpp starts ranks.
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "tools/run_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class Run : public RunFixture {
 protected:
  /// Returns the arguments for a job without a launcher, which is this script.
  std::vector<std::string> alone(const std::string& script,
                                 std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--launcher", "none"});
    return job(std::move(options), {writeScript("job", "echo start >>starts\n" + script)});
  }

  /// Writes a launcher that prints `version`, and the arguments of its last call into `calls`.
  std::string writeLauncher(const std::string& name, const std::string& version,
                            const std::string& end = "exit 0") const {
    return writeScript(name, "[ \"$1\" = --version ] && { echo '" + version +
                                 "'; exit 0; }\nprintf '%s\\n' \"$*\" >>calls\n" + end + "\n");
  }
};

TEST_F(Run, StartsAJobAgainThatDied) {
  const Outcome outcome =
      finishOf(alone("echo working\n[ $STEPTAPE_RESTART_COUNT = 0 ] && kill -9 $$\nexit 0"));
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.out, "working\nworking\n");
  EXPECT_THAT(outcome.error,
              MatchesRegex("steptape run: the job died after [0-9.]+ m?s: killed by SIGKILL\n"
                           "  starting it again in 1 ms; 2 restarts left after that\n"
                           "steptape run: the job is done after 1 restart\n"));
}

TEST_F(Run, SaysNothingAboutAJobThatSucceeds) {
  EXPECT_THAT(finishOf(alone("exit 0")), Exits(0, ""));
}

TEST_F(Run, TellsTheJobItsRestarts) {
  const Outcome outcome =
      finishOf(alone("echo $STEPTAPE_RESTART_COUNT of $STEPTAPE_MAX_RESTARTS\n"
                     "[ $STEPTAPE_RESTART_COUNT = 2 ] || exit 1",
                     {"--max-restarts", "7"}));
  EXPECT_EQ(outcome.out, "0 of 7\n1 of 7\n2 of 7\n");
}

TEST_F(Run, GivesUpAfterThreeEarlyDeaths) {
  const Outcome outcome = finishOf(alone("exit 7", {"--max-restarts", "9"}));
  EXPECT_EQ(outcome.exitCode, 7);
  EXPECT_EQ(linesOf("starts"), 3U);
  EXPECT_THAT(
      outcome.error,
      HasSubstr("exit code 7\n"
                "  not started again: it died 3 times at the same place, without progress\n"));
}

TEST_F(Run, GivesUpWhenItsRestartsAreUsed) {
  const Outcome outcome = finishOf(alone("kill -SEGV $$", {"--max-restarts", "1"}));
  EXPECT_EQ(outcome.exitCode, 128 + SIGSEGV);
  EXPECT_EQ(linesOf("starts"), 2U);
  EXPECT_THAT(outcome.error, HasSubstr("killed by SIGSEGV\n  not started again: 1 restart used"));
}

TEST_F(Run, DoesNotRepeatAnErrorThatComesAgain) {
  for (const auto& [code, reason] : std::vector<std::pair<int, std::string>>{
           {2, "exit code 2 means wrong arguments"},
           {64, "exit code 64 means wrong arguments"},
           {126, "exit code 126 means a program that cannot be executed"},
           {127, "exit code 127 means a program that is not there"},
           {130, "somebody stopped it by SIGINT"},
           {143, "somebody stopped it by SIGTERM"},
           {5, "exit code 5 is one of --no-restart-codes"}}) {
    EXPECT_THAT(finishOf(alone("exit " + std::to_string(code), {"--no-restart-codes", "4,5"})),
                Exits(code, HasSubstr("\n  not started again: " + reason + "\n")));
    EXPECT_EQ(linesOf("starts"), 1U);
    std::filesystem::remove(path("starts"));
  }
}

TEST_F(Run, ContinuesWhileTheStepsOfTheRunIncrease) {
  for (int start = 0; start < 5; ++start) {
    writeEvents("step" + std::to_string(start), {version(), simpleScalar("loss", 1, start)});
  }
  const std::string log =
      "mkdir -p runs/demo\n"
      "cp step$STEPTAPE_RESTART_COUNT runs/demo/events.out.tfevents.$STEPTAPE_RESTART_COUNT\n"
      "[ $STEPTAPE_RESTART_COUNT = 4 ] || exit 1";
  const Outcome outcome = finishOf(alone(log, {"--max-restarts", "9", "--logdir", "runs/demo"}));
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_EQ(linesOf("starts"), 5U);
}

TEST_F(Run, ContinuesWhileThereAreNewCheckpoints) {
  const Outcome outcome =
      finishOf(alone("mkdir -p runs/demo/checkpoints\n"
                     "touch runs/demo/checkpoints/checkpoint_1$STEPTAPE_RESTART_COUNT.pt\n"
                     "[ $STEPTAPE_RESTART_COUNT = 4 ] || exit 1",
                     {"--max-restarts", "9", "--logdir", "runs/demo"}));
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("\n  runs/demo: newest checkpoint at step 13\n"));
}

TEST_F(Run, PassesStandardInputAndArgumentsOn) {
  const Outcome outcome =
      run("sh -c 'echo input | steptape run --launcher none -- sh -c "
          "\"cat; printf %s, \\\"\\$@\\\"\" name \"[1,2]\" -- tail \"\" -n x'");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_EQ(outcome.out, "input\n[1,2],--,tail,,-n,x,");
}

TEST_F(Run, RequiresDashesBeforeTheProgram) {
  EXPECT_THAT(
      steptape("run ./train --epochs 3"),
      Exits(2, StartsWith(
                   "PROGRAM: got no \"--\" before ./train; expected -- PROGRAM [ARGUMENT]...\n")));
  EXPECT_THAT(steptape("run --help").out,
              HasSubstr("Usage: steptape run [OPTION]... -- PROGRAM..."));
}

TEST_F(Run, ReportsAProgramThatCannotBeStarted) {
  writeBytes("text", "no program");
  EXPECT_THAT(
      steptape("run --launcher none -- ./absent"),
      Exits(127,
            "steptape run: cannot start ./absent: there is no such program; expected a program\n"));
  EXPECT_EQ(steptape("run --launcher none -- ./text").exitCode, 126);
}

TEST_F(Run, RefusesOptionsThatCannotWork) {
  const auto messageOf = [&](const std::string& options) {
    const Outcome outcome = steptape("run " + options + " -- ./train");
    EXPECT_EQ(outcome.exitCode, 2) << options;
    return outcome.error.substr(0, outcome.error.find('\n'));
  };
  EXPECT_EQ(messageOf("--pause soon"),
            "--pause: got soon; expected a duration such as 500ms, 1s, 2min or 1h");
  EXPECT_EQ(messageOf("-n 2 --launcher none"),
            "--launcher: got none for 2 ranks; expected mpiexec or srun");
  EXPECT_EQ(messageOf("-n 2 --launcher ./absent"),
            "--launcher: got no program \"./absent\"; expected mpiexec, srun, none, or the path of "
            "a launcher");
  EXPECT_EQ(messageOf("-n 2 --hosts a,b --min-ranks 3"),
            "--min-ranks: got 3; expected at most -n, 2");
  EXPECT_EQ(
      messageOf("-n 2 --min-ranks 1"),
      "--min-ranks: got no --hosts, and no allocation of Slurm; expected hosts that are asked "
      "whether they answer");
  EXPECT_EQ(messageOf("-n 8 --hosts a:2,b:2"),
            "--hosts: got 4 slots; expected at least one for each of 8 ranks");
}

TEST_F(Run, PassesSignalsOnAndDoesNotRestart) {
  start(alone("trap 'echo got it; exit 9' TERM\ntouch ready\nwhile :; do sleep 0.01; done"));
  waitForFile("ready");
  send(SIGTERM);
  const Outcome outcome = finish();
  EXPECT_EQ(outcome.exitCode, 9);
  EXPECT_EQ(outcome.out, "got it\n");
  EXPECT_THAT(outcome.error,
              MatchesRegex("steptape run: the job was stopped by SIGTERM after .*: exit code 9\n"));
  EXPECT_EQ(linesOf("starts"), 1U);
}

TEST_F(Run, RestartsAJobThatDiesLongAfterASignalOfItsOwn) {
  start(
      alone("[ $STEPTAPE_RESTART_COUNT = 1 ] && exit 0\n"
            "trap 'exit 1' USR2\ntouch ready\nwhile :; do sleep 0.01; done"));
  waitForFile("ready");
  send(SIGUSR2);  // Trainer profiles at this signal; it does not ask to end.
  EXPECT_EQ(finish().exitCode, 0);
  EXPECT_EQ(linesOf("starts"), 2U);
}

TEST_F(Run, KillsTheJobAtASecondInterrupt) {
  start(alone("trap 'touch interrupted' INT\ntouch ready\nwhile :; do sleep 0.01; done"));
  waitForFile("ready");
  send(SIGINT);
  waitForFile("interrupted");
  send(SIGINT);
  const Outcome outcome = finish();
  EXPECT_EQ(outcome.exitCode, 128 + SIGKILL);
  EXPECT_THAT(outcome.error, HasSubstr("steptape run: a second SIGINT; killing the job\n"));
}

TEST_F(Run, EndsInAPauseAtASignal) {
  pause_ = {"--pause", "1h", "--max-pause", "2h"};
  start(alone("exit 1"));
  waitUntil("the pause", [&] {
    return std::filesystem::exists(path("error")) &&
           contentOf("error").find("again in 1:00:00") != std::string::npos;
  });
  send(SIGTERM);
  const Outcome outcome = finish();
  EXPECT_EQ(outcome.exitCode, 128 + SIGTERM);
  EXPECT_THAT(outcome.error, HasSubstr("stopped by SIGTERM; the job is not started again\n"));
}

TEST_F(Run, LeavesNoProcessWhenItIsKilled) {
  start(alone("echo $$ >pid.new\nmv pid.new pid\nexec sleep 1000"));
  waitForFile("pid");
  send(SIGKILL);
  finish();
  waitForEndOf("pid");
}

TEST_F(Run, LeavesNoProcessOfAJobThatEnded) {
  start(
      alone("setsid sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 1000' &\n"
            "while [ ! -e pid ]; do sleep 0.01; done"));
  EXPECT_EQ(finish().exitCode, 0);
  waitForEndOf("pid");
}

TEST_F(Run, StartsRanksBySrunInSlurm) {
  writeScript("bin/srun", "printf '%s\\n' \"$*\" >>calls\n[ $STEPTAPE_RESTART_COUNT = 1 ]");
  const Outcome outcome = run("env PATH=\"bin:$PATH\" SLURM_JOB_ID=7 SLURM_NTASKS=6 '" STEPTAPE_TOOL
                              "' run "
                              "--pause 1ms -- ./train --lr 1");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  const std::string call = "-n 6 --kill-on-bad-exit=1 --quit-on-interrupt ./train --lr 1\n";
  EXPECT_EQ(contentOf("calls"), call + call);
}

TEST_F(Run, PassesOnToSrunWhatItDoesNotTakeFromTheScript) {
  writeScript("bin/srun", "printf '%s\\n' \"$*\" >>calls");
  const std::string environment =
      "env PATH=\"bin:$PATH\" SLURM_JOB_ID=7 SLURM_NTASKS=2 SLURM_STEP_ID=0 "
      "SLURM_EXPORT_ENV=NONE SLURM_CPUS_PER_TASK=4 '" STEPTAPE_TOOL "' run ";
  EXPECT_EQ(run(environment + "-- ./train").exitCode, 0);
  EXPECT_EQ(run(environment + "--launcher 'srun --overlap -c 2 --export=NONE' -- ./train").exitCode,
            0);
  EXPECT_EQ(contentOf("calls"),
            "-n 2 --kill-on-bad-exit=1 --quit-on-interrupt --overlap --mem=0 --export=ALL "
            "--cpus-per-task=4 ./train\n"
            "--overlap -c 2 --export=NONE -n 2 --kill-on-bad-exit=1 --quit-on-interrupt ./train\n");
}

TEST_F(Run, StartsAJobAgainWhoseRanksSrunHasEndedForOneThatDied) {
  writeScript("bin/srun", "echo start >>starts\n[ $STEPTAPE_RESTART_COUNT = 1 ] || exit 143");
  const Outcome outcome = run("env PATH=\"bin:$PATH\" SLURM_JOB_ID=7 '" STEPTAPE_TOOL
                              "' run -n 3 --pause 1ms -- ./train");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_EQ(linesOf("starts"), 2U);
}

TEST_F(Run, SaysThatSrunHasNotFoundTheProgram) {
  writeScript("bin/srun", "exit 2");
  EXPECT_THAT(
      run("env PATH=\"bin:$PATH\" SLURM_JOB_ID=7 '" STEPTAPE_TOOL "' run -n 3 -- ./missing"),
      Exits(127, HasSubstr("exit code 127 means a program that is not there")));
}

TEST_F(Run, HasAnExitCodeOfItsOwnForAJobThatASignalHasStoppedAndThatCanGoOn) {
  start(alone("trap 'exit 0' USR1\ntouch ready\nwhile :; do sleep 0.01; done"));
  waitForFile("ready");
  send(SIGUSR1);
  EXPECT_THAT(finish(),
              Exits(75, MatchesRegex(
                            "steptape run: the job was stopped by SIGUSR1 after .* and ended well; "
                            "exit code 75 says that it can go on\n")));
  EXPECT_EQ(linesOf("starts"), 1U);
}

TEST_F(Run, LeavesOutHostsThatDoNotAnswer) {
  const std::string launcher = writeLauncher(
      "hydra", "HYDRA build details:",
      "cat \"$4\" >>hostfiles\necho - >>hostfiles\ntouch died\n[ $STEPTAPE_RESTART_COUNT = 1 ]");
  writeScript("ask", "echo \"$@\" >>asked\n[ \"$1\" = node1 ] || [ ! -e died ]");
  ::setenv("STEPTAPE_RSH", "./ask", 1);
  const Outcome outcome = finishOf(
      job({"-n", "4", "--hosts", "node1,node2", "--min-ranks", "2", "--launcher", launcher},
          {"./train"}));
  ::unsetenv("STEPTAPE_RSH");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.error,
              HasSubstr("steptape run: no answer from node2; the other hosts take 2 of 4 ranks\n"));
  EXPECT_THAT(contentOf("calls"),
              AllOf(StartsWith("-n 4 -machinefile "), HasSubstr("\n-n 2 -machinefile "),
                    HasSubstr(" -genv STEPTAPE_RESTART_COUNT 1 ")));
  EXPECT_EQ(contentOf("hostfiles"), "node1:2\nnode2:2\n-\nnode1:2\n-\n");
  EXPECT_THAT(contentOf("asked"), HasSubstr("node1 true\n"));
}

TEST_F(Run, WaitsForHostsWithoutMinRanks) {
  const std::string launcher = writeLauncher("hydra", "HYDRA build details:");
  writeScript("ask", "[ \"$1\" = node1 ] || { echo asked >>asked; [ $(wc -l <asked) = 3 ]; }");
  const Outcome outcome = finishOf(
      job({"-n", "4", "--hosts", "node1:2,node2:2", "--rsh", "./ask", "--launcher", launcher},
          {"./train"}));
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(
      outcome.error,
      HasSubstr("steptape run: too few hosts answer \"./ask HOST true\"; expected slots for "
                "4 ranks\n  asking again in 2 ms; 1 restart left after that\n"));
  EXPECT_EQ(linesOf("calls"), 1U);
}

TEST_F(Run, KillsTheLauncherOfMpichIfItIsKilled) {
  // That mpiexec passes SIGTERM on, and waits for ranks that ignore it.
  const std::string launcher =
      writeLauncher("hydra", "HYDRA build details:",
                    "trap '' TERM\necho $$ >new && mv new launcher\nwhile :; do sleep 0.01; done");
  start(job({"-n", "2", "--launcher", launcher}, {"true"}));
  waitForFile("launcher");
  send(SIGKILL);
  finish();
  waitForEndOf("launcher");
}

TEST_F(Run, DoesNotStartOpenMpiAsRootUnasked) {
  const std::string launcher = writeLauncher("mpiexec", "mpiexec (Open MPI) 5.0.3");
  const std::string options = "run -n 2 --launcher " + launcher + " -- true";
  const Outcome outcome = run("env -u OMPI_ALLOW_RUN_AS_ROOT '" STEPTAPE_TOOL "' " + options);
  if (::geteuid() == 0) {
    EXPECT_EQ(outcome.exitCode, 2);
    EXPECT_THAT(outcome.error,
                StartsWith("--launcher: got the user root, whom Open MPI refuses; "));
  } else {
    EXPECT_EQ(outcome.exitCode, 0);
  }
  EXPECT_EQ(
      run("env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 '" STEPTAPE_TOOL "' " +
          options)
          .exitCode,
      0);
  EXPECT_THAT(contentOf("calls"), Not(HasSubstr("--allow-run-as-root")));
}

TEST_F(Run, TellsACommandOfTheUserWhatHappens) {
  const std::string script = writeScript("job", "echo x >> starts; test $(wc -l < starts) = 2");
  EXPECT_EQ(finishOf(job({"--launcher", "none", "--on-event", "cat >> events"}, {script})).exitCode,
            0);
  std::vector<std::string> events;
  std::istringstream lines(contentOf("events"));
  for (std::string line; std::getline(lines, line);) {
    const auto document = nlohmann::json::parse(line);
    events.push_back(document.at("event").get<std::string>() + ": " +
                     document.at("message").get<std::string>());
  }
  EXPECT_THAT(events,
              ElementsAre("started: the job begins",
                          MatchesRegex("died: the job died after .*exit code 1.*"),
                          "resumed: the job begins again: restart 1", "ended: the job is done"));
}

TEST_F(Run, TellsTheExitCodeOnlyOfAnEnd) {
  finishOf(alone("exit 5", {"--on-event", "cat >> events", "--max-restarts", "1"}));
  std::vector<std::string> codes;
  std::istringstream lines(contentOf("events"));
  for (std::string line; std::getline(lines, line);) {
    const auto document = nlohmann::json::parse(line);
    codes.push_back(document.at("event").get<std::string>() + ' ' +
                    (document.contains("exit_code") ? document.at("exit_code").dump() : "-"));
  }
  EXPECT_THAT(codes, ElementsAre("started -", "died 5", "resumed -", "died 5"));
}

TEST_F(Run, EndsWithAJobThatEndsAtOnceBesideACommand) {
  // Its SIGCHLD comes before anybody waits for it.
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(finishOf(alone("exit 0", {"--on-event", "cat > event"})).exitCode, 0);
  }
}

TEST_F(Run, LetsASlowCommandHearOfEachDeath) {
  // Each program of the command waits until the job has died again.
  const std::string waits = "cat >> events; while [ $(wc -l < starts) != 3 ]; do sleep 0.01; done";
  finishOf(alone("exit 5", {"--on-event", waits, "--max-restarts", "2"}));
  EXPECT_EQ(linesOf("events"), 6U);
}

TEST_F(Run, LeavesACommandThatHangsWhenItIsAskedToEnd) {
  start(alone("exit 0", {"--on-event", "touch told; sleep 1000"}));
  waitForFile("told");
  send(SIGTERM);
  const Outcome outcome = finish();
  EXPECT_THAT(outcome.error, HasSubstr("killed"));
}

}  // namespace
}  // namespace steptape
