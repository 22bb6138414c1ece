// SPDX-License-Identifier: Apache-2.0
// What a check must not report: 20 kinds of healthy curves, each with several seeds.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "steptape/log/curve_check.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

struct HealthyCurve {
  std::string tag;
  std::function<double(double step, std::mt19937* random)> valueAt;
};

double normal(std::mt19937* random) {
  return std::normal_distribution<double>()(*random);
}
double uniform(std::mt19937* random) {
  return std::uniform_real_distribution<double>()(*random);
}
double student(std::mt19937* random, double degrees) {
  return std::student_t_distribution<double>(degrees)(*random);
}

std::vector<HealthyCurve> healthyCurves() {
  return {
      {"train/loss",
       [](double s, auto* r) { return 0.3 + 2 * std::exp(-s / 2000) + 0.1 * normal(r); }},
      {"loss", [](double s, auto* r) { return 3 / std::sqrt(1 + s / 100) + 0.02 * normal(r); }},
      {"loss/heavy",
       [](double s, auto* r) { return 5 + 2 * std::exp(-s / 900) + 0.1 * student(r, 4); }},
      {"val/loss", [](double s, auto* r) { return 0.5 + std::exp(-s / 3000) + 0.05 * normal(r); }},
      {"nll", [](double s, auto* r) { return 6 * std::pow(1 + s, -0.1) + 0.05 * normal(r); }},
      {"policy_loss", [](double, auto* r) { return 0.01 * normal(r); }},
      {"critic_loss",
       [](double s, auto* r) { return (0.1 + s / 5000) * std::exp(0.8 * normal(r)); }},
      {"generator/loss",
       [](double s, auto* r) { return 0.7 + 2 * (1 - std::exp(-s / 4000)) + 0.3 * normal(r); }},
      {"discriminator_loss", [](double, auto* r) { return 0.6 + 0.2 * std::abs(normal(r)); }},
      {"grad_norm", [](double, auto* r) { return std::exp(normal(r)); }},
      {"grad_norm/clipped",
       [](double, auto* r) { return std::min(1.0, std::exp(0.5 * normal(r))); }},
      {"accuracy",
       [](double s, auto* r) { return std::min(1.0, 1 - std::exp(-s / 2000) + 0.01 * normal(r)); }},
      {"reward",
       [](double s, auto* r) { return 500 / (1 + std::exp(-(s - 5000) / 800)) + 30 * normal(r); }},
      {"episode_return", [](double, auto* r) { return uniform(r) < 0.3 ? 1.0 : 0.0; }},
      {"lr",
       [](double s, auto*) {
         return 1e-3 * std::min(1.0, s / 500) * std::pow(0.1, std::floor(s / 4000));
       }},
      {"lr_cosine",
       [](double s, auto*) { return 0.05 * (1 + std::cos(3.14159 * std::fmod(s, 2500) / 2500)); }},
      {"epoch", [](double s, auto*) { return std::floor(s / 100); }},
      {"samples", [](double s, auto*) { return 64 * s; }},
      {"seconds",
       [](double s, auto* r) {
         return 0.1 + 0.01 * uniform(r) + (std::fmod(s, 100) < 1 ? 0.3 : 0.0);
       }},
      {"loss_scale",
       [](double s, auto*) { return std::pow(2, 16 - std::fmod(std::floor(s / 2000), 3)); }},
  };
}

TEST(HealthyCurves, AreQuiet) {
  constexpr int kSeeds = 5;
  constexpr std::int64_t kSteps = 10'000;
  const std::vector<HealthyCurve> curves = healthyCurves();
  ASSERT_EQ(curves.size(), 20U);
  std::size_t findings = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    CurveCheck check;
    for (std::int64_t step = 0; step < kSteps; ++step) {
      for (const HealthyCurve& curve : curves) {
        check.add(curve.tag, step, curve.valueAt(static_cast<double>(step), &random),
                  1e9 + static_cast<double>(step) / 10);
      }
    }
    for (const CurveFinding& finding : check.finish()) {
      ADD_FAILURE() << "seed " << seed << ": " << curveRuleName(finding.rule) << " of "
                    << finding.tag << ": " << finding.message;
      ++findings;
    }
  }
  EXPECT_EQ(findings, 0U);
}

}  // namespace
}  // namespace steptape
