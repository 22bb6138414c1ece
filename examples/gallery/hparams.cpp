// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "gallery.h"

namespace {

/// Replaces a training. Here SGD works best with large learning rates, Adam with small ones.
double accuracyAfter(int epoch, double learningRate, bool adam) {
  const double distance = std::log10(learningRate) - (adam ? -3 : -1.5);
  return (0.95 - 0.08 * distance * distance) * (1 - std::exp(-(epoch + 1) / 5.0));
}

}  // namespace

/// One run for each trial; the page compares all of them.
void logHparamStudy(const std::string& logDir) {
  constexpr int kEpochs = 20;
  int trial = 0;
  for (const char* optimizer : {"adam", "sgd"}) {
    for (const double learningRate : {0.001, 0.003, 0.01, 0.03}) {
      const bool augmented = trial % 3 != 0;
      steptape::SummaryWriter writer(logDir + "/trials/" + std::to_string(++trial));
      double accuracy = 0;
      for (int epoch = 0; epoch < kEpochs; ++epoch) {
        accuracy = accuracyAfter(epoch, learningRate, optimizer == std::string("adam")) -
                   (augmented ? 0 : 0.02);
        writer.addScalar("trial/accuracy", accuracy, epoch);
      }
      writer.addHparams(
          {{"learning rate", learningRate}, {"optimizer", optimizer}, {"augmented", augmented}},
          {{"trial/accuracy", accuracy}, {"trial/seconds", 40 + 12 * augmented + 5 * trial % 7}});
    }
  }
}
