// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "gallery.h"

/// Two classifiers that improve with the steps, one faster than the other.
void logPrCurves(steptape::SummaryWriter& writer) {
  std::mt19937 random(6);
  std::normal_distribution<float> noise;
  for (const auto& [name, speed] : {std::pair{"cats", 0.35F}, std::pair{"dogs", 0.2F}}) {
    for (std::int64_t step = 0; step < 8; ++step) {
      std::vector<std::uint8_t> labels;
      std::vector<float> predictions;
      for (int i = 0; i < 4000; ++i) {
        labels.push_back(i % 4 == 0);
        const float evidence = (labels.back() ? 1.0F : -1.0F) * speed * static_cast<float>(step);
        predictions.push_back(1 / (1 + std::exp(-evidence - noise(random))));
      }
      writer.addPrCurve(name, labels, predictions, step, {.numThresholds = 255});
    }
  }
}

/// Counts of 40 positives and 60 negatives at five thresholds.
void logCountedPrCurve(steptape::SummaryWriter& writer) {
  writer.addPrCurveRaw("counted",
                       {.truePositives = {40, 38, 33, 22, 4},
                        .falsePositives = {60, 25, 9, 2, 0},
                        .trueNegatives = {0, 35, 51, 58, 60},
                        .falseNegatives = {0, 2, 7, 18, 36},
                        .precision = {0.4, 0.603, 0.786, 0.917, 1},
                        .recall = {1, 0.95, 0.825, 0.55, 0.1}},
                       0);
}
