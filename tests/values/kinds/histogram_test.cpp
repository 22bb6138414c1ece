// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/histogram/histogram.h"

#include <limits>
#include <numeric>

#include "values/kinds/special_values.h"
#include "values/kinds/type_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

void expectSame(const HistogramRaw& a, const HistogramRaw& b) {
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  EXPECT_EQ(a.num, b.num);
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(a.sumSquares, b.sumSquares);
  EXPECT_EQ(a.bucketLimits, b.bucketLimits);
  EXPECT_EQ(a.bucketCounts, b.bucketCounts);
}

// Produced by torch.utils.tensorboard 2.13 from these float64 values with its default bins, without
// its leading empty bucket.
TEST(ComputeHistogram, GivesTorchsBucketsAndCounts) {
  const HistogramRaw raw =
      detail::values::computeHistogram(std::vector<double>{0.21, 0.25, 0.25, 0.3, 0.31, 0.5}).raw;
  EXPECT_THAT(
      raw.bucketLimits,
      ElementsAre(0.2195814928486969, 0.24153964213356663, 0.2656936063469233, 0.29226296698161564,
                  0.3214892636797772, 0.35363819004775493, 0.38900200905253046, 0.42790220995778355,
                  0.47069243095356195, 0.5177616740489182));
  EXPECT_THAT(raw.bucketCounts, ElementsAre(1, 0, 2, 0, 2, 0, 0, 0, 0, 1));
  EXPECT_EQ(raw.min, 0.21);
  EXPECT_EQ(raw.max, 0.5);
  EXPECT_EQ(raw.num, 6);
  EXPECT_DOUBLE_EQ(raw.sum, 1.82);
  EXPECT_DOUBLE_EQ(raw.sumSquares, 0.6052);
}

TEST(ComputeHistogram, PutsEqualValuesIntoOneBucket) {
  const HistogramRaw raw = detail::values::computeHistogram(std::vector<float>(1000, -2.5F)).raw;
  EXPECT_THAT(raw.bucketCounts, ElementsAre(1000));
  EXPECT_EQ(raw.min, -2.5);
  EXPECT_EQ(raw.max, -2.5);
  EXPECT_EQ(raw.sum, -2500);
  EXPECT_EQ(raw.sumSquares, 6250);
}

TEST(ComputeHistogram, PutsBothZerosIntoOneBucket) {
  const HistogramRaw raw = detail::values::computeHistogram(std::vector<float>{0.0F, -0.0F}).raw;
  EXPECT_THAT(raw.bucketLimits, ElementsAre(1e-12));
  EXPECT_THAT(raw.bucketCounts, ElementsAre(2));
}

TEST(ComputeHistogram, CountsValuesBeyondTheLimits) {
  const HistogramRaw raw =
      detail::values::computeHistogram(std::vector<float>{-1e30F, 0, 2e30F, 3e30F}).raw;
  EXPECT_EQ(raw.num, 4);
  EXPECT_EQ(raw.bucketLimits.size(), 1550U);
  EXPECT_EQ(raw.bucketCounts.front(), 1);
  EXPECT_EQ(raw.bucketCounts.back(), 2);
  EXPECT_EQ(raw.bucketLimits.back(), std::numeric_limits<double>::max());
}

TEST(ComputeHistogram, CountsNansAndInfinitiesApart) {
  const detail::values::HistogramData data = detail::values::computeHistogram(
      std::vector<float>{1, kNan, kInfinity, -kNan, -kInfinity, kInfinity, 2, kInfinity});
  EXPECT_EQ(data.nanCount, 2U);
  EXPECT_EQ(data.posInfCount, 3U);
  EXPECT_EQ(data.negInfCount, 1U);
  EXPECT_EQ(data.raw.num, 2);
  EXPECT_EQ(data.raw.min, 1);
  EXPECT_EQ(data.raw.max, 2);
  EXPECT_EQ(data.raw.sum, 3);
  EXPECT_EQ(data.raw.sumSquares, 5);
}

TEST(ComputeHistogram, IsEmptyWithoutValues) {
  const detail::values::HistogramData data = detail::values::computeHistogram(std::vector<float>{});
  expectSame(data.raw, HistogramRaw{});
  EXPECT_EQ(data.nanCount + data.posInfCount + data.negInfCount, 0U);
}

