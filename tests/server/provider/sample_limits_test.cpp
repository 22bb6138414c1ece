// SPDX-License-Identifier: Apache-2.0
#include "server/provider/sample_limits.h"

#include <limits>

#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace steptape::detail::server {
namespace {

using event::DataClass;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

TEST(SampleLimits, DependOnTheKindOfDataWithoutOptions) {
  const SampleLimits limits = SampleLimits::parse("");
  EXPECT_EQ(limits.of("scalars", DataClass::kScalar), 1000U);
  EXPECT_EQ(limits.of("histograms", DataClass::kTensor), 100U);
  EXPECT_EQ(limits.of("images", DataClass::kBlobSequence), 10U);
  EXPECT_EQ(limits.of("mine", DataClass::kTensor), 100U);
  EXPECT_EQ(limits.of("mine", DataClass::kUnknown), 0U);
}

TEST(SampleLimits, AreSetByPlugin) {
  const SampleLimits limits = SampleLimits::parse("scalars=500,images=all,text=0");
  EXPECT_EQ(limits.of("scalars", DataClass::kScalar), 500U);
  EXPECT_EQ(limits.of("images", DataClass::kBlobSequence), kAll);
  EXPECT_EQ(limits.of("text", DataClass::kTensor), 0U);
  EXPECT_EQ(limits.of("audio", DataClass::kBlobSequence), 10U);
}

TEST(SampleLimits, AreThoseThatAreGivenLast) {
  EXPECT_EQ(SampleLimits::parse("a=1,a=2").of("a", DataClass::kScalar), 2U);
}

TEST(SampleLimits, IgnoreEmptyParts) {
  EXPECT_EQ(SampleLimits::parse(",a=1,,").of("a", DataClass::kScalar), 1U);
}

TEST(SampleLimits, RejectOtherText) {
  const auto expectRejected = [](const char* text, const char* message) {
    test::expectInvalidArgument([&] { static_cast<void>(SampleLimits::parse(text)); }, message);
  };
  expectRejected("scalars", "samples-per-plugin: got \"scalars\"; expected PLUGIN=COUNT");
  expectRejected("=5", "samples-per-plugin: got \"=5\"; expected PLUGIN=COUNT");
  for (const char* count : {"", "-1", "1.5", "many", "5 ", "99999999999999999999999"}) {
    expectRejected(("scalars=" + std::string(count)).c_str(),
                   ("samples-per-plugin: got \"" + std::string(count) +
                    "\"; expected a number of points or \"all\"")
                       .c_str());
  }
}

}  // namespace
}  // namespace steptape::detail::server
