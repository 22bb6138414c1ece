// SPDX-License-Identifier: Apache-2.0
// Fits a line to points by gradient descent. Logs the loss and the line at each step.
#include <random>
#include <vector>

#include <steptape/steptape.h>

int main(int argc, char** argv) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.1);
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 100; ++i) {
    x.push_back(i / 100.0);
    y.push_back(3 * x[i] - 1 + noise(random));
  }

  steptape::SummaryWriter writer(argc > 1 ? argv[1] : "runs/first");
  double slope = 0;
  double offset = 0;
  for (int step = 0; step < 1000; ++step) {
    double loss = 0;
    double slopeGradient = 0;
    double offsetGradient = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = slope * x[i] + offset - y[i];
      loss += error * error / x.size();
      slopeGradient += 2 * error * x[i] / x.size();
      offsetGradient += 2 * error / x.size();
    }
    writer.addScalar("loss", loss, step);
    writer.addScalar("line/slope", slope, step);
    writer.addScalar("line/offset", offset, step);
    slope -= 0.1 * slopeGradient;
    offset -= 0.1 * offsetGradient;
  }
  writer.close().throwIfError();
}
