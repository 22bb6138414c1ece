// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/expect_error.h"
#include "values/kinds/histogram/histogram.h"
#include "values/kinds/special_values.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;
using Row = std::array<double, 3>;
using Rows = std::vector<Row>;

event::Tensor tensorOf(const HistogramRaw& histogram) {
  return std::get<event::Tensor>(
      detail::values::histogramValue("h", histogram, {}, ValueForm::kTensor).data);
}

Rows rowsOf(const HistogramRaw& histogram) {
  const event::Tensor tensor = tensorOf(histogram);
  Rows rows(tensor.content.size() / sizeof(Row));
  std::memcpy(rows.data(), tensor.content.data(), rows.size() * sizeof(Row));
  return rows;
}

/// Ten values in two buckets.
HistogramRaw valid() {
  HistogramRaw histogram;
  histogram.min = 0.5;
  histogram.max = 2.5;
  histogram.num = 10;
  histogram.bucketLimits = {1, 3};
  histogram.bucketCounts = {4, 6};
  return histogram;
}

TEST(HistogramValue, IsATensorOfTheHistogramPlugin) {
  event::SummaryMetadata metadata;
  metadata.displayName = "Weights";
  metadata.description = "of layer 1";
  const event::Value value =
      detail::values::histogramValue("w", valid(), metadata, ValueForm::kTensor);
  EXPECT_EQ(value.tag, "w");
  EXPECT_EQ(value.metadata->pluginName, "histograms");
  EXPECT_EQ(value.metadata->pluginContent, "");
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kTensor);
  EXPECT_EQ(value.metadata->displayName, "Weights");
  EXPECT_EQ(value.metadata->description, "of layer 1");
  EXPECT_EQ(tensorOf(valid()).type, event::TensorType::kDouble);
  EXPECT_EQ(tensorOf(valid()).shape, (std::vector<std::int64_t>{2, 3}));
}

TEST(HistogramValue, BeginsAtTheMinimumAndEndsAtTheMaximum) {
  EXPECT_EQ(rowsOf(valid()), (Rows{{0.5, 1, 4}, {1, 2.5, 6}}));
}

TEST(HistogramValue, LeavesOutEmptyBucketsAtBothEndsOnly) {
  HistogramRaw histogram = valid();
  histogram.bucketLimits = {-1, 0, 1, 2, 3, 4};
  histogram.bucketCounts = {0, 0, 4, 0, 6, 0};
  EXPECT_EQ(rowsOf(histogram), (Rows{{0.5, 1, 4}, {1, 2, 0}, {2, 2.5, 6}}));
}

TEST(HistogramValue, OfEqualValuesIsOneBucketWithoutWidth) {
  HistogramRaw histogram = valid();
  histogram.min = histogram.max = 0.75;
  histogram.bucketCounts = {10, 0};
  EXPECT_EQ(rowsOf(histogram), (Rows{{0.75, 0.75, 10}}));
}

