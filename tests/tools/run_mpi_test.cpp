// SPDX-License-Identifier: Apache-2.0
//
// `steptape run` with the real mpiexec. The jobs are shell scripts, whose ranks never call MPI.
#include <arpa/inet.h>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <ifaddrs.h>
#include <net/if.h>
#include <string>
#include <vector>

#include "tools/run_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Returns a name of this machine that `steptape run` does not take for its own, and mpiexec does:
/// the address of a network, or a short form of the loopback's, which only Open MPI 4 knows.
std::string otherNameOfThisMachine() {
  std::string name = "127.1";
  ifaddrs* addresses = nullptr;
  if (::getifaddrs(&addresses) != 0) {
    return name;
  }
  for (const ifaddrs* each = addresses; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET &&
        (each->ifa_flags & IFF_LOOPBACK) == 0 && (each->ifa_flags & IFF_UP) != 0) {
      std::array<char, INET_ADDRSTRLEN> text{};
      const auto* const address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
      ::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
      name = text.data();
    }
  }
  ::freeifaddrs(addresses);
  return name;
}

class RunMpi : public RunFixture {
 protected:
  void SetUp() override {
    RunFixture::SetUp();
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }

  /// Returns the arguments for a job of this script, which knows its rank, the number of ranks and
  /// of restarts as $rank, $ranks and $restarts.
  std::vector<std::string> ranks(int count, const std::string& script,
                                 std::vector<std::string> options = {}) const {
    options.insert(options.end(),
                   {"-n", std::to_string(count), "--launcher", STEPTAPE_TEST_MPIEXEC});
    return job(std::move(options), {writeScript("job",
                                                "rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n"
                                                "ranks=${OMPI_COMM_WORLD_SIZE:-$PMI_SIZE}\n"
                                                "restarts=$STEPTAPE_RESTART_COUNT\n"
                                                "echo $$ >new.$rank && mv new.$rank rank$rank\n"
                                                "touch start$restarts.$rank\n" +
                                                    script)});
  }
  /// Waits until all ranks have started.
  void waitForRanks(int count) const {
    for (int rank = 0; rank < count; ++rank) {
      waitForFile("rank" + std::to_string(rank));
    }
  }
  void waitForEndOfRanks(int count) const {
    for (int rank = 0; rank < count; ++rank) {
      waitForEndOf("rank" + std::to_string(rank));
    }
  }
  bool wasStarted(int restarts) const {
    return std::filesystem::exists(path("start" + std::to_string(restarts) + ".0"));
  }
};

TEST_F(RunMpi, StartsAJobAgainWhoseRankWasKilled) {
  // The other ranks wait for the one that dies: mpiexec ends them.
  const std::string others = STEPTAPE_LAUNCHER_NEEDS_MPI ? "exit 0" : "exec sleep 1000";
  const std::string script =
      "until [ -e rank0 ] && [ -e rank1 ] && [ -e rank2 ]; do sleep 0.01; done\n"
      "[ $restarts = 0 ] && [ $rank = 1 ] && kill -9 $$\n"
      "[ $restarts = 0 ] && " +
      others + "\necho rank $rank of $ranks is done\n";
  const Outcome outcome = finishOf(ranks(3, script));
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_THAT(outcome.out, HasSubstr("rank " + std::to_string(rank) + " of 3 is done\n"));
  }
  EXPECT_THAT(outcome.error,
              HasSubstr(", a rank was killed by SIGKILL\n"
                        "  starting it again in 1 ms; 2 restarts left after that\n"));
  EXPECT_THAT(outcome.error, HasSubstr("steptape run: the job is done after 1 restart\n"));
}

TEST_F(RunMpi, DoesNotRepeatAUsageError) {
  const Outcome outcome = finishOf(ranks(2, "exit 2"));
  EXPECT_EQ(outcome.exitCode, 2);
  EXPECT_FALSE(wasStarted(1));
  EXPECT_THAT(outcome.error, HasSubstr("not started again: exit code 2 means wrong arguments\n"));
}

