// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "log/curves/curve_fixture.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using test::expectError;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CurveCheckTest : public CurveFixture {};

TEST_F(CurveCheckTest, ReportsTheFirstValueThatIsNotFinite) {
  add("loss", 1, 0.5);
  add("loss", 2, kNan);
  add("loss", 3, kNan);
  const std::vector<CurveFinding> findings = check_.take();
  ASSERT_THAT(textsOf(findings), ElementsAre("not-finite of loss at 2"));
  EXPECT_EQ(findings[0].message, "got NaN at step 2 after 0.5; expected a finite number");
  EXPECT_TRUE(std::isnan(findings[0].value));
  EXPECT_EQ(findings[0].wallTime, 1e9 + 2);
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(CurveCheckTest, TellsWhichTagCameFirst) {
  add("accuracy", 9, kNan);
  add("grad_norm", 4, std::numeric_limits<double>::infinity());
  add("loss", 5, kNan);
  const std::vector<CurveFinding> findings = check_.finish();
  ASSERT_THAT(textsOf(findings),
              ElementsAre("not-finite of grad_norm at 4", "not-finite of loss at 5",
                          "not-finite of accuracy at 9"));
  EXPECT_EQ(findings[0].message, "got an infinity at step 4; expected a finite number");
  EXPECT_EQ(findings[1].message,
            "got NaN at step 5; expected a finite number; the first that was not finite is "
            "grad_norm at step 4");
}

TEST_F(CurveCheckTest, NamesAllTagsThatWereNotFiniteAtOneTime) {
  for (const char* const tag : {"accuracy", "grad_norm", "loss"}) {
    check_.add(tag, 7, kNan, 1e9);
  }
  check_.add("lr", 8, kNan, 1e9 + 1);
  const std::vector<CurveFinding> findings = check_.finish();
  ASSERT_THAT(findings, SizeIs(4));
  EXPECT_EQ(
      findings[1].message,
      "got NaN at step 7; expected a finite number; not finite at the same time: accuracy and "
      "loss");
  EXPECT_EQ(findings[3].message,
            "got NaN at step 8; expected a finite number; the first that were not finite are "
            "accuracy, grad_norm and loss at step 7");
}

TEST_F(CurveCheckTest, NamesOnlySomeOfManyTagsThatWereNotFiniteAtOneTime) {
  for (char name = 'a'; name <= 'j'; ++name) {
    check_.add(std::string(1, name), 7, kNan, 1e9);
  }
  EXPECT_THAT(check_.finish().front().message, HasSubstr(": b, c, d and 6 more"));
}

TEST_F(CurveCheckTest, NamesTheTagThatWasLoggedFirstOfSeveralAtOneTime) {
  CurveCheckOptions options;
  options.assumeLogOrder = true;
  check_ = CurveCheck(options);
  for (const char* const tag : {"loss", "grad_norm"}) {
    check_.add(tag, 7, kNan, 1e9);
  }
  const std::vector<CurveFinding> findings = check_.finish();
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].message, "got NaN at step 7; expected a finite number");
  EXPECT_THAT(findings[1].message, HasSubstr("the first that was not finite is loss at step 7"));
}

TEST_F(CurveCheckTest, ReportsASpikeOfANoisyCurveOnceItComesBack) {
  addCurve("loss", 0, 500, [&](double step) { return loss(step); });
  add("loss", 500, 9);
  EXPECT_THAT(check_.take(), IsEmpty());
  add("loss", 501, loss(501));
  const std::vector<CurveFinding> findings = check_.take();
  ASSERT_THAT(textsOf(findings), ElementsAre("spike of loss at 500"));
  EXPECT_EQ(findings[0].value, 9);
  EXPECT_THAT(findings[0].message, HasSubstr("got 9 at step 500; expected "));
  EXPECT_THAT(findings[0].message, HasSubstr(": the last 128 values were "));
}

TEST_F(CurveCheckTest, ReportsASpikeThatIsTheLastPoint) {
  addCurve("loss", 0, 500, [&](double step) { return loss(step); });
  add("loss", 500, 9);
  EXPECT_THAT(textsOf(check_.finish()), ElementsAre("spike of loss at 500"));
}

TEST_F(CurveCheckTest, ReportsASpikeOfASmoothCurveThatComesBack) {
  const auto smooth = [](double step) { return 1 + std::exp(-step / 200); };
  addCurve("loss", 0, 500, smooth);
  add("loss", 500, 9);
  EXPECT_THAT(check_.take(), IsEmpty());
  addCurve("loss", 501, 503, smooth);
  EXPECT_THAT(textsOf(check_.take()), ElementsAre("spike of loss at 500"));
}

TEST_F(CurveCheckTest, ReportsASpikeDownwards) {
  addCurve("accuracy", 0, 500, [&](double) { return 0.9 + 0.01 * noise(); });
  addCurve("accuracy", 500, 502, [](double step) { return step == 500 ? 0.1 : 0.9; });
  EXPECT_THAT(textsOf(check_.take()), ElementsAre("spike of accuracy at 500"));
}

TEST_F(CurveCheckTest, TakesTheJumpsOfAScheduleForNoSpike) {
  addCurve("lr", 0, 3000, [](double step) {  // cosine with restarts
    return 0.05 * (1 + std::cos(3.14159 * std::fmod(step, 1000) / 1000));
  });
  addCurve("lr_steps", 0, 3000, [](double step) { return step < 1500 ? 0.1 : 0.001; });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(CurveCheckTest, ReportsStepsThatWrapped) {
  check_.add("loss", 2147483600, 1, 1e9);
  check_.add("loss", -2147483600, 1, 1e9 + 1);
  const std::vector<CurveFinding> findings = check_.take();
  ASSERT_THAT(textsOf(findings), ElementsAre("steps-wrapped of loss at -2147483600"));
  EXPECT_EQ(
      findings[0].message,
      "got step -2147483600 after 2147483600; expected increasing steps: a 32-bit counter has "
      "overflowed");
}

TEST_F(CurveCheckTest, ReportsTimesThatAreNotInSecondsOnce) {
  check_.add("loss", 0, 1, 1.7e12);
  check_.add("lr", 0, 1, 1.7e12);
  const std::vector<CurveFinding> findings = check_.take();
  ASSERT_THAT(textsOf(findings), ElementsAre("milliseconds of loss at 0"));
  EXPECT_EQ(findings[0].message,
            "got a wall time of 1.7e+12; expected seconds since 1970: these are milliseconds");
}

TEST_F(CurveCheckTest, LeavesOutTheRulesThatItIsTold) {
  CurveCheckOptions options;
  options.leftOut = {CurveRule::kNotFinite};
  check_ = CurveCheck(options);
  add("loss", 0, kNan);
  EXPECT_THAT(check_.finish(), IsEmpty());
}

TEST_F(CurveCheckTest, RefusesOptionsThatMakeNoSense) {
  CurveCheckOptions options;
  options.window = 1;
  expectError(ErrorCode::kInvalidArgument, "CurveCheckOptions::window: got 1; expected at least 8",
              [&] { CurveCheck check(options); });
  options = {};
  options.spikeRanges = 0;
  expectError(ErrorCode::kInvalidArgument,
              "CurveCheckOptions::spikeRanges: got 0; expected more than 0",
              [&] { CurveCheck check(options); });
}

}  // namespace
}  // namespace steptape
