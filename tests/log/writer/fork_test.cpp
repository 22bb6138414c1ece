// SPDX-License-Identifier: Apache-2.0
//
// fork() while other threads log: the child must not hang on locks that they held.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "log/writer/child_process.h"
#include "log/writer/run_contents.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::SizeIs;

TEST(Fork, WhileThreadsLogNeverHangs) {
  testing::TempDir dir;
  SummaryWriter writer(dir.string());
  std::atomic<bool> ended{false};
  std::atomic<std::int64_t> logged{0};
  std::thread logger([&] {
    for (std::int64_t step = 0; !ended; ++step) {
      writer.addScalar("a", 1, step);
      logged = step + 1;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(runInChild([&writer] {
                writer.addScalar("child", 1, 0);
                std::_Exit(0);
              }),
              0);
  }
  ended = true;
  logger.join();
  ASSERT_TRUE(writer.close().ok());
  EXPECT_THAT(scalarsIn(dir.string()).at("a"), SizeIs(static_cast<std::size_t>(logged)));
}

}  // namespace
}  // namespace steptape
