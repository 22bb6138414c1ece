// SPDX-License-Identifier: Apache-2.0
#include "metrics/reduce/fingerprint_parts.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace steptape::detail::metrics {
namespace {

using Sums = std::array<double, FingerprintParts::kDoubles>;

/// Returns how many of the ranks with these fingerprints find that all have the same.
int ranksThatAgree(const std::vector<double>& fingerprints) {
  Sums sums{};
  for (const double fingerprint : fingerprints) {
    Sums stored{};
    FingerprintParts(fingerprint).store(stored.data());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += stored[i];
    }
  }
  int agreeing = 0;
  for (const double fingerprint : fingerprints) {
    const auto ranks = static_cast<int>(fingerprints.size());
    agreeing += FingerprintParts(fingerprint).areThoseOfAll(sums.data(), ranks) ? 1 : 0;
  }
  return agreeing;
}

TEST(FingerprintParts, AgreeOnEqualFingerprints) {
  const double largest = 4503599627370495.0;  // 2^52 - 1
  EXPECT_EQ(ranksThatAgree({largest}), 1);
  EXPECT_EQ(ranksThatAgree(std::vector<double>(1000, largest)), 1000);
  EXPECT_EQ(ranksThatAgree({0, 0, 0}), 3);
}

TEST(FingerprintParts, DisagreeAlsoOnTheRankThatHasTheMean) {
  EXPECT_EQ(ranksThatAgree({1, 2, 3}), 0);
}

TEST(FingerprintParts, DisagreeAlsoOnTheRankThatHasTheMeanOfTheSquares) {
  EXPECT_EQ(ranksThatAgree({1, 5, 7}), 0);  // 1 + 25 + 49 = 3 * 25
}

TEST(FingerprintParts, SeeADifferenceInEveryBit) {
  for (int bit = 0; bit < 52; ++bit) {
    const auto other = static_cast<double>(std::uint64_t{1} << bit);
    EXPECT_EQ(ranksThatAgree({0, other}), 0) << "bit " << bit;
  }
}

}  // namespace
}  // namespace steptape::detail::metrics