TEST(HistogramValue, OfNoValuesHasNoBuckets) {
  EXPECT_EQ(tensorOf({}).shape, (std::vector<std::int64_t>{0, 3}));
  HistogramRaw empty = valid();
  empty.bucketCounts = {0, 0};
  EXPECT_EQ(tensorOf(empty).shape, (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(tensorOf(empty).content, "");
}

TEST(HistogramValue, HasAscendingEdgesIfMinAndMaxContradictTheLimits) {
  HistogramRaw histogram = valid();
  histogram.min = 2;
  histogram.max = 2;
  histogram.bucketLimits = {1, 3, 5};
  histogram.bucketCounts = {1, 1, 1};
  EXPECT_EQ(rowsOf(histogram), (Rows{{1, 1, 1}, {1, 3, 1}, {3, 3, 1}}));
}

event::SummaryHistogram compatible(const HistogramRaw& histogram) {
  return std::get<event::SummaryHistogram>(detail::values::histogramValue("h", histogram).data);
}

TEST(HistogramValue, IsAHistogramMessageThatTorchsReadersKnow) {
  HistogramRaw histogram = valid();
  histogram.sum = 15;
  histogram.sumSquares = 30;
  const event::SummaryHistogram value = compatible(histogram);
  EXPECT_EQ(value.min, 0.5);
  EXPECT_EQ(value.max, 2.5);
  EXPECT_EQ(value.num, 10);
  EXPECT_EQ(value.sum, 15);
  EXPECT_EQ(value.sumSquares, 30);
  EXPECT_EQ(value.bucketLimits, (std::vector<double>{1, 3}));
  EXPECT_EQ(value.bucketCounts, (std::vector<double>{4, 6}));
}

// The fast data server takes the first left edge from `min`, even if an empty bucket ends before
// it.
TEST(HistogramValue, LeavesOutEmptyBucketsAtBothEndsOfTheMessageToo) {
  HistogramRaw histogram = valid();
  histogram.bucketLimits = {-1, 0, 1, 2, 3, 4};
  histogram.bucketCounts = {0, 0, 4, 0, 6, 0};
  const event::SummaryHistogram value = compatible(histogram);
  EXPECT_EQ(value.bucketLimits, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(value.bucketCounts, (std::vector<double>{4, 0, 6}));
}

// W&B's importer discards a histogram whose first limit is not above `min`.
TEST(HistogramValue, OfEqualValuesHasALimitAboveThem) {
  HistogramRaw histogram = valid();
  histogram.min = histogram.max = 1;
  histogram.bucketCounts = {10, 0};
  EXPECT_GT(compatible(histogram).bucketLimits.at(0), 1);
  histogram.bucketLimits = {2, 3};
  EXPECT_EQ(compatible(histogram).bucketLimits.at(0), 2);
  histogram.bucketLimits = {0.5, kInfinity};
  histogram.bucketCounts = {0, 10};
  EXPECT_GT(compatible(histogram).bucketLimits.at(0), 1);
  EXPECT_LT(compatible(histogram).bucketLimits.at(0), 1.1);
}

TEST(HistogramValue, OfNoValuesIsAMessageWithoutBuckets) {
  EXPECT_TRUE(compatible({}).bucketLimits.empty());
  EXPECT_TRUE(compatible({}).bucketCounts.empty());
}

TEST(HistogramValue, HasMetadataWithAMessageForItsNamesOnly) {
  EXPECT_FALSE(detail::values::histogramValue("h", valid()).metadata);
  event::SummaryMetadata metadata;
  metadata.displayName = "Weights";
  const event::Value value = detail::values::histogramValue("h", valid(), metadata);
  ASSERT_TRUE(value.metadata);
  EXPECT_EQ(value.metadata->displayName, "Weights");
  EXPECT_EQ(value.metadata->pluginName, "histograms");
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kTensor);
}

// TensorBoard's Python loader reads the edges of a message in binary32.
TEST(HistogramValue, IsATensorIfBinary32CannotHoldTheEdges) {
  const auto isTensor = [](double min, double limit, double max) {
    HistogramRaw histogram = valid();
    histogram.min = min;
    histogram.max = max;
    histogram.bucketLimits = {limit, max};
    const event::Value value = detail::values::histogramValue("h", histogram);
    EXPECT_EQ(value.metadata.has_value(), std::holds_alternative<event::Tensor>(value.data));
    return std::holds_alternative<event::Tensor>(value.data);
  };
  EXPECT_FALSE(isTensor(1e8, 1e8 + 8, 1e8 + 16));
  EXPECT_TRUE(isTensor(1e8, 1e8 + 1, 1e8 + 16));
  EXPECT_TRUE(isTensor(1e8, 1e8 + 8, 1e8 + 9));
  EXPECT_FALSE(isTensor(-3e38, 0, 3e38));
  EXPECT_TRUE(isTensor(-3e38, 0, 4e38));
  EXPECT_TRUE(isTensor(-4e38, 0, 3e38));
}

TEST(ValidateHistogram, AcceptsWhatComputeHistogramGives) {
  EXPECT_NO_THROW(detail::values::checkHistogram(valid()));
  EXPECT_NO_THROW(detail::values::checkHistogram({}));
  EXPECT_NO_THROW(detail::values::checkHistogram(
      detail::values::computeHistogram(std::vector<float>{-1e30F, 0, 1e30F}).raw));
}

TEST(ValidateHistogram, AcceptsAnOpenLastBucket) {
  HistogramRaw histogram = valid();
  histogram.bucketLimits.back() = kInfinity;
  EXPECT_NO_THROW(detail::values::checkHistogram(histogram));
  EXPECT_EQ(rowsOf(histogram), (Rows{{0.5, 1, 4}, {1, 2.5, 6}}));
}

TEST(ValidateHistogram, NamesBothLengths) {
  HistogramRaw histogram = valid();
  histogram.bucketLimits.push_back(4);
  expectInvalidArgument([&] { detail::values::checkHistogram(histogram); },
                        "got 3 bucketLimits and 2 bucketCounts; expected equally many: the right "
                        "edge and the count of each bucket");
}

TEST(ValidateHistogram, NamesTheFirstEdgeThatDoesNotAscend) {
  HistogramRaw histogram = valid();
  histogram.bucketLimits = {1, 2.5, 2.5, 0};
  histogram.bucketCounts = {1, 1, 1, 1};
  expectInvalidArgument([&] { detail::values::checkHistogram(histogram); },
                        "got bucketLimits[2] = 2.5 after 2.5; expected increasing limits");
}

TEST(ValidateHistogram, NamesAnEdgeThatIsNotANumber) {
  HistogramRaw histogram = valid();
  histogram.bucketLimits[1] = std::nan("");
  expectInvalidArgument([&] { detail::values::checkHistogram(histogram); },
                        "got bucketLimits[1] = nan; expected a finite number");
}

TEST(ValidateHistogram, NamesAnInfiniteInnerEdge) {
  HistogramRaw histogram = valid();
  histogram.bucketLimits[0] = -kInfinity;
  expectInvalidArgument([&] { detail::values::checkHistogram(histogram); },
                        "got bucketLimits[0] = -inf; expected a finite number");
}

TEST(ValidateHistogram, NamesANegativeCount) {
  HistogramRaw histogram = valid();
  histogram.bucketCounts[1] = -1;
  expectInvalidArgument([&] { detail::values::checkHistogram(histogram); },
                        "got bucketCounts[1] = -1; expected a finite number, 0 or more");
}

TEST(ValidateHistogram, NamesMinAndMaxTheWrongWayRound) {
  HistogramRaw histogram = valid();
  histogram.min = 3;
  expectInvalidArgument([&] { detail::values::checkHistogram(histogram); },
                        "got min = 3 and max = 2.5; expected finite numbers, min at most max");
}

TEST(ValidateHistogram, NamesAnInfiniteMaximum) {
  HistogramRaw histogram = valid();
  histogram.max = kInfinity;
  expectInvalidArgument([&] { detail::values::checkHistogram(histogram); },
                        "got min = 0.5 and max = inf; expected finite numbers, min at most max");
}

}  // namespace
}  // namespace steptape
