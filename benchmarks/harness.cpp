// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <sys/resource.h>

namespace benchmark {

std::vector<Costs> takeTurns(const std::vector<Variant>& variants, int rounds) {
  std::vector<Costs> costs(variants.size());
  for (const Variant& variant : variants) {
    variant.run();
  }
  std::vector<std::size_t> order(variants.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      costs[i].push_back(variants[i].run());
    }
  }
  return costs;
}

double median(Costs costs) {
  const auto middle = costs.begin() + static_cast<std::ptrdiff_t>(costs.size() / 2);
  std::nth_element(costs.begin(), middle, costs.end());
  return *middle;
}

Ratio ratio(const Costs& numerator, const Costs& denominator) {
  Costs ratios;
  for (std::size_t i = 0; i < numerator.size(); ++i) {
    ratios.push_back(numerator[i] / denominator[i]);
  }
  constexpr std::size_t kResamples = 2000;
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> pick(0, ratios.size() - 1);
  Costs medians;
  for (std::size_t i = 0; i < kResamples; ++i) {
    Costs resample;
    for (std::size_t j = 0; j < ratios.size(); ++j) {
      resample.push_back(ratios[pick(random)]);
    }
    medians.push_back(median(resample));
  }
  std::sort(medians.begin(), medians.end());
  return {median(ratios), medians[kResamples / 40], medians[kResamples - kResamples / 40]};
}

void printTitle(const std::string& title) {
  std::printf("\n%s\n", title.c_str());
}

void printCosts(const std::string& name, const Costs& costs, const std::string& unit) {
  std::printf("  %-52s %10.2f %s\n", name.c_str(), median(costs), unit.c_str());
}

void printControl(const std::string& name, const Ratio& control, double tolerance) {
  const bool holds = std::abs(control.median - 1.0) <= tolerance;
  std::printf("  %-52s %10.3f  [%.3f, %.3f]  %s\n", name.c_str(), control.median, control.low,
              control.high, holds ? "control holds" : "INCONCLUSIVE: the machine was too noisy");
}

void printAtMost(const std::string& name, const Ratio& measured, double target) {
  std::printf("  %-52s %10.3f  [%.3f, %.3f]  %s %.3g\n", name.c_str(), measured.median,
              measured.low, measured.high, measured.high <= target ? "within" : "MISSES", target);
}

void printAtLeast(const std::string& name, const Ratio& measured, double target) {
  std::printf("  %-52s %10.3f  [%.3f, %.3f]  %s %.3g\n", name.c_str(), measured.median,
              measured.low, measured.high, measured.low >= target ? "reaches" : "MISSES", target);
}

double nowNanos() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double cpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace benchmark
