// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <thread>

#include "steptape/process/zone.h"

#include "metrics/hang_job.h"
#include "process/blackbox/state_queries.h"
#include "support/content_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::HangWatchdogTest;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(HangWatchdogTest, EndsTheJobAtTheThreadThatHangs) {
  HangWatchdogOptions options = impatient();
  options.endJob = true;
  const int status = train(options, noteStep, [&](HangWatchdog&) {
    std::thread([] {
      STEPTAPE_ZONE("waits for ever");
      std::this_thread::sleep_for(std::chrono::seconds(50));
    }).join();
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  EXPECT_THAT(test::contentOf(told()), HasSubstr("the job ends now"));
  const detail::process::RankState last = state();
  EXPECT_EQ(last.death.signal, SIGABRT);
  EXPECT_THAT(last.lastError, StartsWith("no step has ended for "));
  ASSERT_FALSE(last.threads.empty());
  EXPECT_EQ(last.death.tid, detail::process::mainThread(last)->tid);
  EXPECT_NE(last.death.tid, last.process.pid);
}

}  // namespace
}  // namespace steptape
