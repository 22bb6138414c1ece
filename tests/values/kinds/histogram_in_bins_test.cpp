// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "values/kinds/histogram/histogram.h"
#include "values/kinds/histogram/histogram_rules.h"
#include "values/kinds/special_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::expectInvalidArgument;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Every number in this file with a rule's name is numpy 2.4.6's, from numpy.histogram() of the same
// values.

/// 1000 values on a grid, in disorder: numpy's (arange(size) * 7919) % 1009 - 500.
template <typename T>
std::vector<T> scattered(int size = 1000) {
  std::vector<T> values;
  for (int i = 0; i < size; ++i) {
    values.push_back(static_cast<T>(i * 7919 % 1009 - 500));
  }
  return values;
}

std::vector<double> even() {
  std::vector<double> values = scattered<double>();
  for (double& value : values) {
    value /= 64;
  }
  return values;
}

std::vector<double> skewed() {
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i) {
    const double root = i * i % 997;
    values.push_back(root * root / 1024);
  }
  return values;
}

/// Returns the number of buckets by each rule, in the order auto, fd, sturges, doane, scott, rice,
/// sqrt.
std::vector<std::size_t> counts(const std::vector<double>& values, bool isInteger = false) {
  std::vector<std::size_t> result;
  for (const char* rule : {"auto", "fd", "sturges", "doane", "scott", "rice", "sqrt"}) {
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    detail::values::HistogramSample sample{*min, *max, values.size(), isInteger, values};
    result.push_back(detail::values::ruleCount(rule, &sample));
  }
  return result;
}

TEST(HistogramRules, CountAsNumpyDoes) {
  EXPECT_THAT(counts(even()), ElementsAre(11, 11, 11, 12, 10, 20, 32));
  EXPECT_THAT(counts(skewed()), ElementsAre(17, 17, 14, 18, 17, 35, 71));
  EXPECT_THAT(counts({1, 4}), ElementsAre(2, 2, 2, 1, 1, 3, 2));
  EXPECT_THAT(counts({1, 1, 1, 1, 1, 1, 9, 2}), ElementsAre(6, 32, 4, 7, 2, 4, 3));
}

TEST(HistogramRules, MakeOneBucketOfEqualValues) {
  EXPECT_THAT(counts({2.5}), ElementsAre(1, 1, 1, 1, 1, 1, 1));
  // Sums of 0.1 are rounded; numpy's "scott" requests 4e16 buckets here and runs out of memory.
  EXPECT_THAT(counts(std::vector<double>(7, 0.1)), ElementsAre(1, 1, 1, 1, 1, 1, 1));
}

