// SPDX-License-Identifier: Apache-2.0
// A validation that parts from its training.

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "log/curves/curve_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PartedCurvesTest : public CurveFixture {
 protected:
  /// Adds a training whose validation rises from step 600 on.
  void addParted(const std::string& training, const std::string& validation) {
    addCurve(training, 0, 2000,
             [&](double step) { return std::exp(-step / 500) + 0.02 * noise(); });
    addCurve(
        validation, 0, 2000,
        [&](double step) {
          return (step < 600 ? 1 - step / 1000 : 0.4 + (step - 600) / 2000) + 0.01 * noise();
        },
        50);
  }
};

TEST_F(PartedCurvesTest, ReportsAValidationThatRisesWhileItsTrainingFalls) {
  addParted("loss/train", "loss/val");
  const std::vector<CurveFinding> findings = check_.finish();
  ASSERT_THAT(textsOf(findings), ElementsAre("parted of loss/val at 1950"));
  EXPECT_THAT(findings[0].message, HasSubstr("while loss/train fell from "));
}

TEST_F(PartedCurvesTest, FindsTheTrainingOfAValidation) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"train_loss_epoch", "val_loss"},
      {"train_loss_step", "val_loss_epoch"},
      {"train/loss_epoch", "val/loss"},
      {"loss", "val_loss"},
      {"epoch_loss", "epoch_val_loss"},
      {"train/MSELoss", "val/MSELoss"},
      {"train/cross_entropy", "val/cross_entropy"}};
  for (const auto& [training, validation] : names) {
    check_ = CurveCheck();
    addParted(training, validation);
    EXPECT_THAT(textsOf(check_.finish()), ElementsAre("parted of " + validation + " at 1950"))
        << training;
  }
}

TEST_F(PartedCurvesTest, TakesNoOtherLossForItsTraining) {
  addParted("loss/aux", "val_loss");
  EXPECT_THAT(check_.finish(), IsEmpty());
  check_ = CurveCheck();
  addParted("loss", "val_loss");
  addCurve("train_loss", 0, 2000, [&](double step) { return 2 + step / 1000 + noise() / 100; });
  EXPECT_THAT(check_.finish(), IsEmpty());
}

}  // namespace
}  // namespace steptape
