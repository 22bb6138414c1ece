// SPDX-License-Identifier: Apache-2.0
// The C++ one of the programs that log the same: see languages_test.py.

#include <cstdint>
#include <vector>

#include "steptape/log/summary_writer.h"

int main(int count, char** arguments) {
  steptape::WriterOptions options;
  options.mirror = count > 2 ? arguments[2] : "";
  steptape::SummaryWriter writer(arguments[1], options);
  for (std::int64_t step = 0; step < 200; ++step) {
    writer.addScalar("loss", 100.0 / static_cast<double>(step + 1), step);
  }
  std::vector<double> weights;
  for (int i = 0; i < 100; ++i) {
    weights.push_back(0.25 * (i - 50));
  }
  std::vector<float> field;
  for (int i = 0; i < 6 * 8; ++i) {
    field.push_back(static_cast<float>(i) / 64);
  }
  steptape::ImageOptions gray;
  gray.dataFormat = "HW";
  for (std::int64_t step = 0; step < 3; ++step) {
    writer.addHistogram("weights", weights, step);
    writer.addImage("field", steptape::TensorView(field.data(), {6, 8}), step, gray);
  }
  writer.addText("notes", "Logged by *four* languages.", 0);
  writer.addHparams({{"lr", 0.25}, {"layers", 3}});
  return writer.close().ok() ? 0 : 1;
}
