// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/histogram/histogram_bins.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "base/element.h"
#include "values/kinds/type_names.h"

#include <gtest/gtest.h>

namespace steptape::detail::values {
namespace {

/// The reference implementation: ascending limits and a binary search.
class UpperBound {
 public:
  UpperBound() {
    for (const double limit : positiveLimits()) {
      limits_.push_back(limit);
      limits_.push_back(-limit);
    }
    limits_.push_back(0);
    std::sort(limits_.begin(), limits_.end());
  }

  std::size_t bucketOf(double value) const {
    if (value == limits_.back()) {
      return limits_.size() - 1;  // numpy.histogram: the last edge is included
    }
    return static_cast<std::size_t>(std::upper_bound(limits_.begin(), limits_.end(), value) -
                                    limits_.begin());
  }

  const std::vector<double>& limits() const { return limits_; }

 private:
  std::vector<double> limits_;
};

/// Counts the values both ways and expects the same buckets.
template <typename Float>
void expectSameCounts(const std::vector<Float>& values) {
  const UpperBound reference;
  std::vector<std::uint64_t> expected(kBuckets, 0);
  for (const Float value : values) {
    ++expected[reference.bucketOf(value)];
  }
  const auto counts = std::make_unique<SlotCounts>();
  SlotTable<Float>::instance().count(values.data(), values.size(), counts.get());
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    ASSERT_EQ(bucketTotal(*counts, bucket), expected[bucket]) << "bucket " << bucket;
  }
}

/// Appends `value` and its nearest neighbors on either side.
template <typename Float>
void appendAround(double value, std::vector<Float>* out) {
  const Float infinity = std::numeric_limits<Float>::infinity();
  const Float middle = static_cast<Float>(value);
  out->push_back(middle);
  Float below = middle;
  Float above = middle;
  for (int i = 0; i < 3; ++i) {
    below = std::nextafter(below, -infinity);
    above = std::nextafter(above, infinity);
    out->push_back(below);
    out->push_back(above);
  }
}

template <typename Float>
class SlotTableTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SlotTableTest, Floats, TypeNames);

TYPED_TEST(SlotTableTest, CountsEveryLimitAndItsNeighborsLikeASearch) {
  const UpperBound reference;
  std::vector<TypeParam> values;
  for (const double limit : reference.limits()) {
    appendAround(limit, &values);
  }
  expectSameCounts(values);
}

TYPED_TEST(SlotTableTest, CountsZerosDenormalsAndTheLargestLikeASearch) {
  using Limits = std::numeric_limits<TypeParam>;
  expectSameCounts<TypeParam>({0, -TypeParam{0}, Limits::denorm_min(), -Limits::denorm_min(),
                               Limits::min(), -Limits::min(), Limits::max(), Limits::lowest(),
                               static_cast<TypeParam>(1e20), static_cast<TypeParam>(-1e20)});
}

TYPED_TEST(SlotTableTest, CountsRandomBitPatternsLikeASearch) {
  using Bits = typename SlotTable<TypeParam>::Bits;
  std::mt19937_64 random(42);
  std::vector<TypeParam> values;
  while (values.size() < 500'000) {
    const auto value = base::bitCast<TypeParam>(static_cast<Bits>(random()));
    if (std::isfinite(value)) {
      values.push_back(value);
    }
  }
  expectSameCounts(values);
}

TYPED_TEST(SlotTableTest, CountsBothEndsOfEveryKeyLikeASearch) {
  using Bits = typename SlotTable<TypeParam>::Bits;
  constexpr int kLowBits = 8 * sizeof(TypeParam) - 16;
  std::vector<TypeParam> values;
  for (Bits key = 0; key < 0x10000; ++key) {
    for (const Bits low : {Bits{0}, (Bits{1} << kLowBits) - 1}) {
      const auto value = base::bitCast<TypeParam>(static_cast<Bits>(key << kLowBits | low));
      if (std::isfinite(value)) {
        values.push_back(value);
      }
    }
  }
  expectSameCounts(values);
}

TYPED_TEST(SlotTableTest, DistinguishesInfinitiesAndNans) {
  const auto& table = SlotTable<TypeParam>::instance();
  using Limits = std::numeric_limits<TypeParam>;
  using Bits = typename SlotTable<TypeParam>::Bits;
  const Bits infinity = base::bitCast<Bits>(Limits::infinity());
  EXPECT_EQ(table.slot(Limits::infinity()), kPosInfSlot);
  EXPECT_EQ(table.slot(-Limits::infinity()), kNegInfSlot);
  EXPECT_EQ(table.slot(Limits::quiet_NaN()), kPosNanSlot);
  EXPECT_EQ(table.slot(-Limits::quiet_NaN()), kNegNanSlot);
  // The NaN whose bits are next to infinity's.
  EXPECT_EQ(table.slot(base::bitCast<TypeParam>(static_cast<Bits>(infinity + 1))), kPosNanSlot);
  EXPECT_LT(table.slot(Limits::max()), kPosInfSlot);
}

TEST(PositiveLimits, AreThoseOfTheOtherWriters) {
  const std::vector<double>& limits = positiveLimits();
  ASSERT_EQ(limits.size(), kPositiveLimits);
  EXPECT_EQ(limits.front(), 1e-12);
  // torch.utils.tensorboard 2.13: SummaryWriter(...).default_bins[-1] and [-500].
  EXPECT_EQ(limits.back(), 9.920775621859783e+19);
  EXPECT_EQ(limits[kPositiveLimits - 500], 0.2195814928486969);
}

TEST(BucketLimit, AscendsFromTheLowestLimitToTheLargestDouble) {
  for (std::size_t bucket = 1; bucket < kBuckets; ++bucket) {
    ASSERT_LT(bucketLimit(bucket - 1), bucketLimit(bucket));
  }
  EXPECT_EQ(bucketLimit(0), -positiveLimits().back());
  EXPECT_EQ(bucketLimit(kPositiveLimits), 0);
  EXPECT_EQ(bucketLimit(kBuckets - 1), std::numeric_limits<double>::max());
}

}  // namespace
}  // namespace steptape::detail::values
