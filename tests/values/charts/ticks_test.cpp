// SPDX-License-Identifier: Apache-2.0
#include "values/charts/ticks.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::figure {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> texts(const std::vector<Label>& labels) {
  std::vector<std::string> texts;
  for (const Label& label : labels) {
    texts.push_back(label.superscript.empty() ? label.text : label.text + "^" + label.superscript);
  }
  return texts;
}

std::vector<std::string> texts(const Ticks& ticks) {
  std::vector<Label> labels;
  for (const Tick& tick : ticks.major) {
    labels.push_back(tick.label);
  }
  return texts(labels);
}

TEST(LinearTicks, AreMultiplesOf1) {
  EXPECT_THAT(linearTicks(0, 5, 6), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(LinearTicks, AreMultiplesOf2IfThoseOf1AreTooMany) {
  EXPECT_THAT(linearTicks(0, 8, 6), ElementsAre(0, 2, 4, 6, 8));
}

TEST(LinearTicks, AreMultiplesOf5IfThoseOf2AreTooMany) {
  EXPECT_THAT(linearTicks(0, 22, 6), ElementsAre(0, 5, 10, 15, 20));
}

TEST(LinearTicks, IncludeLimitsThatARoundingErrorMisses) {
  EXPECT_THAT(linearTicks(0.1 + 0.2, 0.5, 3),  // 0.30000000000000004
              ElementsAre(DoubleEq(0.3), DoubleEq(0.4), DoubleEq(0.5)));
}

TEST(LinearTicks, HaveAnExactZero) {
  EXPECT_EQ(linearTicks(-0.3, 0.3, 7)[3], 0);
}

TEST(LinearTicks, LieWithinTheLimits) {
  EXPECT_THAT(linearTicks(0.7, 3.4, 5), ElementsAre(1, 2, 3));
}

TEST(LinearTicks, KeepTheLeastStepOfCountedThings) {
  EXPECT_THAT(linearTicks(-0.5, 1.5, 9, 1), ElementsAre(0, 1));
}

TEST(LinearTicks, AreNeverMoreThanAskedForOverAllSizesAndOffsets) {
  for (int exponent = -300; exponent <= 300; exponent += 7) {
    for (const double offset : {0.0, 0.37, -3.0, 123.456}) {
      const double size = std::pow(10.0, exponent);
      const double min = offset * size;
      for (int most = 2; most <= 9; ++most) {
        const std::vector<double> ticks = linearTicks(min, min + 1.7 * size, most);
        EXPECT_LE(ticks.size(), static_cast<std::size_t>(most)) << min;
        EXPECT_GE(ticks.size(), 1U) << min;
      }
    }
  }
}

TEST(LinearTicks, CoverTheWholeRangeOfDoubles) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_THAT(linearTicks(-most, most, 5), ElementsAre(-1e308, 0, 1e308));
}

TEST(NumberLabels, HaveTheDecimalsOfTheMostPrecise) {
  EXPECT_THAT(texts(numberLabels({0, 0.5, 1})), ElementsAre("0", "0.5", "1.0"));
  EXPECT_THAT(texts(numberLabels({0.25, 0.3})), ElementsAre("0.25", "0.30"));
  EXPECT_THAT(texts(numberLabels({0, 2000, 10000})), ElementsAre("0", "2000", "10000"));
}

TEST(NumberLabels, HaveATypographicMinus) {
  EXPECT_THAT(texts(numberLabels({-1, 0, 1})), ElementsAre("\u22121", "0", "1"));
}

TEST(NumberLabels, ShortenLargeNumbers) {
  EXPECT_THAT(texts(numberLabels({0, 50e3, 100e3})), ElementsAre("0", "50k", "100k"));
  EXPECT_THAT(texts(numberLabels({0.5e6, 1e6, 1.5e6})), ElementsAre("0.5M", "1.0M", "1.5M"));
  EXPECT_THAT(texts(numberLabels({2e9, 4e9})), ElementsAre("2G", "4G"));
  EXPECT_THAT(texts(numberLabels({3e12})), ElementsAre("3T"));
}

TEST(NumberLabels, UseAPowerOfTenForVeryLargeOrSmallNumbers) {
  EXPECT_THAT(texts(numberLabels({0, 2e-5, 4e-5})),
              ElementsAre("0", "2\u00D710^\u22125", "4\u00D710^\u22125"));
  EXPECT_THAT(texts(numberLabels({5e19, 1e20})), ElementsAre("0.5\u00D710^20", "1.0\u00D710^20"));
}

TEST(NumberLabels, TellApartNeighborsFarFromZero) {
  EXPECT_THAT(texts(numberLabels({1000000.5, 1000001})), ElementsAre("1.0000005M", "1.0000010M"));
}

AxisRange logRange(double min, double max) {
  return {min, max, AxisScale::kLog};
}

TEST(LogTicks, ArePowersOfTen) {
  EXPECT_THAT(texts(ticksFor(logRange(0.005, 200), 9)),
              ElementsAre("10^\u22122", "10^\u22121", "10^0", "10^1", "10^2"));
}

TEST(LogTicks, HaveUnnamedTicksBetweenThem) {
  EXPECT_THAT(ticksFor(logRange(1, 30), 9).minor, ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 20, 30));
}

TEST(LogTicks, SkipPowersThatAreTooMany) {
  const Ticks ticks = ticksFor(logRange(1e-6, 1e6), 5);
  EXPECT_THAT(texts(ticks), ElementsAre("10^\u22126", "10^\u22123", "10^0", "10^3", "10^6"));
  EXPECT_THAT(ticks.minor, ::testing::SizeIs(13));
}

TEST(LogTicks, AreAt125IfThereIsOnlyOnePower) {
  EXPECT_THAT(texts(ticksFor(logRange(0.15, 3), 9)), ElementsAre("0.2", "0.5", "1.0", "2.0"));
}

TEST(LogTicks, AreRoundNumbersWithinADecade) {
  const Ticks ticks = ticksFor(logRange(2.1, 2.45), 5);
  EXPECT_THAT(texts(ticks), ElementsAre("2.1", "2.2", "2.3", "2.4"));
  EXPECT_THAT(ticks.minor, IsEmpty());
}

TEST(LogTicks, CoverTheWholeRangeOfDoubles) {
  const Ticks ticks =
      ticksFor(logRange(std::numeric_limits<double>::min(), std::numeric_limits<double>::max()), 5);
  EXPECT_THAT(texts(ticks),
              ElementsAre("10^\u2212206", "10^\u2212103", "10^0", "10^103", "10^206"));
}

}  // namespace
}  // namespace steptape::figure
