// SPDX-License-Identifier: Apache-2.0
// Compiled as C++20 for the designated initializers; the other files of this test are C++17.
#include "steptape/values/value_options.h"

#include "values/kinds/histogram/histogram.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

TEST(ValueOptions, NameNoTimeByDefault) {
  EXPECT_FALSE(ScalarOptions().wallTime.has_value());
  EXPECT_EQ(ImageOptions().dataFormat, "CHW");
  EXPECT_EQ(ImagesOptions().dataFormat, "NCHW");
}

TEST(ValueOptions, TakeDesignatedInitializers) {
  const ScalarOptions scalar = {.wallTime = 12.5, .displayName = "Loss"};
  EXPECT_EQ(scalar.wallTime, 12.5);
  EXPECT_EQ(scalar.displayName, "Loss");
  const ImageOptions image = {.description = "a digit", .dataFormat = "HWC"};
  EXPECT_EQ(image.description, "a digit");
  EXPECT_EQ(image.dataFormat, "HWC");
}

TEST(HistogramRaw, TakesDesignatedInitializers) {
  const HistogramRaw raw = {.min = 1, .max = 2, .num = 3, .bucketCounts = {3}};
  EXPECT_EQ(raw.num, 3);
  EXPECT_TRUE(raw.bucketLimits.empty());
}

}  // namespace
}  // namespace steptape
