// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace steptape::detail::metrics {

/// A fingerprint as numbers whose sums over the ranks show whether all were equal.
///
/// For each of 4 parts, x is the sum and q the sum of squares over the ranks. If all n ranks have
/// the part p, then x is n * p and q is n * p^2. If they differ and x is n * p for this rank's p,
/// then q is greater than n * p^2. So every rank detects a difference. Parts of 13 bits keep these
/// integers below 2^53, where doubles are exact, for up to 2^27 ranks.
class FingerprintParts {
 public:
  static constexpr std::size_t kParts = 4;
  static constexpr std::size_t kDoubles = 2 * kParts;

  explicit FingerprintParts(double fingerprint) {
    auto bits = static_cast<std::uint64_t>(fingerprint);
    for (double& part : parts_) {
      part = static_cast<double>(bits & 0x1fffU);
      bits >>= 13;
    }
  }

  void store(double* to) const {
    for (const double part : parts_) {
      *to++ = part;
      *to++ = part * part;
    }
  }

  bool areThoseOfAll(const double* sums, int ranks) const {
    for (std::size_t i = 0; i < kParts; ++i) {
      const double part = parts_[i];
      if (sums[2 * i] != ranks * part || sums[2 * i + 1] != ranks * (part * part)) {
        return false;
      }
    }
    return true;
  }

 private:
  std::array<double, kParts> parts_{};
};

}  // namespace steptape::detail::metrics
