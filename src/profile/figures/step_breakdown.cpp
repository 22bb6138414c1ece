// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "steptape/profile/profile_figures.h"
#include "steptape/profile/trace_summary.h"

#include "profile/figures/picture_size.h"
#include "values/kinds/table_cells.h"

namespace steptape {
namespace {

/// A part of a step, in stacking order. It has the same color in every figure.
struct Part {
  const char* name;
  const char* color;
  std::int64_t StepSummary::*nanos;
};

constexpr std::array<Part, 7> kParts{{{"input", "C4", &StepSummary::input},
                                      {"forward", "C0", &StepSummary::forward},
                                      {"backward", "C5", &StepSummary::backward},
                                      {"optimizer", "C2", &StepSummary::optimizer},
                                      {"transfer", "C3", &StepSummary::transfer},
                                      {"wait", "C1", &StepSummary::wait},
                                      {"other", "#c8c8c8", &StepSummary::other}}};

constexpr std::size_t kMostBars = 40;

/// Returns the mean milliseconds of a part, for each bar of `perBar` steps.
std::vector<double> means(const std::vector<StepSummary>& steps, const Part& part,
                          std::size_t perBar) {
  std::vector<double> bars;
  for (std::size_t first = 0; first < steps.size(); first += perBar) {
    const std::size_t last = std::min(first + perBar, steps.size());
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) {
      // The rest may be negative if spans overlap.
      sum += detail::values::milliseconds(std::max<std::int64_t>(0, steps[i].*part.nanos));
    }
    bars.push_back(sum / static_cast<double>(last - first));
  }
  return bars;
}

bool isAnyPositive(const std::vector<double>& numbers) {
  return std::any_of(numbers.begin(), numbers.end(), [](double number) { return number > 0; });
}

}  // namespace

Figure stepBreakdown(const Trace& trace) {
  const std::vector<StepSummary> steps = summarizeSteps(trace);
  const std::size_t perBar = std::max<std::size_t>(1, (steps.size() + kMostBars - 1) / kMostBars);
  Figure figure(detail::profile::canvasOfHeight(440, "Time of each step"));

  std::vector<BarOptions> bars;
  std::vector<std::vector<double>> heights;
  BarOptions bar;
  for (std::size_t first = 0; first < steps.size(); first += perBar) {
    bar.labels.push_back(std::to_string(steps[first].number));
  }
  bar.bottom.resize(bar.labels.size());
  for (const Part& part : kParts) {
    const std::vector<double> height = means(steps, part, perBar);
    if (!isAnyPositive(height)) {
      continue;
    }
    bar.label = part.name;
    bar.color = part.color;
    bars.push_back(bar);
    heights.push_back(height);
    for (std::size_t i = 0; i < height.size(); ++i) {
      bar.bottom[i] += height[i];
    }
  }
  // The legend lists the top part first.
  for (std::size_t i = bars.size(); i > 0; --i) {
    figure.bar(heights[i - 1], bars[i - 1]);
  }
  figure.setLegend(LegendPlace::kBeside).setYLabel("time (ms)");
  figure.setXLabel(
      perBar == 1 ? "step" : "first step of " + std::to_string(perBar) + ", shown as their mean");
  return figure;
}

}  // namespace steptape
