// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/histogram/moments.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace steptape::detail::values {
namespace {

template <typename Float>
struct Extremes {
  Float min = std::numeric_limits<Float>::infinity();
  Float max = -std::numeric_limits<Float>::infinity();
};
struct Sums {
  double values = 0;
  double squares = 0;
};

template <typename Float>
Extremes<Float> extremesOf(const Float* values, std::size_t count) {
  // GCC does not vectorize the plain form of this loop, because NaN would make the order
  // significant.
  constexpr std::size_t kLanes = 16 / sizeof(Float);
  using Vector __attribute__((vector_size(16))) = Float;
  Extremes<Float> extremes;
  Vector min[2] = {extremes.min - Vector{}, extremes.min - Vector{}};
  Vector max[2] = {extremes.max - Vector{}, extremes.max - Vector{}};
  std::size_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    Vector block[2];
    std::memcpy(block, values + i, sizeof(block));
    min[0] = block[0] < min[0] ? block[0] : min[0];
    min[1] = block[1] < min[1] ? block[1] : min[1];
    max[0] = block[0] > max[0] ? block[0] : max[0];
    max[1] = block[1] > max[1] ? block[1] : max[1];
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    extremes.min = std::min({extremes.min, min[0][lane], min[1][lane]});
    extremes.max = std::max({extremes.max, max[0][lane], max[1][lane]});
  }
  for (; i < count; ++i) {
    extremes.min = std::min(extremes.min, values[i]);
    extremes.max = std::max(extremes.max, values[i]);
  }
  return extremes;
}

template <typename Float>
Sums sumsOf(const Float* values, std::size_t count) {
  // Several sums of each kind, because additions to a single sum depend on each other.
  constexpr std::size_t kLanes = 8;
  double sum[kLanes] = {};
  double squares[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      sum[lane] += value;
      squares[lane] += value * value;
    }
  }
  for (; i < count; ++i) {
    const double value = values[i];
    sum[0] += value;
    squares[0] += value * value;
  }
  Sums sums;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sums.values += sum[lane];
    sums.squares += squares[lane];
  }
  return sums;
}

}  // namespace

template <typename Float>
void Moments::add(const Float* values, std::size_t count) {
  // Two loops: compilers keep the values of each in registers, but not of both at once.
  const Extremes<Float> extremes = extremesOf(values, count);
  const Sums sums = sumsOf(values, count);
  // A sum of squares is finite only if every value is finite.
  if (!std::isfinite(sums.squares)) {
    addFinite(values, count);
    return;
  }
  min_ = std::min(min_, static_cast<double>(extremes.min));
  max_ = std::max(max_, static_cast<double>(extremes.max));
  sum_ += sums.values;
  sumSquares_ += sums.squares;
}

template <typename Float>
void Moments::addFinite(const Float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (std::isfinite(values[i])) {
      const double value = values[i];
      min_ = std::min(min_, value);
      max_ = std::max(max_, value);
      sum_ += value;
      sumSquares_ += value * value;
    }
  }
}

template void Moments::add(const float* values, std::size_t count);
template void Moments::add(const double* values, std::size_t count);

}  // namespace steptape::detail::values