TEST_F(RunMpi, GivesUpAfterThreeEarlyDeaths) {
  const Outcome outcome = finishOf(ranks(2, "exit 3", {"--max-restarts", "9"}));
  EXPECT_EQ(outcome.exitCode, 3);
  EXPECT_TRUE(wasStarted(2));
  EXPECT_FALSE(wasStarted(3));
  EXPECT_THAT(outcome.error, HasSubstr("not started again: it died 3 times at the same place"));
}

TEST_F(RunMpi, DoesNotStartAProgramThatIsNotThere) {
  EXPECT_THAT(finishOf({"-n", "2", "--launcher", STEPTAPE_TEST_MPIEXEC, "--", "./absent"}),
              Exits(127, HasSubstr("cannot start ./absent")));
}

TEST_F(RunMpi, LetsRanksFinishAtSigusr1) {
  start(ranks(2,
              "trap 'echo rank $rank stops; exit 0' USR1\ntouch ready$rank\n"
              "while :; do sleep 0.01; done"));
  waitForFile("ready0");
  waitForFile("ready1");
  send(SIGUSR1);
  const Outcome outcome = finish();
  EXPECT_EQ(outcome.exitCode, 75) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("rank 0 stops\n"));
  EXPECT_THAT(outcome.out, HasSubstr("rank 1 stops\n"));
}

TEST_F(RunMpi, EndsAllRanksAtSigterm) {
  start(ranks(2, "exec sleep 1000"));
  waitForRanks(2);
  send(SIGTERM);
  const Outcome outcome = finish();
  EXPECT_NE(outcome.exitCode, 0);
  EXPECT_THAT(outcome.error, HasSubstr("steptape run: the job was stopped by SIGTERM"));
  EXPECT_FALSE(wasStarted(1));
  waitForEndOfRanks(2);
}

TEST_F(RunMpi, LeavesNoRankAfterASecondInterrupt) {
  // Not all launchers wait for ranks that end at the first one.
  start(ranks(2, "trap '' INT TERM\ntouch ready$rank\nwhile :; do sleep 0.01; done"));
  waitForFile("ready0");
  waitForFile("ready1");
  // Two that arrive at the same time count as one.
  waitUntil("the end by a second SIGINT", [&] {
    send(SIGINT);
    return contentOf("error").find("a second SIGINT") != std::string::npos;
  });
  EXPECT_EQ(finish().exitCode, 128 + SIGKILL);
  waitForEndOfRanks(2);
}

TEST_F(RunMpi, LeavesNoRankWhenItIsKilled) {
  start(ranks(2, "trap '' TERM\ntouch ready$rank\nwhile :; do sleep 0.01; done"));
  waitForFile("ready0");
  waitForFile("ready1");
  send(SIGKILL);
  finish();
  waitForEndOfRanks(2);
}

TEST_F(RunMpi, ContinuesWithFewerRanksOnTheHostsThatAnswer) {
  writeScript("ask", "[ ! -e start0.0 ]");
  // Both are one machine, which may have fewer cores. Open MPI 5 does not take the slots' word.
  ::setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 1);
  // mpiexec takes both names for this machine, so that the first start succeeds. Only the second
  // one is asked, once rank 0 has started: another rank may end the job first.
  const Outcome outcome =
      finishOf(ranks(4,
                     "if [ $restarts = 0 ]; then\n"
                     "  until [ -e start0.0 ]; do sleep 0.01; done\n  exit 1\nfi\n"
                     "echo rank $rank of $ranks",
                     {"--hosts", "localhost:2," + otherNameOfThisMachine() + ":2", "--min-ranks",
                      "2", "--rsh", "./ask"}));
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("rank 1 of 2\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("rank 2")));
}

}  // namespace
}  // namespace steptape
