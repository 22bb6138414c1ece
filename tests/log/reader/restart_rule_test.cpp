// SPDX-License-Identifier: Apache-2.0
#include "log/reader/restart_rule.h"

#include <gtest/gtest.h>

namespace steptape::detail::log {
namespace {

TEST(RestartRule, RegardsFilesAsOldUntilAVersion) {
  RestartRule rule(PurgePolicy::kRestarts);
  EXPECT_FALSE(rule.knowsVersion());
  EXPECT_TRUE(rule.watchesSteps());
  EXPECT_FALSE(rule.takeStart());
  rule.takeVersion(true);
  EXPECT_TRUE(rule.knowsVersion());
  EXPECT_FALSE(rule.watchesSteps());
  EXPECT_TRUE(rule.takeStart());
}

TEST(RestartRule, ObeysEveryStart) {
  RestartRule rule(PurgePolicy::kRestarts);
  rule.takeVersion(true);
  EXPECT_TRUE(rule.takeStart());
  EXPECT_TRUE(rule.takeStart());
}

TEST(RestartRule, ObeysAllStartsButTheFirstAsTensorBoardsServerDoes) {
  RestartRule rule(PurgePolicy::kTensorBoardServer);
  rule.takeVersion(true);
  EXPECT_FALSE(rule.takeStart());
  EXPECT_TRUE(rule.takeStart());
  EXPECT_TRUE(rule.takeStart());
}

TEST(RestartRule, CountsNoStartOfAnOldFileAsTheFirst) {
  RestartRule rule(PurgePolicy::kTensorBoardServer);
  EXPECT_FALSE(rule.takeStart());
  rule.takeVersion(true);
  EXPECT_FALSE(rule.takeStart());
  EXPECT_TRUE(rule.takeStart());
}

TEST(RestartRule, WatchesStepsAgainIfAnOldFileFollows) {
  RestartRule rule(PurgePolicy::kTensorBoardServer);
  rule.takeVersion(true);
  rule.takeVersion(false);
  EXPECT_TRUE(rule.watchesSteps());
  EXPECT_FALSE(rule.takeStart());
}

TEST(RestartRule, DiscardsNothingUnderPolicyNone) {
  RestartRule rule(PurgePolicy::kNone);
  EXPECT_FALSE(rule.watchesSteps());
  EXPECT_FALSE(rule.takeStart());
  EXPECT_FALSE(rule.takeStart());
  rule.takeVersion(false);
  EXPECT_FALSE(rule.watchesSteps());
  EXPECT_FALSE(rule.takeStart());
}

TEST(RestartRule, TakesFilesForNewIfTheirVersionMayHaveBeenDamaged) {
  RestartRule rule(PurgePolicy::kRestarts);
  rule.takeDamage();
  EXPECT_TRUE(rule.knowsVersion());
  EXPECT_FALSE(rule.watchesSteps());
  EXPECT_TRUE(rule.takeStart());
}

TEST(RestartRule, KeepsAKnownVersionAfterDamage) {
  RestartRule rule(PurgePolicy::kRestarts);
  rule.takeVersion(false);
  rule.takeDamage();
  EXPECT_TRUE(rule.watchesSteps());
}

}  // namespace
}  // namespace steptape::detail::log
