// SPDX-License-Identifier: Apache-2.0
#include "log/reader/reservoir.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace steptape::detail::log {
namespace {

/// Seeds std::mt19937 as Python's random.Random(0) does, which differs from the standard library's
/// seeding.
///
/// @source M. Matsumoto, T. Nishimura, mt19937ar.c (2002), init_by_array() with the key {0}
struct PythonSeedOfZero {
  using result_type = std::uint32_t;

  template <typename Iterator>
  void generate(Iterator first, Iterator last) {
    constexpr std::size_t kSize = std::mt19937::state_size;
    std::array<std::uint32_t, kSize> state;
    state[0] = 19650218;
    for (std::uint32_t i = 1; i < kSize; ++i) {
      state[i] = 1812433253 * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    }
    // Both rounds use the previous word, wrap at the end, and continue from the second word.
    std::size_t i = 1;
    const auto mix = [&](std::uint32_t factor, auto change) {
      state[i] = change((state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * factor)), i);
      if (++i == kSize) {
        state[0] = state[kSize - 1];
        i = 1;
      }
    };
    for (std::size_t k = 0; k < kSize; ++k) {
      mix(1664525, [](std::uint32_t word, std::size_t) { return word; });
    }
    for (std::size_t k = 1; k < kSize; ++k) {
      mix(1566083941,
          [](std::uint32_t word, std::size_t at) { return word - static_cast<std::uint32_t>(at); });
    }
    state[0] = 0x80000000;
    std::copy_n(state.begin(), std::min<std::ptrdiff_t>(kSize, last - first), first);
  }
};

std::mt19937 pythonRandom() {
  PythonSeedOfZero seed;
  return std::mt19937(seed);
}

int bitLength(std::uint64_t number) {
  return number == 0 ? 0 : 64 - __builtin_clzll(number);
}

}  // namespace

Reservoir::Reservoir(std::size_t maxPoints) : maxPoints_(maxPoints), random_(pythonRandom()) {}

std::optional<std::size_t> Reservoir::makeRoom(std::size_t size) {
  const std::uint64_t seen = seen_++;
  if (size < maxPoints_) {
    return std::nullopt;
  }
  const std::uint64_t chosen = randomUpTo(seen);
  return chosen < maxPoints_ ? static_cast<std::size_t>(chosen) : size - 1;
}

void Reservoir::purged(std::size_t before, std::size_t after) {
  const double share = before > 0 ? static_cast<double>(after) / static_cast<double>(before) : 0;
  // Rounds half to even, like Python.
  seen_ = static_cast<std::uint64_t>(std::nearbyint(static_cast<double>(seen_) * share));
}

/// Implements Python's randint(0, last).
std::uint64_t Reservoir::randomUpTo(std::uint64_t last) {
  const int bits = bitLength(last + 1);
  std::uint64_t number;
  do {
    number = 0;
    for (int done = 0; done < bits; done += 32) {
      const int dropped = std::max(0, 32 - (bits - done));
      number |= static_cast<std::uint64_t>(random_() >> dropped) << done;
    }
  } while (number > last);
  return number;
}

}  // namespace steptape::detail::log
