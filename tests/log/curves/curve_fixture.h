// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "steptape/log/curve_check.h"

#include <gtest/gtest.h>

namespace steptape {

/// A CurveCheck and curves for it.
class CurveFixture : public ::testing::Test {
 protected:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

  /// "rule of tag at step" of each finding.
  static std::vector<std::string> textsOf(const std::vector<CurveFinding>& findings) {
    std::vector<std::string> texts;
    for (const CurveFinding& finding : findings) {
      texts.push_back(std::string(curveRuleName(finding.rule)) + " of " + finding.tag + " at " +
                      std::to_string(finding.step));
    }
    return texts;
  }

  /// Adds a point a second.
  void add(const std::string& tag, std::int64_t step, double value) {
    check_.add(tag, step, value, 1e9 + static_cast<double>(step));
  }
  void addCurve(const std::string& tag, std::int64_t begin, std::int64_t end,
                const std::function<double(double step)>& valueAt, std::int64_t stride = 1) {
    for (std::int64_t step = begin; step < end; step += stride) {
      add(tag, step, valueAt(static_cast<double>(step)));
    }
  }
  double noise() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  /// A loss that falls from 2 to 1, with noise.
  double loss(double step) { return 1 + std::exp(-step / 200) + 0.05 * noise(); }

  std::mt19937 random_{7};
  CurveCheck check_;
};

}  // namespace steptape
