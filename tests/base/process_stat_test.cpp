// SPDX-License-Identifier: Apache-2.0
#include "base/process_stat.h"

#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::base::isDying;
using detail::base::readProcessStat;

TEST(ProcessStat, TellsTheParentAndTheStart) {
  const auto self = readProcessStat("self");
  ASSERT_TRUE(self);
  EXPECT_EQ(self->parent, getppid());
  EXPECT_GT(self->start, 0U);
  EXPECT_EQ(readProcessStat(std::to_string(getpid()))->start, self->start);
}

TEST(ProcessStat, TellsThatAProcessIsStoppedOrHasEnded) {
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_TRUE(readProcessStat(std::to_string(child))->isStopped());
  EXPECT_FALSE(readProcessStat(std::to_string(child))->hasEnded());
  EXPECT_FALSE(isDying(std::to_string(child)));
  kill(child, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(readProcessStat(std::to_string(child))->hasEnded());
  EXPECT_TRUE(isDying(std::to_string(child)));
  waitpid(child, &status, 0);
  EXPECT_FALSE(readProcessStat(std::to_string(child)));
}

}  // namespace
}  // namespace steptape
