// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>

#include "gallery.h"

void logScalars(steptape::SummaryWriter& writer) {
  const steptape::ScalarTag train =
      writer.scalarTag("loss/train", {.displayName = "Training loss"});
  const steptape::ScalarTag test =
      writer.scalarTag("loss/test", {.description = "on images that training **never** sees"});
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.03);
  for (std::int64_t step = 0; step < 300; ++step) {
    const double loss = 2.3 * std::exp(-static_cast<double>(step) / 60);
    auto batch = writer.atStep(step);  // One wall time and one record for all.
    batch.add(train, loss + 0.1 + noise(random));
    batch.add(test, loss + 0.25 + noise(random) / 2);
    batch.add("accuracy/test", 1 - 0.4 * loss + noise(random) / 4);
  }
}

/// Several curves in one chart; each becomes a sub-run.
void logSharedCharts(steptape::SummaryWriter& writer) {
  for (std::int64_t step = 0; step < 200; ++step) {
    const double x = static_cast<double>(step) / 16;
    writer.addScalars("waves", {{"sin", std::sin(x)}, {"damped", std::exp(-x / 5) * std::sin(x)}},
                      step);
  }
}

/// Charts for the page "Custom Scalars".
void logCustomCharts(steptape::SummaryWriter& writer) {
  std::mt19937 random(2);
  std::normal_distribution<double> noise(0, 2);
  for (std::int64_t step = 0; step < 200; ++step) {
    const double mean = 100 * std::tanh(static_cast<double>(step) / 70) + noise(random);
    const double spread = 6 + 20 * std::exp(-static_cast<double>(step) / 80);
    auto batch = writer.atStep(step);
    batch.add("return/mean", mean);
    batch.add("return/lowest", mean - spread);
    batch.add("return/highest", mean + spread);
  }
  using Chart = steptape::CustomScalarsChart;
  writer.addCustomScalars(
      {{{"Training",
         {Chart::margin("Return", {"return/mean", "return/lowest", "return/highest"}),
          Chart::multiline("Both losses", {"loss/train", "loss/test"})}}}});
  writer.addCustomScalarsMultilineChart({"accuracy/test"}, "Training", "Accuracy");  // Adds one.
}
