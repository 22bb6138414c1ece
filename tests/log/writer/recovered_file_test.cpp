// SPDX-License-Identifier: Apache-2.0
//
// The event files that a recovery makes: where a killed process had ended a file and not yet begun
// the next one.
#include <csignal>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "log/writer/killed_run.h"
#include "log/writer/recovery.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::log::recoverRuns;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using RecoveredFileTest = KilledRunTest;

TEST_F(RecoveredFileTest, FollowsThoseThatTheProcessBeganLongAfterItsBox) {
  const int status = child([this] {
    WriterOptions options = lazy();
    options.maxFileBytes = 1;  // each flush ends a file
    options.clock = std::make_shared<testing::FakeClock>(4e9);
    SummaryWriter writer(run(), options);
    addLoss(&writer, 2);
    if (!writer.flush().ok()) {
      _exit(1);
    }
    // The pass that encodes a scalar also notes in the log that it has no file yet; the next pass
    // has begun after that.
    addLoss(&writer, 2);
    while (writer.stats().scalars < 3) {
      std::this_thread::yield();
    }
    addLoss(&writer, 1);
    while (writer.stats().scalars < 4) {
      std::this_thread::yield();
    }
    std::raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  expectNextWriterFindsEverything();
}

TEST_F(RecoveredFileTest, IsOneForEachWriterOfTheDirectory) {
  const int status = child([this] {
    SummaryWriter first(run(), lazy());
    SummaryWriter second(run(), lazy());
    first.addScalars("a", {{"sub", 1}}, 1);
    second.addScalars("a", {{"sub", 2}}, 2);
    std::raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  for (const auto& process : recoverRuns({run()}).processes) {
    EXPECT_THAT(process.problems, IsEmpty());
    EXPECT_EQ(process.values, 2U);
  }
  EXPECT_THAT(scalarsIn(run() + "/a/sub").at("a"), ElementsAre(Pair(1, 1.0F), Pair(2, 2.0F)));
}

}  // namespace
}  // namespace steptape