TEST(HistogramRules, MakeNoBucketOfIntegersNarrowerThanOne) {
  EXPECT_THAT(counts(scattered<double>(), true), ElementsAre(11, 11, 11, 12, 10, 20, 32));
  EXPECT_THAT(counts({1, 0, 1, 1, 0}, true), ElementsAre(1, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(counts({0, 255, 3, 3, 7}, true), ElementsAre(5, 55, 4, 6, 2, 4, 3));
}

TEST(HistogramRules, DoNotLetAnOutlierAskForMoreBucketsThanAreAllowed) {
  std::vector<double> values = even();
  values.push_back(1e6);
  // numpy: 635138 for "fd".
  EXPECT_THAT(counts(values), ElementsAre(64, 65'536, 11, 20, 91, 21, 32));
  values.back() = 1e300;
  EXPECT_EQ(counts(values)[1], 65'536U);
}

TEST(EqualWidthEdges, AreThoseOfLinspace) {
  EXPECT_THAT(detail::values::equalWidthEdges(-1.2, 0.9, 7),
              ElementsAre(-1.2, -0.8999999999999999, -0.6, -0.30000000000000004, 0.0,
                          0.30000000000000004, 0.5999999999999999, 0.9));
  EXPECT_THAT(detail::values::equalWidthEdges(2.5, 2.5, 4), ElementsAre(2.0, 2.25, 2.5, 2.75, 3.0));
}

TEST(EqualWidthEdges, AscendIfDoublesAreTooCoarse) {
  const double next = std::nextafter(1.0, 2.0);
  EXPECT_THAT(detail::values::equalWidthEdges(1.0, next, 100), ElementsAre(1.0, next));
  EXPECT_THAT(detail::values::equalWidthEdges(1e300, 1e300, 2),
              ElementsAre(1e300, std::nextafter(1e300, kInfinity)));
}

TEST(EqualWidthEdges, SpanMoreThanTheLargestDouble) {
  EXPECT_THAT(detail::values::equalWidthEdges(-0x1p1023, 0x1p1023, 4),
              ElementsAre(-0x1p1023, -0x1p1022, 0, 0x1p1022, 0x1p1023));
}

// numpy: "auto" of (scattered % 50) / 8.
TEST(HistogramInBins, OfARuleHasNumpysCountsAndEdges) {
  std::vector<double> values = scattered<double>();
  for (double& value : values) {
    const double remainder = std::fmod(value, 50);
    value = (remainder < 0 ? remainder + 50 : remainder) / 8;
  }
  const HistogramRaw raw = detail::values::computeHistogram(values, "auto").raw;
  EXPECT_THAT(raw.bucketCounts, ElementsAre(104, 83, 97, 78, 98, 80, 100, 80, 100, 80, 100));
  EXPECT_THAT(
      raw.bucketLimits,
      ElementsAre(0.5568181818181818, 1.1136363636363635, 1.6704545454545454, 2.227272727272727,
                  2.7840909090909087, 3.340909090909091, 3.8977272727272725, 4.454545454545454,
                  5.011363636363636, 5.5681818181818175, 6.125));
  EXPECT_EQ(raw.min, 0);
  EXPECT_EQ(raw.max, 6.125);
  EXPECT_EQ(raw.num, 1000);
  EXPECT_EQ(detail::values::computeHistogram(values, "scott").raw.bucketCounts,
            (std::vector<double>{104, 102, 98, 96, 100, 100, 100, 100, 100, 100}));
}

TEST(HistogramInBins, OfACountHasNumpysCounts) {
  const std::vector<double> values = {0.1, 0.25, 0.3, 0.3, 0.9, -1.2, 0.6000000000000001, 0.7};
  EXPECT_THAT(detail::values::computeHistogram(values, 7).raw.bucketCounts,
              ElementsAre(1, 0, 0, 0, 4, 0, 3));
}

TEST(HistogramInBins, CountsIntegersExactly) {
  const std::vector<std::int32_t> values = {1, 2, 2, 3, 5, 8, 13};
  const HistogramRaw ruled = detail::values::computeHistogram(values, "auto").raw;
  EXPECT_THAT(ruled.bucketLimits, ElementsAre(4, 7, 10, 13));
  EXPECT_THAT(ruled.bucketCounts, ElementsAre(4, 1, 1, 1));

  const std::vector<std::int8_t> bytes = {-128, 127, 0, 5, 5};
  EXPECT_THAT(detail::values::computeHistogram(bytes, 3).raw.bucketCounts, ElementsAre(1, 3, 1));
}

TEST(HistogramInBins, CountsHalfPrecisionAndBool) {
  const std::vector<std::uint16_t> ones = {0x3C00, 0x4000, 0x7E00};  // 1, 2, NaN
  const TensorView halves(ones.data(), DType::kFloat16, {3}, {});
  const detail::values::HistogramData data = detail::values::computeHistogram(halves, 2);
  EXPECT_THAT(data.raw.bucketCounts, ElementsAre(1, 1));
  EXPECT_EQ(data.nanCount, 1U);

  const bool truths[] = {true, false, true};
  EXPECT_THAT(detail::values::computeHistogram(TensorView(truths, {3}), "sqrt").raw.bucketCounts,
              ElementsAre(3));
}

TEST(HistogramInBins, CountsEveryValueInOneBucketWhateverTheWidth) {
  const std::vector<double> values = skewed();
  for (const int count : {1, 2, 3, 10, 97, 1000, 65'536}) {
    const HistogramRaw raw = detail::values::computeHistogram(values, count).raw;
    std::vector<double> wanted(raw.bucketCounts.size(), 0);
    for (const double value : values) {
      const auto limit = std::upper_bound(raw.bucketLimits.begin(), raw.bucketLimits.end(), value);
      ++wanted[std::min(wanted.size() - 1,
                        static_cast<std::size_t>(limit - raw.bucketLimits.begin()))];
    }
    EXPECT_EQ(raw.bucketCounts, wanted) << count;
  }
}

TEST(HistogramInBins, PutsAValueOnAnEdgeIntoTheBucketOnItsRight) {
  for (std::size_t count = 1; count < 100; ++count) {
    const std::vector<double> edges = detail::values::equalWidthEdges(-1.2, 0.9, count);
    std::vector<double> wanted(count, 1);
    wanted.back() = 2;
    EXPECT_EQ(detail::values::computeHistogram(edges, static_cast<int>(count)).raw.bucketCounts,
              wanted);
  }
}

// numpy drops -5 and 99, and its len(values) is what tensorboardX calls num.
TEST(HistogramInBins, CountsValuesOutsideTheEdgesInOuterBuckets) {
  const std::vector<double> values = {1, 2, 2, 3, 4, -5, 99, 98};
  const HistogramRaw raw = detail::values::computeHistogram(values, {1.0, 2.0, 3.5, 4.0}).raw;
  EXPECT_THAT(raw.bucketCounts, ElementsAre(1, 1, 3, 1, 2));
  EXPECT_THAT(raw.bucketLimits, ElementsAre(1, 2, 3.5, 4, std::numeric_limits<double>::max()));
  EXPECT_EQ(raw.num, 8);
  EXPECT_EQ(raw.min, -5);
  EXPECT_EQ(raw.max, 99);
}

TEST(HistogramInBins, LeavesEmptyBucketsAtBothEndsOut) {
  const HistogramRaw raw =
      detail::values::computeHistogram(std::vector<double>{2.5}, {0, 1, 2, 3, 4}).raw;
  EXPECT_THAT(raw.bucketCounts, ElementsAre(1));
  EXPECT_THAT(raw.bucketLimits, ElementsAre(3));
}

TEST(HistogramInBins, PutsEqualValuesIntoOneBucket) {
  const HistogramRaw raw = detail::values::computeHistogram(std::vector<float>(9, 0.25F), 4).raw;
  EXPECT_THAT(raw.bucketCounts, ElementsAre(9));
  EXPECT_THAT(raw.bucketLimits, ElementsAre(0.5));
}

TEST(HistogramInBins, IsEmptyWithoutFiniteValues) {
  EXPECT_THAT(detail::values::computeHistogram(std::vector<float>{}, "fd").raw.bucketCounts,
              IsEmpty());
  const detail::values::HistogramData data = detail::values::computeHistogram(
      std::vector<double>{std::nan(""), kInfinity, -kInfinity, -kInfinity}, 10);
  EXPECT_THAT(data.raw.bucketCounts, IsEmpty());
  EXPECT_EQ(data.nanCount, 1U);
  EXPECT_EQ(data.posInfCount, 1U);
  EXPECT_EQ(data.negInfCount, 2U);
}

TEST(HistogramInBins, IgnoresInfinitiesForTheRange) {
  const HistogramRaw raw = detail::values::computeHistogram(
                               std::vector<double>{0, kInfinity, 4, std::nan(""), 1}, "rice")
                               .raw;
  EXPECT_THAT(raw.bucketCounts, ElementsAre(2, 0, 1));
  EXPECT_EQ(raw.num, 3);
}

TEST(HistogramInBins, OfAStridedViewIsThatOfItsElements) {
  const std::vector<double> values = even();
  const std::vector<double> third = [&values] {
    std::vector<double> picked;
    for (std::size_t i = 0; i < 999; i += 3) {
      picked.push_back(values[i]);
    }
    return picked;
  }();
  for (const HistogramBins& bins : {HistogramBins("fd"), HistogramBins(20)}) {
    const HistogramRaw strided =
        detail::values::computeHistogram(TensorView(values.data(), {333}, {3}), bins).raw;
    const HistogramRaw dense = detail::values::computeHistogram(third, bins).raw;
    EXPECT_EQ(strided.bucketLimits, dense.bucketLimits);
    EXPECT_EQ(strided.bucketCounts, dense.bucketCounts);
  }
}

TEST(MaxBins, JoinsNeighborsAndLosesNoValue) {
  const std::vector<double> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const HistogramRaw raw = detail::values::computeHistogram(values, 10, 4).raw;
  EXPECT_THAT(raw.bucketCounts, ElementsAre(3, 3, 3, 2));
  EXPECT_THAT(raw.bucketLimits, ElementsAre(3, 6, 9, 10));
}

// tensorboardX 2.6.5, make_histogram(arange(16.0), bins=8, max_bins=4), without its leading empty
// bucket.
TEST(MaxBins, JoinsAsTensorboardXIfItDivides) {
  std::vector<double> values(16);
  std::iota(values.begin(), values.end(), 0.0);
  const HistogramRaw raw = detail::values::computeHistogram(values, 8, 4).raw;
  EXPECT_THAT(raw.bucketCounts, ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(raw.bucketLimits, ElementsAre(3.75, 7.5, 11.25, 15));
}

TEST(MaxBins, BoundsTheDefaultBucketsToo) {
  const std::vector<double> values = even();
  const HistogramRaw all = detail::values::computeHistogram(values).raw;
  const HistogramRaw few = detail::values::computeHistogram(values, {}, 64).raw;
  EXPECT_GT(all.bucketCounts.size(), 64U);
  EXPECT_LE(few.bucketCounts.size(), 64U);
  EXPECT_EQ(std::accumulate(few.bucketCounts.begin(), few.bucketCounts.end(), 0.0), 1000);
  EXPECT_EQ(few.bucketLimits.back(), all.bucketLimits.back());
}

TEST(MaxBins, KeepsBucketsThatAreFewEnough) {
  EXPECT_THAT(detail::values::computeHistogram(even(), 8, 8).raw.bucketCounts, SizeIs(8));
}

TEST(CheckHistogramBins, NamesTheRulesThatThereAre) {
  expectInvalidArgument(
      [] { detail::values::checkHistogramBins("freedman"); },
      "got bins = \"freedman\"; expected one of \"tensorflow\", \"auto\", \"fd\", \"sturges\", "
      "\"doane\", \"scott\", \"rice\", \"sqrt\", a count, or edges");
}

TEST(CheckHistogramBins, RejectsCountsOutOfRange) {
  expectInvalidArgument([] { detail::values::checkHistogramBins(0); },
                        "got bins = 0; expected a count from 1 to 65536");
  expectInvalidArgument([] { detail::values::checkHistogramBins(65'537); },
                        "got bins = 65537; expected a count from 1 to 65536");
}

TEST(CheckHistogramBins, RejectsEdgesThatDoNotAscend) {
  expectInvalidArgument(
      [] {
        detail::values::checkHistogramBins({0.0, 2.0, 2.0});
      },
      "got bins[2] = 2.000000 after 2.000000; expected increasing edges");
  expectInvalidArgument([] { detail::values::checkHistogramBins(std::vector<double>{1.0}); },
                        "got 1 edges in bins; expected at least 2");
  expectInvalidArgument(
      [] {
        detail::values::checkHistogramBins({0.0, kInfinity});
      },
      "got bins[1] = inf; expected a finite number; values outside the edges are counted in any "
      "case");
}

TEST(CheckHistogramBins, RejectsANegativeLimit) {
  expectInvalidArgument([] { detail::values::checkHistogramBins("fd", -1); },
                        "got maxBins = -1; expected 0 (no limit) or more");
}

TEST(CheckHistogramBins, IsAskedBeforeAnElementIsRead) {
  expectInvalidArgument([] { detail::values::computeHistogram(std::vector<float>{}, 0); },
                        "got bins = 0; expected a count from 1 to 65536");
}

}  // namespace
}  // namespace steptape
