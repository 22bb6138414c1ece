// SPDX-License-Identifier: Apache-2.0
// Curves in time: that change, repeat, stop, are resumed or out of order.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "log/curves/curve_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CurveCourseTest : public CurveFixture {};

TEST_F(CurveCourseTest, ReportsALossThatDoesNotChangeAnyMore) {
  addCurve("loss", 0, 100, [&](double step) { return loss(step); });
  addCurve("loss", 100, 400, [](double) { return 0.693; });
  const std::vector<CurveFinding> findings = check_.finish();
  ASSERT_THAT(textsOf(findings), ElementsAre("no-change of loss at 199"));
  EXPECT_EQ(findings[0].message,
            "got 100 points of 0.693 in a row up to step 199; expected a change");
}

TEST_F(CurveCourseTest, TakesSettingsAndBestScoresForNoStandstill) {
  addCurve("lr", 0, 400, [](double) { return 0.1; });
  addCurve("memory_gb", 0, 400, [](double) { return 40; });
  addCurve("aux_loss", 0, 400, [](double) { return 0; });
  addCurve("accuracy", 0, 100, [](double step) { return step / 100; });
  addCurve("accuracy", 100, 400, [](double) { return 1; });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(CurveCourseTest, ReportsAScoreThatNeverChanged) {
  addCurve("accuracy", 0, 150, [](double) { return 0.1; });
  EXPECT_THAT(textsOf(check_.finish()), ElementsAre("no-change of accuracy at 99"));
}

TEST_F(CurveCourseTest, ReportsATagThatStoppedWhileOthersGoOn) {
  addCurve("loss", 0, 1000, [&](double step) { return loss(step); });
  addCurve("grad_norm", 0, 400, [&](double) { return 1 + 0.1 * noise(); });
  const std::vector<CurveFinding> findings = check_.finish();
  ASSERT_THAT(textsOf(findings), ElementsAre("stopped of grad_norm at 399"));
  EXPECT_EQ(
      findings[0].message,
      "got no point after step 399 for 600 s, while loss goes on; expected one at least every "
      "1 s, as before");
}

TEST_F(CurveCourseTest, TakesPhasesOfAProgramForNoStop) {
  addCurve("warmup/loss", 0, 300, [&](double step) { return loss(step); });
  addCurve("train/loss", 300, 2000, [&](double step) { return loss(step); });
  addCurve("test/loss", 2000, 2600, [&](double) { return 1 + 0.1 * noise(); });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(CurveCourseTest, BeginsAnewAfterARestart) {
  addCurve("loss", 0, 500, [&](double step) { return 10 + 0.1 * loss(step); });
  addCurve("loss", 0, 40, [&](double step) { return 100 + 0.1 * loss(step); });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(CurveCourseTest, ReportsATagThatStoppedAfterARunWasResumed) {
  constexpr double kPause = 3600;
  for (std::int64_t step = 0; step < 6000; ++step) {
    const double time = 1e9 + static_cast<double>(step) + (step < 300 ? 0 : kPause);
    check_.add("loss", step, loss(static_cast<double>(step)), time);
    if (step < 400) {
      check_.add("grad_norm", step, 1 + 0.1 * noise(), time + 0.25);
    }
  }
  const std::vector<CurveFinding> findings = check_.finish();
  ASSERT_THAT(textsOf(findings), ElementsAre("stopped of grad_norm at 399"));
  EXPECT_THAT(findings[0].message, HasSubstr("expected one at least every 1"));
}

TEST_F(CurveCourseTest, TakesAPauseOfTheWholeRunForNoStop) {
  constexpr double kPause = 3600;
  for (std::int64_t step = 0; step < 330; ++step) {
    const double time = 1e9 + static_cast<double>(step) + (step < 300 ? 0 : kPause);
    check_.add("loss", step, loss(static_cast<double>(step)), time);
    if (step % 10 == 9 && step < 300) {
      check_.add("evaluations", step, noise(), time);
    }
  }
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(CurveCourseTest, JudgesStepsThatAreSlightlyOutOfOrder) {
  std::uniform_int_distribution<std::int64_t> late(0, 30);
  for (std::int64_t i = 0; i < 2000; ++i) {
    const double value = i == 1000 ? 1e6 : i < 1500 ? loss(static_cast<double>(i)) : 0.5;
    check_.add("loss", 10 * i + late(random_), value, 1e9 + static_cast<double>(i));
  }
  std::vector<CurveRule> rules;
  for (const CurveFinding& finding : check_.finish()) {
    rules.push_back(finding.rule);
  }
  EXPECT_THAT(rules, ElementsAre(CurveRule::kSpike, CurveRule::kNoChange));
}

TEST_F(CurveCourseTest, TakesTheBestValueSoFarForNoStandstill) {
  double best = 9;
  addCurve("best/val_loss", 0, 3000,
           [&](double step) { return best = std::min(best, loss(step)); });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(CurveCourseTest, TakesAValidationThatIsLoggedAtEachStepForNoStandstill) {
  addCurve("val_loss", 0, 3000, [](double step) { return 1 + std::exp(-std::floor(step / 250)); });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(CurveCourseTest, ReportsAValidationThatNeverChanges) {
  addCurve("val_loss", 0, 3000, [](double) { return 0.693; });
  EXPECT_THAT(textsOf(check_.finish()), ElementsAre("no-change of val_loss at 999"));
}

TEST_F(CurveCourseTest, TakesAJumpForNoSpike) {
  addCurve("loss", 0, 1000, [&](double step) {
    return (step < 500 ? 0.02 : 2.3 * std::exp(-(step - 500) / 100)) * (1 + 0.2 * noise());
  });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(CurveCourseTest, TakesRareRewardsAndASmallLastBatchForNoSpike) {
  addCurve("reward", 0, 2000, [](double step) {
    return std::fmod(step, 1000) == 900 ? 2500 : std::fmod(step, 10) < 1 ? 100 : 0;
  });
  addCurve("returns", 0, 2000,
           [&](double step) { return (step == 900 ? 100 : 1) * (5 + noise()); });
  addCurve("loss_sum", 0, 2000,
           [&](double step) { return (std::fmod(step, 391) == 390 ? 0.3 : 1) * (100 + noise()); });
  addCurve("triplet", 0, 2000,
           [&](double step) { return step == 1900 ? 0.5 : std::max(0.0, 0.01 * noise() - 0.009); });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(CurveCourseTest, TakesPeaksOfRatesAndMemoryForNoSpikes) {
  for (const char* const tag : {"samples_per_second", "tokens/s", "mfu", "gpu0/mem_used", "rss"}) {
    addCurve(tag, 0, 1000, [&](double step) {
      return (std::fmod(step, 500) == 499 ? 0.2 : 1) * (1000 + 10 * noise());
    });
  }
  EXPECT_THAT(check_.finish(), IsEmpty());
}

}  // namespace
}  // namespace steptape
