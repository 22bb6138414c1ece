// SPDX-License-Identifier: Apache-2.0
#include "process/commands/event_command.h"

#include <chrono>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/ranks/testing.h"

#include "support/content_of.h"

#include <gmock/gmock.h>

namespace steptape::detail::process {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr std::chrono::seconds kLong{60};

class EventCommandTest : public ::testing::Test {
 protected:
  EventCommand::Options options(const std::string& command) {
    EventCommand::Options options;
    options.command = command;
    options.onProblem = [this](const std::string& problem) {
      const std::lock_guard<std::mutex> lock(mutex_);
      problems_.push_back(problem);
    };
    return options;
  }
  /// Appends each document to a file.
  std::string appends() const { return "cat >> '" + file_ + "'"; }
  std::vector<nlohmann::json> documents() const {
    std::vector<nlohmann::json> documents;
    std::istringstream lines(test::contentOf(file_));
    for (std::string line; std::getline(lines, line);) {
      documents.push_back(nlohmann::json::parse(line));
    }
    return documents;
  }
  std::vector<std::string> problems() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return problems_;
  }

  const testing::TempDir directory_;
  const std::string file_ = directory_.string() + "/documents";

 private:
  std::mutex mutex_;
  std::vector<std::string> problems_;
};

TEST_F(EventCommandTest, GivesOneDocumentForEachEventInOrder) {
  EventCommand command(options(appends()));
  command.post("started", "the run has \"begun\"", "runs/demo");
  command.post("finding", "loss: got NaN", "runs/demo", ", \"step\": 7");
  EXPECT_TRUE(command.drain(kLong));
  const auto all = documents();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].at("event"), "started");
  EXPECT_EQ(all[0].at("message"), "the run has \"begun\"");
  EXPECT_EQ(all[0].at("run"), "runs/demo");
  EXPECT_EQ(all[0].at("process"), ::getpid());
  EXPECT_TRUE(all[0].at("host").is_string());
  EXPECT_GT(all[0].at("time"), 1e9);
  EXPECT_EQ(all[1].at("step"), 7);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(EventCommandTest, KillsAProgramThatHangsAndCallsTheNextOne) {
  EventCommand::Options given = options("sleep 1000 & wait");
  given.timeout = std::chrono::milliseconds(50);
  EventCommand command(given);
  command.post("a", "", "");
  command.post("b", "", "");
  EXPECT_TRUE(command.drain(kLong));
  EXPECT_THAT(problems(),
              ElementsAre("event command \"sleep 1000 & wait\": got no end; expected one within 50 "
                          "ms; killed"))
      << "each problem is reported once";
}

TEST_F(EventCommandTest, ReportsAProgramThatFailsOrDoesNotExist) {
  EventCommand command(options("exec /no/such/program 2> /dev/null"));
  command.post("a", "", "");
  EXPECT_TRUE(command.drain(kLong));
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("got exit code 127; expected exit code 0")));
}

TEST_F(EventCommandTest, NeedsNoReader) {
  EventCommand command(options("exit 0"));
  command.post("a", std::string(1 << 20, 'x'), "");
  EXPECT_TRUE(command.drain(kLong));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(EventCommandTest, LeavesOutWhatIsTooMuchAndCountsIt) {
  EventCommand::Options given = options(appends());
  given.mostPerMinute = 2;
  EventCommand command(given);
  for (int i = 0; i < 5; ++i) {
    command.post("finding", std::to_string(i), "");
  }
  command.post("ended", "", "", {}, /*isRare=*/true);
  EXPECT_TRUE(command.drain(kLong));
  const auto all = documents();
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[1].at("message"), "1");
  EXPECT_EQ(all[2].at("event"), "ended");
  EXPECT_EQ(all[2].at("omitted"), 3);
}

TEST_F(EventCommandTest, TellsAtTheEndHowManyEventsWereLeftOut) {
  EventCommand::Options given = options(appends());
  given.mostPerMinute = 2;
  EventCommand command(given);
  for (int i = 0; i < 5; ++i) {
    command.post("finding", std::to_string(i), "");
  }
  EXPECT_TRUE(command.drain(kLong));
  const auto all = documents();
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[2].at("event"), "omitted");
  EXPECT_EQ(all[2].at("omitted"), 3);
  EXPECT_EQ(all[2].at("message"), "3 events left out: got more than 2 events in a minute");
  EXPECT_TRUE(command.drain(kLong));
  EXPECT_THAT(documents(), SizeIs(3)) << "told once";
}

TEST_F(EventCommandTest, IsGivenUpAfterTheTimeThatItsEndMayTakeWhichIsReported) {
  EventCommand command(options("touch '" + file_ + "'; sleep 1000"));
  command.post("a", "", "");
  command.post("b", "", "");
  command.post("c", "", "");
  while (!std::filesystem::exists(file_)) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(command.drain(std::chrono::milliseconds(20)));
  EXPECT_THAT(problems(),
              UnorderedElementsAre(HasSubstr("got no end; expected one within "),
                                   HasSubstr("2 events not told: got no end of the one before")));
}

TEST_F(EventCommandTest, IsGivenUpWhenItsCallerNoLongerWaits) {
  EventCommand command(options("sleep 1000"));
  command.post("a", "", "");
  EXPECT_FALSE(command.drain(kLong, [] { return false; }));
}

TEST_F(EventCommandTest, TakesTheStatusFromAProcessThatWaitsForAllOfItsChildren) {
  EventCommand command(options("exit 7"));
  command.post("a", "", "");
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, &status, 0)) < 0) {
    std::this_thread::yield();  // it has not been started
  }
  command.noteEnd(ended, status);
  EXPECT_TRUE(command.drain(kLong));
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("got exit code 7; expected exit code 0")));
}

TEST_F(EventCommandTest, DoesNothingInAForkedChild) {
  EventCommand command(options(appends()));
  const pid_t child = ::fork();
  if (child == 0) {
    command.post("child", "", "");
    std::_Exit(command.drain(kLong) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  command.post("parent", "", "");
  EXPECT_TRUE(command.drain(kLong));
  EXPECT_THAT(documents(), SizeIs(1));
}

}  // namespace
}  // namespace steptape::detail::process
