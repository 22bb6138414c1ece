// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string_view>
#include <type_traits>

#include <gtest/gtest.h>

namespace steptape::test {

/// Whether tests take every case instead of a sample: with STEPTAPE_LONG_TESTS=1 in the
/// environment, as every night.
inline bool takesEveryCase() {
  const char* const isLong = std::getenv("STEPTAPE_LONG_TESTS");
  return isLong != nullptr && std::string_view(isLong) == "1";
}

/// The distances between the cases of a sample, one in `oneIn` of all. They are irregular, because
/// calls and bytes come in periods, and the same in each run with the same STEPTAPE_SEED, which is
/// 1 by default.
class SampleSteps {
 public:
  std::uint64_t next(std::uint64_t oneIn) {
    return takesEveryCase() ? 1 : 1 + random_() % (2 * oneIn - 1);
  }
  std::uint_fast32_t seed() const { return seed_; }

 private:
  static std::uint_fast32_t seedOfEnvironment() {
    const char* const seed = std::getenv("STEPTAPE_SEED");
    return seed != nullptr ? static_cast<std::uint_fast32_t>(std::atoll(seed)) : 1;
  }

  const std::uint_fast32_t seed_ = seedOfEnvironment();
  std::minstd_rand random_{seed_};
};

/// Calls `fails(n)` for a sample of n = 0, 1, 2 ..., in which the n-th call or allocation of a
/// program fails, until it returns false because the program has made fewer. Ends early if an
/// expectation is not met.
///
/// @param oneIn How many cases there are for one in the sample; a number, or a function of n.
/// @return the first n that was too high.
template <typename OneIn, typename Fails>
std::uint64_t sweep(const OneIn& oneIn, const Fails& fails) {
  SampleSteps steps;
  for (std::uint64_t n = 0;;) {
    const bool hasFailed = fails(n);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "with number " << n << " of a sample with STEPTAPE_SEED=" << steps.seed();
      return n;
    }
    if (!hasFailed) {
      return n;
    }
    if constexpr (std::is_invocable_v<OneIn, std::uint64_t>) {
      n += steps.next(oneIn(n));
    } else {
      n += steps.next(oneIn);
    }
  }
}

}  // namespace steptape::test
