// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/plot/pr_curve.h"

#include <cstring>
#include <limits>

#include "support/expect_error.h"
#include "values/kinds/special_values.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;
using Numbers = std::vector<double>;

PrCurveOptions thresholds(int count) {
  PrCurveOptions options;
  options.numThresholds = count;
  return options;
}

class PrCurve : public ::testing::Test {
 protected:
  const std::vector<std::uint8_t> labels_ = {1, 0, 1, 1, 0, 0, 1, 0};
  const std::vector<float> predictions_ = {0.9F, 0.8F, 0.7F, 0.6F, 0.4F, 0.35F, 0.3F, 0.0F};
  const Numbers weights_ = {1, 2, 0.5, 1, 1, 3, 0.25, 1};
};

// The numbers of this and the next test are from compute_curve() in torch 2.13 and tensorboardX
// 2.6.5.
TEST_F(PrCurve, CountsAsThePeers) {
  const PrCurveCounts counts = detail::values::computePrCurve(labels_, predictions_, thresholds(5));
  EXPECT_EQ(counts.truePositives, (Numbers{4, 4, 3, 1, 0}));
  EXPECT_EQ(counts.falsePositives, (Numbers{4, 3, 1, 1, 0}));
  EXPECT_EQ(counts.trueNegatives, (Numbers{0, 1, 3, 3, 4}));
  EXPECT_EQ(counts.falseNegatives, (Numbers{0, 0, 1, 3, 4}));
  EXPECT_EQ(counts.precision, (Numbers{0.5, 0.5714285714285714, 0.75, 0.5, 0}));
  EXPECT_EQ(counts.recall, (Numbers{1, 1, 0.75, 0.25, 0}));
}

TEST_F(PrCurve, AddsUpWeights) {
  PrCurveOptions options = thresholds(5);
  options.weights = weights_;
  const PrCurveCounts counts = detail::values::computePrCurve(labels_, predictions_, options);
  EXPECT_EQ(counts.truePositives, (Numbers{2.75, 2.75, 2.5, 1, 0}));
  EXPECT_EQ(counts.falsePositives, (Numbers{7, 6, 2, 2, 0}));
  EXPECT_EQ(counts.trueNegatives, (Numbers{0, 1, 5, 5, 7}));
  EXPECT_EQ(counts.falseNegatives, (Numbers{0, 0, 0.25, 1.75, 2.75}));
  EXPECT_EQ(counts.precision, (Numbers{0.28205128205128205, 0.3142857142857143, 0.5555555555555556,
                                       0.3333333333333333, 0}));
  EXPECT_EQ(counts.recall, (Numbers{1, 1, 0.9090909090909091, 0.36363636363636365, 0}));
}

TEST_F(PrCurve, TakesOneWeightForAll) {
  PrCurveOptions options = thresholds(5);
  const Numbers ten = {10};
  options.weights = ten;
  EXPECT_EQ(detail::values::computePrCurve(labels_, predictions_, options).truePositives,
            (Numbers{40, 40, 30, 10, 0}));
}

