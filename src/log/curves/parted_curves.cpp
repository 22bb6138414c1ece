// SPDX-License-Identifier: Apache-2.0
#include "log/curves/parted_curves.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/got_expected.h"

namespace steptape::detail::log {
namespace {

using Stretch = ThinnedCurve::Stretch;
using Stretches = std::vector<Stretch>;

/// Returns the mean of `count` stretches from `begin` on.
double meanOf(const Stretches& curve, std::size_t begin, std::size_t count) {
  double sum = 0;
  for (std::size_t i = begin; i < begin + count; ++i) {
    sum += curve[i].mean;
  }
  return sum / static_cast<double>(count);
}

/// Returns how much a value differs from the one before, in the middle.
double noiseOf(const Stretches& curve) {
  std::vector<double> changes;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    changes.push_back(std::abs(curve[i].mean - curve[i - 1].mean));
  }
  const auto middle = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 2);
  std::nth_element(changes.begin(), middle, changes.end());
  return *middle;
}

/// Returns the first of `count` neighbors with the least mean.
std::size_t bestOf(const Stretches& curve, std::size_t count) {
  std::size_t best = 0;
  for (std::size_t i = 1; i + count <= curve.size(); ++i) {
    if (meanOf(curve, i, count) < meanOf(curve, best, count)) {
      best = i;
    }
  }
  return best;
}

/// Returns the number of stretches up to a time.
std::size_t reachedBy(const Stretches& curve, double time) {
  return static_cast<std::size_t>(
      std::upper_bound(curve.begin(), curve.end(), time,
                       [](double at, const Stretch& each) { return at < each.end; }) -
      curve.begin());
}

}  // namespace

std::optional<std::string> partingOf(const TagCurve& training, const TagCurve& validation) {
  constexpr std::size_t kFewest = 10;   // points of a validation
  constexpr std::size_t kSince = 5;     // of them since its least one
  constexpr std::size_t kAveraged = 3;  // against the noise
  constexpr double kNoises = 4;
  constexpr double kShare = 0.2;  // of what the validation had improved
  const Stretches& val = validation.thinned().stretches();
  const Stretches& train = training.thinned().stretches();
  if (val.size() < kFewest || train.size() < kFewest) {
    return std::nullopt;
  }
  const std::size_t best = bestOf(val, kAveraged);
  const std::size_t last = val.size() - kAveraged;
  if (last < best + kSince) {
    return std::nullopt;
  }
  const double least = meanOf(val, best, kAveraged);
  const double now = meanOf(val, last, kAveraged);
  const double rise = now - least;
  const std::size_t then = reachedBy(train, val[best + kAveraged - 1].end);
  if (rise < kNoises * noiseOf(val) || rise < kShare * (val.front().mean - least) ||
      then < kAveraged || train.size() - then < kAveraged) {
    return std::nullopt;
  }
  const double before = meanOf(train, then - kAveraged, kAveraged);
  const double after = meanOf(train, train.size() - kAveraged, kAveraged);
  if (before - after < noiseOf(train)) {
    return std::nullopt;
  }
  return base::gotExpected(curveNumber(now) + " up to step " + std::to_string(val.back().step) +
                               " after " + curveNumber(least) + " at step " +
                               std::to_string(val[best + kAveraged - 1].step) + ", while " +
                               training.tag() + " fell from " + curveNumber(before) + " to " +
                               curveNumber(after),
                           "both to fall: the model learns its training data by heart");
}

}  // namespace steptape::detail::log
