// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <set>

#include "steptape/train/samples.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

TEST(SampleRandom, RepeatsItsNumbersForTheSameSample) {
  SampleRandom first(1, 2, 3);
  SampleRandom second(1, 2, 3);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(first.bits(), second.bits());
  }
}

TEST(SampleRandom, DiffersWithSeedEpochAndSample) {
  std::set<std::uint64_t> bits;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
      for (std::int64_t sample = 0; sample < 10; ++sample) {
        SampleRandom random(seed, epoch, sample);
        bits.insert(random.bits());
        bits.insert(random.bits());
      }
    }
  }
  EXPECT_EQ(bits.size(), 2000u);
}

TEST(SampleRandom, IsUniform) {
  std::array<int, 10> fromUniform{};
  std::array<int, 10> fromBelow{};
  for (std::int64_t sample = 0; sample < 10'000; ++sample) {
    SampleRandom random(0, 0, sample);
    ++fromUniform.at(static_cast<std::size_t>(random.uniform(0, 10)));
    ++fromBelow.at(static_cast<std::size_t>(random.below(10)));
  }
  for (std::size_t i = 0; i < 10; ++i) {  // The standard deviation of each is 30.
    EXPECT_NEAR(fromUniform[i], 1000, 150);
    EXPECT_NEAR(fromBelow[i], 1000, 150);
  }
}

TEST(SampleRandom, StaysInItsRange) {
  SampleRandom random(0, 0, 0);
  for (int i = 0; i < 1000; ++i) {
    const double value = random.uniform(-2, 3);
    EXPECT_GE(value, -2);
    EXPECT_LT(value, 3);
    EXPECT_EQ(random.below(1), 0);
  }
}

}  // namespace
}  // namespace steptape
