// SPDX-License-Identifier: Apache-2.0
// Starts that go wrong: every rank says why, soon after its time limit at the latest.

#include <arpa/inet.h>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "steptape/ranks/testing.h"

#include "ranks/communicator/launch.h"
#include "support/job.h"
#include "support/other_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::JobEnd;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

/// A port of this machine, with nobody who serves it, or with somebody who never answers.
class Port {
 public:
  /// @param number 0: any. Of one that is taken, name() is "0".
  explicit Port(bool listens, int number = 0) {
    socket_ = socket(AF_INET6, SOCK_STREAM, 0);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    socklen_t length = sizeof address;
    address.sin6_port = htons(static_cast<std::uint16_t>(number));
    if (bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      return;
    }
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    number_ = ntohs(address.sin6_port);
    if (listens) {
      EXPECT_EQ(listen(socket_, 100), 0);
    } else {
      close(socket_);
      socket_ = -1;
    }
  }
  ~Port() {
    if (socket_ >= 0) {
      close(socket_);
    }
  }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  std::string name() const { return std::to_string(number_); }

 private:
  int socket_ = -1;
  int number_ = 0;
};

const std::string kProgram = "'" STEPTAPE_START_PROGRAM "'";

/// Returns the shell command that starts one rank.
std::string rankOf(int rank, int size, const std::string& port,
                   const std::string& host = "localhost") {
  return "RANK=" + std::to_string(rank) + " WORLD_SIZE=" + std::to_string(size) +
         " MASTER_ADDR=" + host + " MASTER_PORT=" + port + " ";
}

/// The same, as srun starts it in a step of a job.
std::string taskOf(int rank, int size, const std::string& job, const std::string& port = "") {
  return "SLURM_PROCID=" + std::to_string(rank) + " SLURM_STEP_NUM_TASKS=" + std::to_string(size) +
         " SLURM_JOB_ID=" + job + " SLURM_STEP_ID=0 MASTER_ADDR=localhost " +
         (port.empty() ? "" : "MASTER_PORT=" + port + " ");
}

/// Returns the port at which the ranks of that step meet.
int portOfJob(const std::string& job) {
  const std::map<std::string, std::string> variables = {{"SLURM_PROCID", "0"},
                                                        {"SLURM_STEP_NUM_TASKS", "2"},
                                                        {"SLURM_JOB_ID", job},
                                                        {"SLURM_STEP_ID", "0"},
                                                        {"MASTER_ADDR", "localhost"}};
  return detail::ranks::findLaunch({},
                                   [&variables](const char* name) {
                                     const auto found = variables.find(name);
                                     return found == variables.end() ? nullptr
                                                                     : found->second.c_str();
                                   })
      .port;
}

JobEnd runScript(const std::string& script) {
  return test::runJob("bash -c \"" + script + "\"");
}

