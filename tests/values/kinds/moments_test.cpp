// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/histogram/moments.h"

#include <cmath>
#include <vector>

#include "values/kinds/type_names.h"

#include <gtest/gtest.h>

namespace steptape::detail::values {
namespace {

template <typename Float>
class MomentsTest : public ::testing::Test {
 protected:
  static Moments of(const std::vector<Float>& values) {
    Moments moments;
    moments.add(values.data(), values.size());
    return moments;
  }
};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MomentsTest, Floats, TypeNames);

// Lengths around those of the vector loops, so that each value is in a lane or in the remainder.
TYPED_TEST(MomentsTest, FindEveryValueAtEveryPlaceOfEveryLength) {
  for (std::size_t length = 1; length <= 20; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      std::vector<TypeParam> values(length, 1);
      values[place] = -3;
      EXPECT_EQ(this->of(values).min(), -3);
      EXPECT_EQ(this->of(values).sum(), static_cast<double>(length) - 4);
      EXPECT_EQ(this->of(values).sumSquares(), static_cast<double>(length) + 8);
      values[place] = 5;
      EXPECT_EQ(this->of(values).max(), 5);
    }
  }
}

TYPED_TEST(MomentsTest, IgnoreValuesThatAreNotFinite) {
  for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    std::vector<TypeParam> values(9, 2);
    values[4] = static_cast<TypeParam>(odd);
    EXPECT_EQ(this->of(values).min(), 2);
    EXPECT_EQ(this->of(values).max(), 2);
    EXPECT_EQ(this->of(values).sum(), 16);
    EXPECT_EQ(this->of(values).sumSquares(), 32);
  }
}

TYPED_TEST(MomentsTest, KeepTheSumOfManySmallValues) {
  // In binary32, the sum would stop at 2^24.
  const std::vector<TypeParam> values(1 << 12, 1);
  Moments moments;
  for (int i = 0; i < (1 << 13); ++i) {
    moments.add(values.data(), values.size());
  }
  EXPECT_EQ(moments.sum(), 0x1p25);
}

TEST(MomentsOfDoubles, SurviveASquareThatOverflows) {
  Moments moments;
  const std::vector<double> values = {1e200, -2e200};
  moments.add(values.data(), values.size());
  EXPECT_EQ(moments.min(), -2e200);
  EXPECT_EQ(moments.max(), 1e200);
  EXPECT_EQ(moments.sum(), -1e200);
}

}  // namespace
}  // namespace steptape::detail::values
