// SPDX-License-Identifier: Apache-2.0
#include "log/curves/long_intervals.h"

#include <cmath>
#include <limits>

namespace steptape::detail::log {
namespace {

constexpr std::size_t kMost = 16;  // spans that are kept
constexpr double kForever = std::numeric_limits<double>::infinity();

bool isShorter(const TimeSpan& a, const TimeSpan& b) {
  return a.length() < b.length();
}

/// Returns what is in both of two lists in the order of time.
std::vector<TimeSpan> commonTo(const std::vector<TimeSpan>& some,
                               const std::vector<TimeSpan>& others) {
  std::vector<TimeSpan> common;
  for (auto a = some.begin(), b = others.begin(); a != some.end() && b != others.end();) {
    if (a->within(*b) > 0) {
      common.push_back({std::max(a->begin, b->begin), std::min(a->end, b->end)});
    }
    a->end < b->end ? ++a : ++b;
  }
  return common;
}

}  // namespace

double TimeSpan::lengthWithout(const std::vector<TimeSpan>& others) const {
  double rest = length();
  for (const TimeSpan& other : others) {
    rest -= within(other);
  }
  return rest;
}

void LongIntervals::keep(const TimeSpan& span) {
  spans_.push_back(span);
  if (spans_.size() > kMost) {
    spans_.erase(std::min_element(spans_.begin(), spans_.end(), isShorter));
  }
  if (spans_.size() == kMost) {
    shortest_ = std::min_element(spans_.begin(), spans_.end(), isShorter)->length();
  }
}

double LongIntervals::longestWithout(const std::vector<TimeSpan>& silent) const {
  double longest = 0;
  bool hasUsual = spans_.size() < kMost;
  for (const TimeSpan& span : spans_) {
    const double length = span.lengthWithout(silent);
    longest = std::max(longest, length);
    hasUsual = hasUsual || length == span.length();
  }
  return hasUsual ? longest : std::max(longest, shortest_);
}

SilentTimes::SilentTimes() : spans_{{-kForever, kForever}} {}

void SilentTimes::add(const TimeSpan& whole, const LongIntervals& intervals) {
  std::vector<TimeSpan> silent = intervals.spans();
  silent.insert(silent.begin(), {-kForever, whole.begin});
  silent.push_back({whole.end, kForever});
  spans_ = commonTo(spans_, silent);
  while (spans_.size() > kMost) {
    spans_.erase(std::min_element(spans_.begin(), spans_.end(), isShorter));
  }
}

std::vector<TimeSpan> SilentTimes::longerThan(double time) const {
  std::vector<TimeSpan> longer;
  for (const TimeSpan& span : spans_) {
    if (span.length() > time && std::isfinite(span.length())) {
      longer.push_back(span);
    }
  }
  return longer;
}

}  // namespace steptape::detail::log
