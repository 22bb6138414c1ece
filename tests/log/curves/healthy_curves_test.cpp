// SPDX-License-Identifier: Apache-2.0
// What a check must not report: 33 kinds of healthy curves, each with several seeds.
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

/// Of a run that learns neither by reward nor with an adversary, so that no loss may rise for long.
std::vector<HealthyCurve> curvesOfPlainRun() {
  return {
      {"train/loss",
       [](double s, auto* r) {
         return (s < 100 ? 10.8 - 0.03 * s : 7.8 * std::exp(-(s - 100) / 400) + 2.5) +
                0.05 * normal(r);
       }},
      {"loss",  // with warm restarts
       [](double s, auto* r) {
         return (0.02 + 0.2 * (1 + std::cos(3.14159 * std::fmod(s, 2500) / 2500)) +
                 1.5 * std::exp(-s / 100)) *
                std::exp(0.15 * normal(r));
       }},
      {"loss_epoch",  // of three tasks
       [](double s, auto* r) {
         return (2.3 * std::exp(-std::fmod(s, 3334) / 300) + 0.02) * std::exp(0.2 * normal(r));
       }},
      {"total_loss",  // bfloat16
       [](double s, auto* r) {
         return std::round((2.5 + 8 * std::exp(-s / 200) + 0.03 * normal(r)) * 64) / 64;
       }},
      {"aux_loss", [](double s, auto* r) { return s < 500 ? 0 : 0.3 + 0.02 * normal(r); }},
      {"kl_loss",
       [](double s, auto* r) {
         return s < 128 ? 1e-5 * std::exp(0.3 * normal(r))
                        : 25 * (1 - std::exp(-(s - 128) / 500)) * std::exp(0.05 * normal(r));
       }},
      {"hinge_loss",
       [](double, auto* r) { return uniform(r) < 0.9 ? 0 : -0.3 * std::log(uniform(r)); }},
      {"triplet_loss",
       [](double s, auto* r) {
         return std::max(0.0, 0.2 * std::exp(-s / 200) + 0.02 * normal(r) - 0.04);
       }},
      {"loss_sum",
       [](double s, auto* r) {
         return (std::fmod(s, 391) == 390 ? 0.3 : 1) * (600 * std::exp(-s / 500) + 100) *
                (1 + 0.02 * normal(r));
       }},
      {"val_loss", [](double s, auto*) { return 0.3 + 2 * std::exp(-std::floor(s / 250) / 5); }},
      {"loss_coef", [](double, auto*) { return 0.5; }},
      {"samples_per_second",
       [](double s, auto* r) {
         return (std::fmod(s, 500) == 499 ? 0.1 + 0.2 * uniform(r) : 1) * (1000 + 10 * normal(r));
       }},
      {"gpu0/mem_used",
       [](double s, auto* r) {
         return (std::fmod(s, 500) == 499 ? 2 : 1) * (40 + 0.1 * normal(r));
       }},
  };
}

/// Returns the number of findings.
std::size_t findingsOf(const std::vector<HealthyCurve>& curves, int seeds) {
  constexpr std::int64_t kSteps = 10'000;
  std::size_t findings = 0;
  for (int seed = 0; seed < seeds; ++seed) {
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
  return findings;
}

constexpr int kSeeds = 5;

TEST(HealthyCurves, AreQuiet) {
  const std::vector<HealthyCurve> curves = healthyCurves();
  ASSERT_EQ(curves.size(), 20U);
  EXPECT_EQ(findingsOf(curves, kSeeds), 0U);
}

TEST(HealthyCurves, AreQuietInAPlainRun) {
  const std::vector<HealthyCurve> curves = curvesOfPlainRun();
  ASSERT_EQ(curves.size(), 13U);
  EXPECT_EQ(findingsOf(curves, kSeeds), 0U);
}

}  // namespace
}  // namespace steptape