TEST(ComputeHistogram, WithoutAFiniteValueIsEmpty) {
  const detail::values::HistogramData data =
      detail::values::computeHistogram(std::vector<double>{kNan, kInfinity});
  expectSame(data.raw, HistogramRaw{});
  EXPECT_EQ(data.nanCount, 1U);
  EXPECT_EQ(data.posInfCount, 1U);
}

TEST(ComputeHistogram, CountsEveryElementOfALargeTensor) {
  std::vector<float> values(100'003);
  std::iota(values.begin(), values.end(), -50'001.0F);
  const HistogramRaw raw = detail::values::computeHistogram(values).raw;
  EXPECT_EQ(raw.num, 100'003);
  EXPECT_EQ(std::accumulate(raw.bucketCounts.begin(), raw.bucketCounts.end(), 0.0), 100'003);
  EXPECT_EQ(raw.min, -50'001);
  EXPECT_EQ(raw.max, 50'001);
  EXPECT_EQ(raw.sum, 0);
}

class StridedHistogram : public ::testing::Test {
 protected:
  StridedHistogram() : values_(6'000) { std::iota(values_.begin(), values_.end(), -2'000.0F); }
  std::vector<float> values_;
};

TEST_F(StridedHistogram, OfATransposedTensorIsThatOfTheTensor) {
  expectSame(detail::values::computeHistogram(TensorView(values_.data(), {60, 100}, {1, 60})).raw,
             detail::values::computeHistogram(values_).raw);
}

TEST_F(StridedHistogram, OfAReversedTensorIsThatOfTheTensor) {
  expectSame(
      detail::values::computeHistogram(TensorView(values_.data() + 5'999, {6'000}, {-1})).raw,
      detail::values::computeHistogram(values_).raw);
}

TEST_F(StridedHistogram, CountsOnlyWhatTheViewShows) {
  std::vector<float> odd;
  for (std::size_t i = 1; i < values_.size(); i += 2) {
    odd.push_back(values_[i]);
  }
  expectSame(detail::values::computeHistogram(TensorView(values_.data() + 1, {3'000}, {2})).raw,
             detail::values::computeHistogram(odd).raw);
}

template <typename T>
class HistogramOfIntegers : public ::testing::Test {};
using Integers = ::testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                                  std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, double>;
TYPED_TEST_SUITE(HistogramOfIntegers, Integers, TypeNames);

TYPED_TEST(HistogramOfIntegers, IsThatOfTheSameFloats) {
  std::vector<TypeParam> integers;
  std::vector<float> floats;
  for (int i = std::is_signed_v<TypeParam> ? -100 : 0; i < 127; ++i) {
    integers.push_back(static_cast<TypeParam>(i));
    floats.push_back(static_cast<float>(i));
  }
  expectSame(detail::values::computeHistogram(integers).raw,
             detail::values::computeHistogram(floats).raw);
}

TEST(ComputeHistogram, OfHalvesIsThatOfTheSameFloats) {
  const std::uint16_t halves[] = {0x3C00, 0xC000, 0x0001, 0x7C00};  // 1, -2, 2^-24, infinity
  const detail::values::HistogramData data =
      detail::values::computeHistogram(TensorView(halves, DType::kFloat16, {4}, {}));
  expectSame(data.raw, detail::values::computeHistogram(std::vector<float>{1, -2, 0x1p-24F}).raw);
  EXPECT_EQ(data.posInfCount, 1U);
}

TEST(ComputeHistogram, OfBrainFloatsIsThatOfTheSameFloats) {
  const std::uint16_t brains[] = {0x3F80, 0xC000, 0x7FC0};  // 1, -2, NaN
  const detail::values::HistogramData data =
      detail::values::computeHistogram(TensorView(brains, DType::kBFloat16, {3}, {}));
  expectSame(data.raw, detail::values::computeHistogram(std::vector<float>{1, -2}).raw);
  EXPECT_EQ(data.nanCount, 1U);
}

TEST(ComputeHistogram, OfBoolsCountsZerosAndOnes) {
  const bool bools[] = {true, false, true};
  const HistogramRaw raw = detail::values::computeHistogram(TensorView(bools, {3})).raw;
  EXPECT_EQ(raw.bucketCounts.front(), 1);
  EXPECT_EQ(raw.bucketCounts.back(), 2);
  EXPECT_EQ(raw.sum, 2);
}

}  // namespace
}  // namespace steptape
