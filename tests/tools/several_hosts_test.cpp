// SPDX-License-Identifier: Apache-2.0
// A job whose ranks are on several machines: each has a folder of states of its own, and a shell
// that stands for ssh or srun runs the real tool with that folder.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <unistd.h>

#include "steptape/base/status.h"
#include "steptape/log/summary_writer.h"

#include "log/writer/faulty_file_system.h"
#include "process/blackbox/state_page.h"
#include "tools/state_job.h"
#include "tools/steptape/hosts/host_answer.h"
#include "tools/steptape/hosts/host_query.h"
#include "tools/steptape/programs/parallel_programs.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using tools::HostQuery;

class SeveralHosts : public StateJob {
 protected:
  using Ready = std::function<void()>;

  void SetUp() override {
    StateJob::SetUp();
    std::filesystem::create_directory(path("bin"));
    program("shell",
            "host=$1; shift\n"
            "case $host in\n"
            "  closed) echo 'no route to host' >&2; exit 255;;\n"
            "  other) echo 'steptape 9.9 answers 0'; exit 0;;\n"
            "  talks) echo 'Welcome!'; echo 'to the cluster';;\n"
            "esac\n"
            "STEPTAPE_BLACK_BOX='" +
                path("boxes-") + "'$host exec \"$@\"");
  }

  void program(const std::string& name, const std::string& script) const {
    std::ofstream(path("bin/" + name)) << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(path("bin/" + name), std::filesystem::perms::owner_all);
  }

  /// A rank on a machine, in a collective that rank 1 has not started.
  std::unique_ptr<RankProcess> rank(int rank, const std::string& host) const {
    return std::make_unique<RankProcess>(rank, 2, [=](const Ready& ready) {
      const std::string boxes = path("boxes-" + host);
      std::filesystem::create_directories(boxes);
      setenv("STEPTAPE_BLACK_BOX", boxes.c_str(), 1);
      setenv("SLURM_JOB_ID", "70", 1);
      SummaryWriter writer(path("runs/" + host), sharedRun());
      writer.addScalar("loss", 0.5F, 7);
      EXPECT_TRUE(writer.flush().ok());
      detail::process::StatePage* const page = detail::process::StatePage::current();
      const std::uint32_t group = page->collectives().addGroup(77, "ranks 0-1", rank, 2);
      if (rank == 0) {
        page->collectives().start(group, 1, "allreduce(sum) 'gradients'", 400, nullptr,
                                  detail::process::RankState::CollectivePhase::kWaiting);
      }
      ready();
    });
  }

  /// Runs the tool on a login node, which has no states.
  Outcome onLogin(const std::string& arguments) const {
    std::filesystem::create_directories(path("boxes-login"));
    return run("env STEPTAPE_BLACK_BOX='" + path("boxes-login") + "' PATH=\"" + path("bin") +
               ":$PATH\" '" STEPTAPE_TOOL "' " + arguments);
  }
  Outcome asking(const std::string& hosts, const std::string& arguments) const {
    return onLogin(arguments + " --hosts " + hosts + " --rsh shell");
  }

  /// Commands of Slurm, which knows job 70 on node1 and node2.
  void installSlurm() const {
    program("squeue", "[ \"$2\" = --jobs=70 ] && echo '70|RUNNING|None|node[1-2]' || exit 1");
    program("scontrol", "printf 'node1\\nnode2\\n'");
    program("srun",
            "[ \"$1\" = --jobid=70 ] || exit 1\n"
            "while [ \"$1\" != --nodelist ]; do shift; done\nshift\nexec shell \"$@\"");
  }
};

TEST_F(SeveralHosts, AreOneReport) {
  const auto first = rank(0, "node1");
  const auto second = rank(1, "node2");
  second->end(SIGKILL);
  const Outcome outcome = asking("node1,node2", "autopsy runs");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.out, StartsWith("Rank 1 on "));
  EXPECT_THAT(outcome.out,
              HasSubstr("Rank 0 has waited for rank 1 in allreduce(sum) 'gradients' #1"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("nothing is left")));
}

TEST_F(SeveralHosts, AreOneTableAndOneTimeline) {
  const auto first = rank(0, "node1");
  const auto second = rank(1, "node2");
  EXPECT_THAT(asking("node1,node2", "top runs --once").out,
              HasSubstr("2 processes, 1 waiting, 1 running\n"));
  EXPECT_EQ(asking("node1,node2", "dump runs --trace all.json").exitCode, 0);
  EXPECT_THAT(contentOf("all.json"), AllOf(HasSubstr("rank 0"), HasSubstr("rank 1")));
}

