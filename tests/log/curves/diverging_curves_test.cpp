// SPDX-License-Identifier: Apache-2.0
// Losses that diverge, and others that rise.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "log/curves/curve_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DivergingCurvesTest : public CurveFixture {
 protected:
  /// The loss of a language model that falls from 10.8 to 2.5, and from `begin` on climbs to 7.5.
  double climbing(double step, double begin, double climb) {
    const double share = std::clamp((step - begin) / climb, 0.0, 1.0);
    return (share == 0 ? 2.5 + 8.3 * std::exp(-step / 200) : 2.5 + 5 * share) + 0.05 * noise();
  }
};

TEST_F(DivergingCurvesTest, ReportsALossThatIsWorseThanAtItsStart) {
  addCurve("loss", 0, 800, [&](double step) { return loss(step); });
  EXPECT_THAT(check_.take(), IsEmpty());
  addCurve("loss", 800, 1600, [&](double step) { return 1 + (step - 800) / 100 + 0.05 * noise(); });
  const std::vector<CurveFinding> findings = check_.take();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].rule, CurveRule::kDivergence);
  EXPECT_THAT(findings[0].message, HasSubstr("expected less than at the start, "));
}

TEST_F(DivergingCurvesTest, ReportsALossThatExplodes) {
  addCurve("loss", 0, 800, [](double step) { return std::exp(step / 40); });
  EXPECT_THAT(textsOf(check_.take()), SizeIs(1));
}

TEST_F(DivergingCurvesTest, TakesARewardThatRisesForNoDivergence) {
  addCurve("reward", 0, 800, [&](double step) { return step + 20 * noise(); });
  addCurve("value_loss", 0, 800, [&](double step) { return 0.1 + step / 100 + 0.1 * noise(); });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(DivergingCurvesTest, ReportsALossThatHasLostMostOfItsGain) {
  for (const double climb : {5, 50, 200, 600}) {
    check_ = CurveCheck();
    addCurve("train/loss", 0, 3000, [&](double step) { return climbing(step, 2000, climb); });
    const std::vector<CurveFinding> findings = check_.finish();
    ASSERT_THAT(findings, SizeIs(1)) << climb;
    EXPECT_EQ(findings[0].rule, CurveRule::kDivergence);
    EXPECT_GT(findings[0].step, 2000);
    EXPECT_THAT(findings[0].message, HasSubstr("more than half of this gain is lost"));
  }
}

TEST_F(DivergingCurvesTest, ReportsALossThatHadLittleToGainAndDoubled) {
  addCurve("lm loss", 0, 1500, [&](double step) { return 1.9 + 0.1 * loss(step); });
  addCurve("lm loss", 1500, 3000, [&](double) { return 7 + 0.1 * noise(); });
  const std::vector<CurveFinding> findings = check_.finish();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].rule, CurveRule::kDivergence);
  EXPECT_THAT(findings[0].message, HasSubstr("it is more than doubled"));
}

TEST_F(DivergingCurvesTest, TakesASpikeThatPassesForNone) {
  addCurve("loss", 0, 3000, [&](double step) {
    return 2.5 + 8.3 * std::exp(-step / 100) +
           (step < 1500 ? 0 : 5 * std::exp(-(step - 1500) / 300)) + 0.05 * noise();
  });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(DivergingCurvesTest, TakesWarmRestartsForNone) {
  addCurve("loss", 0, 6000, [&](double step) {
    const double warmth = (1 + std::cos(3.14159 * std::fmod(step, 2000) / 2000)) / 2;
    return (0.05 + 0.8 * warmth) * (1 + 0.1 * noise());
  });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(DivergingCurvesTest, TakesTheNextTaskForNone) {
  addCurve("loss", 0, 6000, [&](double step) {
    return (0.02 + 2.3 * std::exp(-std::fmod(step, 2000) / 400)) * (1 + 0.2 * noise());
  });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(DivergingCurvesTest, TakesLossesOfAContestForNone) {
  addCurve("loss", 0, 3000, [&](double step) { return climbing(step, 1500, 600); });
  addCurve("rollout/ep_rew_mean", 0, 3000, [&](double step) { return step + noise(); });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(DivergingCurvesTest, TakesAPartOfALossForNone) {
  addCurve("loss/boundary", 0, 3000, [&](double step) { return climbing(step, 1500, 600); });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(DivergingCurvesTest, TakesALossThatIsSwitchedOnLaterForNone) {
  addCurve("aux_loss", 0, 1500, [&](double step) { return step < 500 ? 0 : 0.3 + 0.02 * noise(); });
  addCurve("disc_loss", 0, 1500,
           [&](double step) { return step < 1000 ? 0 : 0.9 + 0.1 * noise(); });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(DivergingCurvesTest, TakesALossThatBeginsNearZeroForNone) {
  addCurve("kl_loss", 0, 1500, [&](double step) {
    return step < 128 ? 1e-5 * (1 + 0.3 * noise())
                      : 25 * (1 - std::exp(-(step - 128) / 500)) * (1 + 0.05 * noise());
  });
  addCurve("actor_loss", 0, 1500, [&](double step) {
    return (step < 200 ? 0.006 : 150 * (1 - std::exp(-(step - 200) / 600))) + 0.005 * noise();
  });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(DivergingCurvesTest, KnowsNotWhereAnObjectiveShouldGoThatIsNegative) {
  const auto curve = [&](double step) {
    return (step < 800 ? -500 - step / 8 : -600 + (step - 800) / 2) + noise();
  };
  addCurve("elbo", 0, 1600, curve);
  EXPECT_THAT(check_.finish(), IsEmpty());
  addCurve("objective", 0, 1600, [&](double step) { return 1000 + curve(step); });
  EXPECT_THAT(check_.finish(), SizeIs(1));
}

TEST_F(DivergingCurvesTest, BeginsAnewWithATrainingThatBeginsAnew) {
  for (int training = 0; training < 2; ++training) {
    addCurve("loss", 0, 1500,
             [&](double step) { return 2.5 + 8.3 * std::exp(-step / 900) + 0.05 * noise(); });
  }
  EXPECT_THAT(check_.finish(), IsEmpty());
}

}  // namespace
}  // namespace steptape
