// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace steptape::detail {

/// A fingerprint as numbers whose sums over the ranks tell whether all were equal.
///
/// Of each of 4 parts, the sum x and the sum of squares q: if all n ranks have the part p, x is n *
/// p and q is n * p^2. If not, x = n * p for this rank's p would make q greater than n * p^2. So
/// every rank sees it. Parts of 13 bits keep all these whole numbers below 2^53, where doubles are
/// exact, for up to 2^27 ranks.
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

}  // namespace steptape::detail