TEST_F(SeveralHosts, AreNamedIfTheyDoNotAnswer) {
  const auto first = rank(0, "node1");
  const Outcome outcome = asking("node1,closed,other,nosuch", "autopsy runs");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.error, HasSubstr("closed was not asked: no route to host\n"));
  EXPECT_THAT(outcome.error,
              HasSubstr("other was not asked: got another text; expected an answer of "
                        "steptape "));
  EXPECT_THAT(outcome.out, HasSubstr("2 ranks"));
  EXPECT_THAT(asking("closed", "top runs --once").out,
              HasSubstr("\nclosed was not asked: no route to host\n"));
}

TEST_F(SeveralHosts, MayGreetBeforeTheyAnswer) {
  const auto first = rank(0, "talks");
  const Outcome outcome = asking("talks", "top runs --once");
  EXPECT_THAT(outcome.out, HasSubstr("1 process, 1 waiting\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("was not asked")));
}

TEST_F(SeveralHosts, AreFoundByTheNumberOfAJobOfSlurm) {
  installSlurm();
  const auto first = rank(0, "node1");
  const auto second = rank(1, "node2");
  for (const char* const command : {"dump 70", "autopsy 70"}) {
    const Outcome outcome = onLogin(command);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_THAT(outcome.out, HasSubstr("Job 70, 2 ranks"));
    EXPECT_THAT(outcome.out, HasSubstr("Rank 0 has waited for rank 1")) << command;
  }
  EXPECT_THAT(onLogin("top 70 --once").out, HasSubstr("2 processes, 1 waiting, 1 running\n"));
}

TEST_F(SeveralHosts, AreThoseOfTheAllocationForADirectoryInsideIt) {
  installSlurm();
  const auto first = rank(0, "node1");
  const auto second = rank(1, "node2");
  const Outcome outcome =
      run("env SLURM_JOB_ID=70 SLURM_JOB_NODELIST=node[1-2] STEPTAPE_BLACK_BOX='" +
          path("boxes-node1") + "' PATH=\"" + path("bin") +
          ":$PATH\" '" STEPTAPE_TOOL "' top runs --once");
  EXPECT_THAT(outcome.out, HasSubstr("2 processes, 1 waiting, 1 running\n"));
}

TEST_F(SeveralHosts, OfAJobThatSlurmDoesNotKnowAreNotGuessed) {
  installSlurm();
  const auto first = rank(0, "node1");
  Outcome outcome = onLogin("autopsy 71");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.error, HasSubstr("only this machine was asked; --hosts names others"));
  std::filesystem::remove(path("bin/squeue"));
  outcome = onLogin("autopsy 71");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.error, HasSubstr("squeue: "));
}

TEST_F(SeveralHosts, DiedOfWhatSlurmSays) {
  installSlurm();
  const auto only = rank(0, "login");
  only->end(SIGTERM);
  const std::vector<std::pair<std::string, std::string>> ends{
      {"JobState=TIMEOUT Reason=TimeLimit Restarts=0 TimeLimit=00:01:00",
       "job 70 reached its time limit of 00:01:00"},
      {"JobState=COMPLETING Reason=TimeLimit TimeLimit=1-00:00:00",
       "job 70 reached its time limit of 1-00:00:00"},
      {"JobState=CANCELLED Reason=None", "job 70 was canceled"},
      {"JobState=PREEMPTED Reason=None", "job 70 was preempted by another one"},
      {"JobState=NODE_FAIL NodeList=node[1-2]", "a node of job 70 failed, of node[1-2]"},
      {"JobState=OUT_OF_MEMORY MinMemoryNode=900M",
       "the memory of job 70 ran out, 900M on each node"},
      {"JobState=PENDING Reason=BeginTime Restarts=1",
       "job 70 went back to the queue and is PENDING now, restart 1"}};
  for (const auto& [facts, text] : ends) {
    program("scontrol", "echo 'JobId=70 JobName=job.sh " + facts + "'");
    EXPECT_THAT(onLogin("autopsy runs").out,
                StartsWith("Slurm says that " + text + ".\nRank 0 on "));
  }
  for (const char* const silence : {"exit 1", "echo 'JobId=70 JobState=RUNNING Restarts=0'"}) {
    program("scontrol", silence);
    EXPECT_THAT(onLogin("autopsy runs").out, StartsWith("Rank 0 on ")) << silence;
  }
}

