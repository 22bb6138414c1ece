// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <steptape/figure.h>

#include "gallery.h"

namespace {

const std::vector<std::string> kClassNames = {"T-shirt", "Trouser", "Pullover", "Dress", "Coat",
                                              "Sandal",  "Shirt",   "Sneaker",  "Bag",   "Boot"};

steptape::Figure confusionMatrix() {
  std::vector<std::int64_t> counts(100);
  std::mt19937 random(4);
  for (std::size_t truth = 0; truth < 10; ++truth) {
    for (std::size_t predicted = 0; predicted < 10; ++predicted) {
      const std::uint_fast32_t count = truth == predicted ? 880 + random() % 100 : random() % 25;
      counts[10 * truth + predicted] = static_cast<std::int64_t>(count);
    }
  }
  counts[60] = 118;  // Shirts look like T-shirts.
  counts[42] = 97;   // Coats look like pullovers.
  steptape::Figure figure({.title = "Confusion matrix", .width = 640, .height = 560});
  figure.confusionMatrix({counts.data(), {10, 10}}, kClassNames);
  return figure;
}

steptape::Figure curvesWithBands() {
  std::vector<double> epoch, mean, lower, upper;
  for (int i = 0; i <= 60; ++i) {
    epoch.push_back(i);
    mean.push_back(2.3 * std::exp(-i / 14.0) + 0.08);
    lower.push_back(mean.back() * 0.8);
    upper.push_back(mean.back() * 1.3);
  }
  steptape::Figure figure({.title = "Loss of five seeds"});
  figure.line(epoch, mean, {.label = "mean"}).fillBetween(epoch, lower, upper, {.label = "range"});
  figure.horizontalLine(0.1, {.label = "goal"});
  figure.setXLabel("epoch").setYLabel("loss").setYScale(steptape::AxisScale::kLog);
  return figure;
}

steptape::Figure clusters() {
  steptape::Figure figure({.title = "Two clusters"});
  std::mt19937 random(5);
  for (const double center : {-1.0, 1.0}) {
    std::normal_distribution<double> normal(center, 0.6);
    std::vector<double> x(200), y(200);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = normal(random);
      y[i] = 0.6 * x[i] + 0.4 * normal(random);
    }
    figure.scatter(x, y, {.label = center < 0 ? "left" : "right"});
  }
  return figure;
}

steptape::Figure waveField() {
  std::vector<float> field(80 * 120);
  for (std::size_t i = 0; i < field.size(); ++i) {
    const double x = static_cast<double>(i % 120) / 12;
    const std::size_t row = i / 120;
    const double y = static_cast<double>(row) / 12;
    field[i] = static_cast<float>(std::sin(x) * std::cos(1.3 * y) + 0.3 * std::sin(x * y / 3));
  }
  steptape::Figure figure({.title = "A heat map"});
  figure.heatMap({field.data(), {80, 120}},
                 {.colormap = "rdbu_r", .min = -1.3, .max = 1.3, .colorbarLabel = "height"});
  return figure;
}

steptape::Figure bars() {
  steptape::Figure figure({.title = "Seconds per epoch"});
  figure.bar(std::vector<double>{41, 22, 12}, {.label = "fp32", .labels = {"1", "2", "4"}});
  figure.bar(std::vector<double>{24, 13, 7}, {.label = "bf16"});
  figure.setXLabel("ranks");
  return figure;
}

}  // namespace

void logFigures(steptape::SummaryWriter& writer) {
  writer.addFigure("confusion", confusionMatrix(), 0);
  writer.addFigure("curves", curvesWithBands(), 0);
  writer.addFigure("overview",
                   steptape::FigureGrid({clusters(), waveField(), bars()},
                                        {.columns = 3, .width = 1200, .height = 380}),
                   0);
}