double secondsOf(const std::chrono::steady_clock::time_point& start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Far more than the limit of a test that is to end by its time limit of 2 s.
constexpr double kSoon = 20;

TEST(C10dStart, WithoutAServerSaysWhereItWasExpected) {
  const Port port(/*listens=*/false);
  const auto start = std::chrono::steady_clock::now();
  const JobEnd job = runScript(rankOf(1, 2, port.name()) + kProgram + " 2000");
  EXPECT_EQ(job.exitCode, 1) << job.output;
  EXPECT_THAT(job.output, HasSubstr("rank 1: "));
  EXPECT_THAT(job.output,
              HasSubstr("the store at localhost:" + port.name() + " (MASTER_ADDR:MASTER_PORT)"));
  EXPECT_LT(secondsOf(start), kSoon);
}

TEST(C10dStart, AtAServerThatDoesNotAnswerEndsByTheTimeLimit) {
  const Port port(/*listens=*/true);
  const auto start = std::chrono::steady_clock::now();
  const JobEnd job = runScript(rankOf(1, 2, port.name()) + kProgram + " 2000");
  EXPECT_EQ(job.exitCode, 1) << job.output;
  EXPECT_THAT(job.output, HasSubstr("the store at localhost:" + port.name()));
  EXPECT_LT(secondsOf(start), kSoon);
}

TEST(C10dStart, OfAServerWhosePortIsTakenSaysSo) {
  const Port port(/*listens=*/true);
  const JobEnd job = runScript(rankOf(0, 2, port.name()) + kProgram + " 2000");
  EXPECT_EQ(job.exitCode, 1) << job.output;
  EXPECT_THAT(job.output,
              HasSubstr("rank 0: rank 0 cannot serve the store at localhost:" + port.name()));
}

TEST(C10dStart, AtAnAddressThatDoesNotResolveSaysSo) {
  const JobEnd job = runScript(rankOf(1, 2, "29500", "no-such-host.invalid") + kProgram + " 1000");
  EXPECT_EQ(job.exitCode, 1) << job.output;
  EXPECT_THAT(job.output, ContainsRegex("rank 1: the name of the host \"no-such-host.invalid\" "
                                        "\\(MASTER_ADDR\\) did not resolve within 1 s: "));
}

TEST(C10dStart, OfARankWithoutTheOthersNamesThem) {
  const Port port(/*listens=*/false);
  const JobEnd job = runScript(rankOf(0, 3, port.name()) + kProgram + " 2000");
  EXPECT_EQ(job.exitCode, 1) << job.output;
  EXPECT_THAT(job.output, HasSubstr("rank 0: the start of the job: ranks 1, 2 of 3 did not come to "
                                    "the store within 2 s"));
}

TEST(C10dStart, OfRanksWithDifferentNumbersNamesTheDifference) {
  const Port port(/*listens=*/false);
  const JobEnd job = runScript(rankOf(0, 2, port.name()) + kProgram + " 20000 & " +
                               rankOf(1, 3, port.name()) + kProgram + " 20000; wait");
  for (const char* const rank : {"rank 0: ", "rank 1: "}) {
    EXPECT_THAT(job.output,
                ContainsRegex(rank + std::string("the start of the job: rank 1 \\([^)]*\\): got a "
                                                 "job of 3 ranks; expected a job of 2 ranks as "
                                                 "rank 0")));
  }
}

TEST(C10dStart, OfRanksOfDifferentBuildsNamesTheDifference) {
  const testing::TempDir dir;
  const std::string other = test::programOfAnotherBuild(STEPTAPE_START_PROGRAM, dir.string());
  const Port port(/*listens=*/false);
  const JobEnd job = runScript(rankOf(0, 2, port.name()) + kProgram + " 20000 & " +
                               rankOf(1, 2, port.name()) + other + " 20000; wait");
  for (const char* const rank : {"rank 0: ", "rank 1: "}) {
    EXPECT_THAT(job.output, ContainsRegex(std::string(rank) + test::kOtherBuildOfRank1));
  }
}

TEST(C10dStart, AtAStoreWithTheKeysOfEarlierStartsIgnoresThem) {
  const Port port(/*listens=*/false);
  const testing::TempDir directory;
  const std::string served = "export TORCHELASTIC_USE_AGENT_STORE=True; ";
  const std::string zero = rankOf(0, 2, port.name()) + kProgram + " 20000";
  const std::string one = rankOf(1, 2, port.name()) + kProgram + " 20000";
  // A start that works; one whose rank 0 never comes, one whose rank 1 does not; two that work.
  const JobEnd job = runScript(
      served + "HOLD=" + directory.string() + "/hold; mkfifo \\$HOLD; MASTER_PORT=" + port.name() +
      " " + kProgram + " serve < \\$HOLD & exec 3> \\$HOLD; sleep 1; " + one + " & " + zero +
      "; wait \\$!; " + rankOf(1, 2, port.name()) + kProgram + " 300; " +
      rankOf(0, 2, port.name()) + kProgram + " 300; " + zero + " & " + one + "; wait \\$!; " + one +
      " & " + zero + "; wait \\$!; exec 3>&-; wait");
  std::size_t joined = 0;
  for (std::size_t at = 0; (at = job.output.find(" of 2 has joined", at)) != std::string::npos;
       ++at) {
    ++joined;
  }
  EXPECT_EQ(joined, 6U) << job.output;
  EXPECT_THAT(job.output, HasSubstr("rank 1: the start of the job: rank 0 of 2 did not come"));
  EXPECT_THAT(job.output, HasSubstr("rank 0: the start of the job: rank 1 of 2 did not come"));
}

TEST(C10dStart, OfTwoJobsWithOnePortKeepsThemApart) {
  const Port port(/*listens=*/false);
  const testing::TempDir directory;
  // Rank 0 of job 41 serves; rank 1 of job 42 comes to it before rank 1 of job 41 does, which waits
  // until rank 0 of job 42 has found the port taken.
  const JobEnd job = runScript(
      taskOf(0, 2, "41", port.name()) + kProgram + " 60000 & " + taskOf(1, 2, "42", port.name()) +
      kProgram + " 60000 & " + "wait -n; " + taskOf(0, 2, "42", port.name()) + kProgram +
      " 2000; " + taskOf(1, 2, "41", port.name()) + kProgram + " 60000; wait");
  EXPECT_THAT(job.output, HasSubstr("rank 0 of 2 has joined"));
  EXPECT_THAT(job.output, HasSubstr("rank 1 of 2 has joined"));
  EXPECT_THAT(
      job.output,
      ContainsRegex("rank 1: the store at localhost:" + port.name() +
                    " \\(MASTER_ADDR:MASTER_PORT\\): got process [0-9]+ on [^ ]+ of step 0 of "
                    "job 41 of Slurm, user [0-9]+, whose job is another one; expected rank 0 "
                    "of the job of rank 1, process [0-9]+ on [^ ]+ of step 0 of job 42"));
  EXPECT_THAT(job.output,
              ContainsRegex("rank 0: rank 0 cannot serve the store at localhost:" + port.name() +
                            " \\(MASTER_ADDR:MASTER_PORT\\): got a port that is held by process "
                            "[0-9]+ on [^ ]+ of step 0 of job 41 of Slurm"));
}

TEST(C10dStart, AtAPortThatNobodyChoseTakesAnotherIfItIsTaken) {
  // A job whose port another service holds.
  std::unique_ptr<Port> port;
  std::string job;
  for (int number = 1; port == nullptr || port->name() == "0"; ++number) {
    job = std::to_string(number);
    port = std::make_unique<Port>(/*listens=*/true, portOfJob(job));
  }
  const JobEnd end = runScript(taskOf(1, 2, job) + kProgram + " 60000 & " + taskOf(0, 2, job) +
                               kProgram + " 60000; wait");
  EXPECT_THAT(end.output, HasSubstr("rank 0 of 2 has joined"));
  EXPECT_THAT(end.output, HasSubstr("rank 1 of 2 has joined"));
}

TEST(C10dStart, UnderMpiexecAloneIsRefused) {
  const JobEnd job = runScript(
      "export RANK=; unset RANK; OMPI_COMM_WORLD_RANK=0 "
      "OMPI_COMM_WORLD_SIZE=2 RANK= " +
      kProgram + " 2000 || true");
  EXPECT_THAT(job.output, HasSubstr("MPI's launcher has started this process"));
}

}  // namespace
}  // namespace steptape
