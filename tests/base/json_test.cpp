// SPDX-License-Identifier: Apache-2.0
#include "steptape/base/json.h"

#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "base/json_chars.h"
#include "base/json_text.h"
#include "base/shortest_double.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::base::jsonNumber;
using detail::base::jsonString;

TEST(JsonString, QuotesText) {
  EXPECT_EQ(jsonString(""), R"("")");
  EXPECT_EQ(jsonString("loss/train"), R"("loss/train")");
}

TEST(JsonString, EscapesWhatWouldEndIt) {
  EXPECT_EQ(jsonString(R"(a"b\c)"), R"("a\"b\\c")");
}

TEST(JsonString, EscapesControlCharacters) {
  EXPECT_EQ(jsonString("\n\r\t"), R"("\n\r\t")");
  EXPECT_EQ(jsonString({"\0\x01\x1f", 3}), R"("\u0000\u0001\u001f")");
  EXPECT_EQ(jsonString("\x7f"), "\"\x7f\"");
}

TEST(JsonString, KeepsUtf8AndReplacesInvalidBytes) {
  EXPECT_EQ(jsonString("\xc3\xa4"), "\"\xc3\xa4\"");
  EXPECT_EQ(jsonString("a\xff"), "\"a\xef\xbf\xbd\"");
}

TEST(JsonString, AppendsToExistingText) {
  std::string out = "{";
  appendJsonString(&out, "a");
  appendJsonNumber(&out, 1);
  EXPECT_EQ(out, "{\"a\"1");
}

TEST(JsonNumber, TakesTheFewestDigits) {
  EXPECT_EQ(jsonNumber(0), "0");
  EXPECT_EQ(jsonNumber(-0.0), "-0.0");
  EXPECT_EQ(jsonNumber(0.1), "0.1");
  EXPECT_EQ(jsonNumber(1'700'000'000.25), "1700000000.25");
  EXPECT_EQ(jsonNumber(double{0.31F}), "0.3100000023841858");
}

TEST(JsonNumber, IsNoIntegerWhereItIsReal) {
  const auto real = [](double value) {
    char digits[detail::base::kMaxJsonNumber];
    return std::string(digits, detail::base::writeJsonReal(digits, value));
  };
  EXPECT_EQ(real(0), "0.0");
  EXPECT_EQ(real(-0.0), "-0.0");
  EXPECT_EQ(real(-12), "-12.0");
  EXPECT_EQ(real(0.5), "0.5");
  EXPECT_EQ(real(1e5), "100000.0");
  EXPECT_EQ(real(-1e15), "-1000000000000000.0");
  EXPECT_EQ(real(1'700'000'001), "1700000001.0");
  EXPECT_EQ(real(-1e18 - 4096), "-1000000000000004096.0");
  EXPECT_EQ(real(std::numeric_limits<double>::quiet_NaN()), "\"NaN\"");
  EXPECT_EQ(real(-std::numeric_limits<double>::infinity()), "\"-Infinity\"");
}

TEST(JsonNumber, HasAnExponentWhereItIsNo64BitInteger) {
  EXPECT_EQ(jsonNumber(9223372036854774784.0), "9223372036854774784");
  EXPECT_EQ(jsonNumber(0x1p63), "9.223372036854776e+18");
  EXPECT_EQ(jsonNumber(-double{1e20F}), "-1.0000000200408773e+20");
}

TEST(JsonNumber, TakesTheFewestDigitsForWallTimesToo) {
  EXPECT_EQ(jsonNumber(1700000000.5), "1700000000.5");
  EXPECT_EQ(jsonNumber(1700000000.000001), "1700000000.000001");
  EXPECT_EQ(jsonNumber(std::nextafter(1700000000.0, 2e9)), "1700000000.0000002");
  EXPECT_EQ(jsonNumber(std::nextafter(1700000001.0, 0)), "1700000000.9999998");
  EXPECT_EQ(jsonNumber(std::nextafter(0x1p31, 0)), "2147483647.9999998");
}

TEST(JsonNumber, GivesWallTimesBackAsTheGeneralAlgorithmDoes) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> times(0x1p30, 0x1p31);
  for (int i = 0; i < 200'000; ++i) {
    double time = times(random);
    if (i % 2 == 0) {
      time = std::round(time * 1e6) / 1e6;  // a clock with microsecond resolution
    }
    const std::string text = jsonNumber(time);
    ASSERT_EQ(std::strtod(text.c_str(), nullptr), time) << text;
    std::string portable;
    detail::base::appendShortestDoublePortable(&portable, time);
    ASSERT_LE(text.size(), portable.size()) << text << " " << portable;
  }
}

TEST(JsonNumber, WritesIntegers) {
  std::string out = "x";
  appendJsonInteger(&out, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(out, "x-9223372036854775808");
}

TEST(JsonNumber, WritesNanAndInfinitiesAsStrings) {
  EXPECT_EQ(jsonNumber(std::nan("")), R"("NaN")");
  EXPECT_EQ(jsonNumber(-std::nan("")), R"("NaN")");
  EXPECT_EQ(jsonNumber(HUGE_VAL), R"("Infinity")");
  EXPECT_EQ(jsonNumber(-HUGE_VAL), R"("-Infinity")");
}

class ShortestDouble : public ::testing::TestWithParam<void (*)(std::string*, double)> {
 protected:
  std::string digits(double value) const {
    std::string out;
    GetParam()(&out, value);
    return out;
  }
};

TEST_P(ShortestDouble, IsReadBackAsTheSameNumber) {
  std::uint64_t bits = 1;
  for (int i = 0; i < 20'000; ++i) {
    bits = bits * 6364136223846793005 + 1442695040888963407;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) {
      ASSERT_EQ(std::strtod(digits(value).c_str(), nullptr), value) << digits(value);
    }
  }
}

TEST_P(ShortestDouble, KeepsTheLimits) {
  using Limits = std::numeric_limits<double>;
  for (const double value :
       {Limits::min(), Limits::max(), Limits::lowest(), Limits::denorm_min()}) {
    EXPECT_EQ(std::strtod(digits(value).c_str(), nullptr), value);
  }
}

TEST_P(ShortestDouble, IsShortForShortNumbers) {
  EXPECT_EQ(digits(0.3), "0.3");
  EXPECT_EQ(digits(-2.5), "-2.5");
  EXPECT_EQ(digits(1e-7), "1e-07");
}

TEST_P(ShortestDouble, DoesNotFollowTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C"}) {
    std::setlocale(LC_ALL, locale);  // if it is installed
    EXPECT_EQ(digits(0.5), "0.5") << locale;
  }
  std::setlocale(LC_ALL, before.c_str());
}

INSTANTIATE_TEST_SUITE_P(Library, ShortestDouble,
                         ::testing::Values(&detail::base::appendShortestDouble));
INSTANTIATE_TEST_SUITE_P(Portable, ShortestDouble,
                         ::testing::Values(&detail::base::appendShortestDoublePortable));

class ShortestFloat : public ::testing::TestWithParam<void (*)(std::string*, float)> {
 protected:
  std::string digits(float value) const {
    std::string out;
    GetParam()(&out, value);
    return out;
  }
};

TEST_P(ShortestFloat, IsReadBackAsTheSameNumber) {
  std::uint32_t bits = 1;
  for (int i = 0; i < 20'000; ++i) {
    bits = bits * 1664525 + 1013904223;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) {
      ASSERT_EQ(std::strtof(digits(value).c_str(), nullptr), value) << digits(value);
    }
  }
}

TEST_P(ShortestFloat, HasOnlyTheDigitsThatAFloatNeeds) {
  EXPECT_EQ(digits(0.1F), "0.1");
  EXPECT_EQ(digits(1.0F / 3), "0.33333334");
  EXPECT_EQ(digits(-1e-7F), "-1e-07");
}

INSTANTIATE_TEST_SUITE_P(Library, ShortestFloat,
                         ::testing::Values(&detail::base::appendShortestFloat));
INSTANTIATE_TEST_SUITE_P(Portable, ShortestFloat,
                         ::testing::Values(&detail::base::appendShortestFloatPortable));

}  // namespace
}  // namespace steptape