TEST_F(SeveralHosts, GiveBackWhatTheirDeadRanksHadLogged) {
  const pid_t child = fork();
  if (child == 0) {
    std::filesystem::create_directories(path("boxes-node2"));
    setenv("STEPTAPE_BLACK_BOX", path("boxes-node2").c_str(), 1);
    FaultyFileSystem disk;
    SummaryWriter writer(path("runs/a"));
    disk.stall();
    writer.addScalar("loss", 0.5F, 1);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const Outcome none = onLogin("recover runs");
  EXPECT_EQ(none.out, "nothing to recover\n");
  const Outcome outcome = asking("node2", "recover runs");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr(": 1 value recovered\n"));
  EXPECT_THAT(steptape("export runs --format csv").out, HasSubstr("loss"));
}

TEST(HostQuery, ReachesTheOtherMachineThroughAShell) {
  HostQuery query;
  query.recovers = true;
  query.directories = {"/runs/my run; echo $HOME", "/a"};
  query.jobs = {"70", "70_3"};
  query.launches = {1, 1ULL << 63};
  for (const std::string& word : query.encode()) {
    EXPECT_THAT(word, Not(ContainsRegex("[^a-zA-Z0-9=%/._-]")));
  }
  const HostQuery same = HostQuery::decode(query.encode());
  EXPECT_TRUE(same.recovers);
  EXPECT_EQ(same.directories, query.directories);
  EXPECT_EQ(same.jobs, query.jobs);
  EXPECT_EQ(same.launches, query.launches);
}

TEST(HostQuery, OfAnotherVersionIsRefused) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"version=0.0.1"}, {HostQuery().encode().front(), "what"}}) {
    EXPECT_THROW(HostQuery::decode(words), Error);
  }
}

TEST(HostAnswer, ThatIsCutOffOrDamagedIsRefused) {
  ::testing::internal::CaptureStdout();
  HostQuery query;
  query.jobs = {"a job that nobody has"};
  tools::answerAskingHost(query.encode());
  std::fflush(stdout);
  const std::string answer = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(tools::decodeAnswer("login: " + answer).views.empty());
  for (std::size_t bytes = 0; bytes < answer.size(); ++bytes) {
    EXPECT_THROW(tools::decodeAnswer(answer.substr(0, bytes)), Error) << bytes;
  }
  std::string damaged = answer;
  damaged[answer.size() / 2] = static_cast<char>(~damaged[answer.size() / 2]);
  EXPECT_THROW(tools::decodeAnswer(damaged), Error);
}

TEST(ParallelPrograms, EndInTheOrderOfTheirCommands) {
  std::vector<std::vector<std::string>> commands;
  commands.reserve(100);
  for (int i = 0; i < 100; ++i) {
    commands.push_back({"sh", "-c", "echo " + std::to_string(i) + "; exit " + std::to_string(i)});
  }
  const auto ends = tools::runAll(commands, std::chrono::seconds(60));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(ends.at(static_cast<std::size_t>(i)).exitCode, i);
    EXPECT_EQ(ends.at(static_cast<std::size_t>(i)).output, std::to_string(i) + "\n");
  }
}

TEST(ParallelPrograms, AreKilledWithTheirChildrenAfterTheirTime) {
  const auto ends = tools::runAll({{"sh", "-c", "sleep 1000 & sleep 1000"},
                                   {"sh", "-c", "echo fine"},
                                   {"/nowhere/program"},
                                   {"sh", "-c", "kill -TERM $$"}},
                                  std::chrono::seconds(3));
  EXPECT_EQ(ends.at(0).exitCode, -1);
  EXPECT_EQ(ends.at(0).problem, "no answer within 3 s");
  EXPECT_EQ(ends.at(1).output, "fine\n");
  EXPECT_EQ(ends.at(2).problem, "it could not be started");
  EXPECT_EQ(ends.at(3).exitCode, 128 + SIGTERM);
}

TEST(ParallelPrograms, DoNotWaitForAChildThatKeepsTheirOutput) {
  const auto ends =
      tools::runAll({{"sh", "-c", "sleep 1000 & echo done; exit 4"}}, std::chrono::seconds(500));
  EXPECT_EQ(ends.front().exitCode, 4);
  EXPECT_EQ(ends.front().output, "done\n");
}

TEST(ParallelPrograms, TellTheirLastLineOfErrors) {
  const auto ends =
      tools::runAll({{"sh", "-c", "echo one >&2; echo two >&2; exit 1"}}, std::chrono::seconds(60));
  EXPECT_EQ(ends.front().problem, "two");
}

}  // namespace
}  // namespace steptape