// binary32: 0.7f * 10 is 7. binary64: 0.699999988 * 10 is below it. As NumPy computes.
TEST_F(PrCurve, ComparesInThePrecisionOfThePredictions) {
  const std::vector<float> narrow = {0.7F};
  const Numbers wide = {double{0.7F}};
  const std::vector<int> truth = {1};
  EXPECT_EQ(detail::values::computePrCurve(truth, narrow, thresholds(11)).truePositives,
            (Numbers{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(detail::values::computePrCurve(truth, wide, thresholds(11)).truePositives,
            (Numbers{1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}));
}

TEST_F(PrCurve, TakesEveryLabelButZeroAsTrue) {
  const Numbers labels = {-1, 0, 2, 0.5, -0.0, 1e-300};
  const std::vector<int> predictions(6, 1);
  const PrCurveCounts counts = detail::values::computePrCurve(labels, predictions, thresholds(2));
  EXPECT_EQ(counts.truePositives, (Numbers{4, 4}));
  EXPECT_EQ(counts.falsePositives, (Numbers{2, 2}));
}

TEST_F(PrCurve, PairsTensorsOfDifferentStridesAndSizesOfBlocks) {
  // Longer than a block, and not a multiple of one.
  constexpr std::int64_t kRows = 70;
  constexpr std::int64_t kColumns = 43;
  std::vector<float> predictions(kRows * kColumns);
  std::vector<std::uint8_t> labels(kRows * kColumns);
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t column = 0; column < kColumns; ++column) {
      const auto isTrue = static_cast<std::uint8_t>((row * 7 + column) % 3 == 0);
      labels[static_cast<std::size_t>(row * kColumns + column)] = isTrue;
      // Column by column, and correct for every label.
      predictions[static_cast<std::size_t>(column * kRows + row)] = isTrue;
    }
  }
  const PrCurveCounts counts = detail::values::computePrCurve(
      TensorView(labels.data(), {kRows, kColumns}),
      TensorView(predictions.data(), {kRows, kColumns}, {1, kRows}), thresholds(2));
  EXPECT_EQ(counts.falsePositives[1], 0);
  EXPECT_EQ(counts.falseNegatives[1], 0);
  EXPECT_EQ(counts.truePositives[1], 1004);  // counted with NumPy
}

TEST_F(PrCurve, HasNoUpperLimitOfThresholds) {
  const std::vector<float> predictions = {1, 0.5F};
  const std::vector<int> labels = {1, 0};
  const PrCurveCounts counts =
      detail::values::computePrCurve(labels, predictions, thresholds(1001));
  ASSERT_EQ(counts.truePositives.size(), 1001U);
  EXPECT_EQ(counts.truePositives[1000], 1);
  EXPECT_EQ(counts.falsePositives[500], 1);
  EXPECT_EQ(counts.falsePositives[501], 0);
}

TEST_F(PrCurve, IsZeroWithoutValues) {
  const PrCurveCounts counts =
      detail::values::computePrCurve(std::vector<int>(), std::vector<float>(), thresholds(3));
  EXPECT_EQ(counts.truePositives, (Numbers{0, 0, 0}));
  EXPECT_EQ(counts.precision, (Numbers{0, 0, 0}));
}

TEST_F(PrCurve, NamesThePredictionThatIsNotAProbability) {
  expectInvalidArgument(
      [&] {
        detail::values::computePrCurve(labels_, std::vector<float>{0, 0, 0, 1.5F, 0, 0, 0, 0});
      },
      "got predictions[3] = 1.5; expected 0 to 1");
  expectInvalidArgument(
      [&] {
        detail::values::computePrCurve(labels_, Numbers{0, 0, 0, 0, 0, 0, 0, -1e-9});
      },
      "got predictions[7] = -1e-09; expected 0 to 1");
  std::vector<float> many(3000);
  many[2500] = kNan;
  expectInvalidArgument([&] { detail::values::computePrCurve(std::vector<int>(3000), many); },
                        "got predictions[2500] = nan; expected 0 to 1");
}

TEST_F(PrCurve, NamesTheLabelThatIsNaN) {
  expectInvalidArgument(
      [&] {
        detail::values::computePrCurve(std::vector<float>{0, kNan}, std::vector<float>(2));
      },
      "got labels[1] = nan; expected a truth value");
}

TEST_F(PrCurve, NamesTheInvalidWeight) {
  PrCurveOptions options;
  const Numbers negative = {1, 1, 1, 1, 1, -2, 1, 1};
  options.weights = negative;
  expectInvalidArgument([&] { detail::values::computePrCurve(labels_, predictions_, options); },
                        "got weights[5] = -2; expected a finite number, 0 or more");
  const std::vector<float> one = {kNan};
  options.weights = one;
  expectInvalidArgument([&] { detail::values::computePrCurve(labels_, predictions_, options); },
                        "got weights[0] = nan; expected a finite number, 0 or more");
}

TEST_F(PrCurve, RejectsWeightsThatAddUpToMoreThanTheFormatHolds) {
  PrCurveOptions options = thresholds(2);
  const Numbers weights(8, 1e38);
  options.weights = weights;
  expectInvalidArgument(
      [&] { detail::values::computePrCurve(labels_, predictions_, options); },
      "got truePositives[0] = 4e+38; expected a number, 0 or more, that is finite in binary32");
}

TEST_F(PrCurve, RejectsLengthsThatDiffer) {
  expectInvalidArgument(
      [&] {
        detail::values::checkPrCurve(TensorView(labels_.data(), {2, 4}), std::vector<float>(7));
      },
      "got 8 labels of shape (2, 4) and 7 predictions of shape (7); expected equally many");
  PrCurveOptions options;
  const Numbers weights(2);
  options.weights = weights;
  expectInvalidArgument([&] { detail::values::checkPrCurve(labels_, predictions_, options); },
                        "got 2 weights of shape (2); expected 8, one for each label, or 1");
}

TEST_F(PrCurve, RejectsFewerThanTwoThresholds) {
  for (const int count : {1, 0, -5}) {
    expectInvalidArgument(
        [&] { detail::values::checkPrCurve(labels_, predictions_, thresholds(count)); },
        "got numThresholds = " + std::to_string(count) + "; expected 2 to 89434794");
  }
}

PrCurveCounts counted() {
  return {{2, 1}, {3, 0}, {0, 3}, {0, 1}, {0.4, 1}, {1, 0.5}};
}

TEST(ValidatePrCurve, NamesTheMemberOfAnotherLength) {
  PrCurveCounts counts = counted();
  counts.precision.pop_back();
  expectInvalidArgument([&] { detail::values::checkPrCurve(counts); },
                        "got 2 truePositives and 1 precision; expected equally many");
}

TEST(ValidatePrCurve, RejectsFewerThanTwoThresholds) {
  expectInvalidArgument([] { detail::values::checkPrCurve({}); },
                        "got the number of truePositives = 0; expected 2 to 89434794");
}

TEST(ValidatePrCurve, NamesTheElementThatIsNotACount) {
  PrCurveCounts counts = counted();
  counts.falseNegatives[1] = -1;
  expectInvalidArgument(
      [&] { detail::values::checkPrCurve(counts); },
      "got falseNegatives[1] = -1; expected a number, 0 or more, that is finite in binary32");
  counts = counted();
  counts.recall[0] = double{kNan};
  expectInvalidArgument(
      [&] { detail::values::checkPrCurve(counts); },
      "got recall[0] = nan; expected a number, 0 or more, that is finite in binary32");
}

TEST(PrCurveValue, HasARowForEachMemberInTensorBoardsOrder) {
  event::SummaryMetadata metadata;
  metadata.displayName = "PR";
  metadata.description = "of class 3";
  const event::Value value = detail::values::prCurveValue("pr", counted(), metadata);
  EXPECT_EQ(value.tag, "pr");
  const auto& tensor = std::get<event::Tensor>(value.data);
  EXPECT_EQ(tensor.type, event::TensorType::kFloat);
  EXPECT_EQ(tensor.shape, (std::vector<std::int64_t>{6, 2}));
  const std::vector<float> wanted = {2, 1, 3, 0, 0, 3, 0, 1, 0.4F, 1, 1, 0.5F};
  ASSERT_EQ(tensor.content.size(), wanted.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(tensor.content.data(), wanted.data(), tensor.content.size()), 0);
  EXPECT_EQ(value.metadata->pluginName, "pr_curves");
  EXPECT_EQ(value.metadata->pluginContent, "\x10\x02");
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kTensor);
  EXPECT_EQ(value.metadata->displayName, "PR");
  EXPECT_EQ(value.metadata->description, "of class 3");
}

}  // namespace
}  // namespace steptape
