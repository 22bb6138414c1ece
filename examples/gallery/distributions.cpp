// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <vector>

#include "gallery.h"

namespace {

constexpr int kSamples = 20'000;

template <typename Distribution>
std::vector<float> samples(Distribution distribution, std::mt19937& random) {
  std::vector<float> values(kSamples);
  for (float& value : values) {
    value = distribution(random);
  }
  return values;
}

}  // namespace

void logHistograms(steptape::SummaryWriter& writer) {
  std::mt19937 random(3);
  for (std::int64_t step = 0; step < 40; ++step) {
    const float k = static_cast<float>(step) / 40;
    writer.addHistogram("weights/drifting",
                        samples(std::normal_distribution<float>(2 * k - 1, 0.3F), random), step);
    writer.addHistogram("weights/narrowing",
                        samples(std::normal_distribution<float>(0, 1.2F - k), random), step,
                        {.bins = "fd"});
    writer.addHistogram("activations", samples(std::gamma_distribution<float>(1 + 8 * k), random),
                        step, {.description = "50 buckets of equal width", .bins = 50});
  }
}

/// Sums of two dice: the caller has counted each bucket.
void logCountedHistogram(steptape::SummaryWriter& writer) {
  writer.addHistogramRaw(
      "two dice",
      {.min = 2,
       .max = 12,
       .num = 36,
       .sum = 252,
       .sumSquares = 1974,
       .bucketLimits = {2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5},
       .bucketCounts = {1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1}},
      0);
}
