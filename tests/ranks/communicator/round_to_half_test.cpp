// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/round_to_half.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace steptape::detail::ranks {
namespace {

base::Float16 rounded(float value, base::Float16 /*type*/) {
  return roundToFloat16(value);
}
base::BFloat16 rounded(float value, base::BFloat16 /*type*/) {
  return roundToBFloat16(value);
}

/// Tests every number of a 16-bit type, its neighbor, and numbers between them; `infinity` are
/// infinity's bits.
template <typename Half>
void expectRoundsToNearestEven(std::uint16_t infinity) {
  for (std::uint32_t bits = 0; bits < infinity; ++bits) {
    const Half low{static_cast<std::uint16_t>(bits)};
    const Half high{static_cast<std::uint16_t>(bits + 1)};
    const float value = base::toFloat(low);
    ASSERT_EQ(rounded(value, Half{}).bits, low.bits);
    ASSERT_EQ(rounded(-value, Half{}).bits, low.bits | 0x8000);
    if (high.bits == infinity) {
      break;
    }
    // The sum of two numbers of 16 bits is exact in double, and its half in float.
    const auto middle = static_cast<float>((static_cast<double>(value) + base::toFloat(high)) / 2);
    ASSERT_EQ(rounded(middle, Half{}).bits, bits % 2 == 0 ? low.bits : high.bits) << bits;
    ASSERT_EQ(rounded(std::nextafterf(middle, 0), Half{}).bits, low.bits) << bits;
    ASSERT_EQ(rounded(std::nextafterf(middle, std::numeric_limits<float>::infinity()), Half{}).bits,
              high.bits)
        << bits;
  }
}

TEST(RoundToHalf, RoundsToNearestFloat16TiesToEven) {
  expectRoundsToNearestEven<base::Float16>(0x7C00);
}

TEST(RoundToHalf, RoundsToNearestBFloat16TiesToEven) {
  expectRoundsToNearestEven<base::BFloat16>(0x7F80);
}

TEST(RoundToHalf, RoundsLargeValuesToInfinity) {
  // The largest numbers are 65504 and (2 - 2^-7) * 2^127; the limit is half a step above.
  EXPECT_EQ(roundToFloat16(65519.996F).bits, 0x7BFF);
  EXPECT_EQ(roundToFloat16(65520.0F).bits, 0x7C00);
  EXPECT_EQ(roundToFloat16(-1e30F).bits, 0xFC00);
  EXPECT_EQ(roundToBFloat16(std::numeric_limits<float>::max()).bits, 0x7F80);
  EXPECT_EQ(roundToBFloat16(-std::numeric_limits<float>::infinity()).bits, 0xFF80);
}

TEST(RoundToHalf, KeepsNaN) {
  // A NaN whose upper half alone would be an infinity.
  const float thin = base::bitCast<float>(std::uint32_t{0x7F800001});
  for (const float nan : {thin, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_TRUE(std::isnan(toFloat(roundToFloat16(nan))));
    EXPECT_TRUE(std::isnan(toFloat(roundToBFloat16(nan))));
  }
}

}  // namespace
}  // namespace steptape::detail::ranks
