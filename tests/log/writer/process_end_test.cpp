// SPDX-License-Identifier: Apache-2.0
//
// The files of a run when its process is killed, forks, or ends before its writer.
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "log/writer/child_process.h"
#include "log/writer/run_contents.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::SizeIs;

TEST(ProcessEnd, AKilledProcessLosesNothingThatItFlushed) {
  for (int kill9 = 0; kill9 < 20; ++kill9) {
    testing::TempDir dir;
    const int status = runInChild([&dir, kill9] {
      SummaryWriter writer(dir.string());
      for (std::int64_t step = 0; step < 1000; ++step) {
        writer.addScalar("flushed", 1, step);
      }
      writer.addText("text", "flushed", 0);
      if (!writer.flush().ok()) {
        std::exit(1);
      }
      for (std::int64_t step = 0; step < 100 * kill9; ++step) {
        writer.addScalar("later", 1, step);
      }
      raise(SIGKILL);
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    // eventsOf() fails the test if anything but complete records is in the file.
    EXPECT_THAT(scalarsIn(dir.string()).at("flushed"), SizeIs(1000));
  }
}

TEST(ProcessEnd, AnUncaughtExceptionLosesNothing) {
  testing::TempDir dir;
  const int status = runInChild([&dir] {
    SummaryWriter writer(dir.string());
    writer.addHparams({{"lr", 0.1}});
    for (std::int64_t step = 0; step < 1000; ++step) {
      writer.addScalar("a", 1, step);
    }
    std::thread([] { throw std::runtime_error("nobody catches this"); }).join();
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
  EXPECT_THAT(scalarsIn(dir.string()).at("a"), SizeIs(1000));
  HparamsContent end;
  for (const event::Value& value : valuesIn(dir.string())) {
    if (value.tag == "_hparams_/session_end_info") {
      ASSERT_TRUE(decodeHparamsContent(value.metadata->pluginContent, &end).ok());
    }
  }
  ASSERT_TRUE(std::holds_alternative<HparamsSessionEnd>(end));
  EXPECT_EQ(std::get<HparamsSessionEnd>(end).status, SessionStatus::kFailure);
}

TEST(ProcessEnd, AForkedChildsCallsDoNothingAndDoNotHang) {
  testing::TempDir dir;
  SummaryWriter writer(dir.string());
  const ScalarTag tag = writer.scalarTag("parent");
  writer.addScalar(tag, 1, 0);
  const int status = runInChild([&writer, tag] {
    writer.addScalar(tag, 1, 100);
    writer.addScalar("child", 1, 100);
    writer.atStep(100).add("child", 1);
    writer.addText("child", "x", 100);
    const bool refused = !writer.flush().ok() && writer.close().ok();
    std::_Exit(refused ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  writer.addScalar(tag, 1, 1);
  ASSERT_TRUE(writer.close().ok());
  EXPECT_THAT(scalarsIn(dir.string()), SizeIs(1));
  EXPECT_THAT(scalarsIn(dir.string()).at("parent"), SizeIs(2));
}

TEST(ProcessEnd, AForkedChildCanWriteItsOwnRun) {
  testing::TempDir dir;
  SummaryWriter writer(dir.string() + "/parent");
  writer.addScalar("a", 1, 0);
  const int status = runInChild([&dir] {
    SummaryWriter own(dir.string() + "/child");
    own.addScalar("b", 1, 0);
    const bool ok = own.close().ok();
    std::_Exit(ok ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(writer.close().ok());
  EXPECT_THAT(scalarsIn(dir.string() + "/child").at("b"), SizeIs(1));
  EXPECT_THAT(scalarsIn(dir.string() + "/parent").at("a"), SizeIs(1));
}

TEST(ProcessEnd, AWriterWithStaticStorageWritesEverythingAtExit) {
  testing::TempDir dir;
  const int status = runInChild([&dir] {
    static SummaryWriter writer(dir.string());
    writer.addScalar("a", 1, 0);
    writer.addScalars("sub", {{"run", 1}}, 0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(scalarsIn(dir.string()).at("a"), SizeIs(1));
  EXPECT_THAT(scalarsIn(dir.string() + "/sub/run").at("sub"), SizeIs(1));
}

TEST(ProcessEnd, APointOfAnEndedThreadIsWritten) {
  testing::TempDir dir;
  SummaryWriter writer(dir.string());
  for (int thread = 0; thread < 50; ++thread) {
    std::thread([&writer, thread] { writer.addScalar("a", 1, thread); }).join();
  }
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_THAT(scalarsIn(dir.string()).at("a"), SizeIs(50));
}

TEST(ProcessEnd, AThreadLocalObjectMayLogWhenItsThreadEnds) {
  struct LogsAtTheEnd {
    SummaryWriter* writer = nullptr;
    ~LogsAtTheEnd() { writer->addScalar("last", 1, 0); }
  };
  testing::TempDir dir;
  SummaryWriter writer(dir.string());
  std::thread([&writer] {
    static thread_local LogsAtTheEnd last;
    last.writer = &writer;
    writer.addScalar("first", 1, 0);
  }).join();
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_THAT(scalarsIn(dir.string()), SizeIs(2));
}

}  // namespace
}  // namespace steptape
