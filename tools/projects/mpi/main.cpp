// SPDX-License-Identifier: Apache-2.0
// Fits a line to points by gradient descent. Each rank has its own points. Logs the mean of the
// ranks' losses, the largest loss, and the line at each step.
#include <random>
#include <vector>

#include <steptape/mpi.h>
#include <steptape/steptape.h>

int main(int argc, char** argv) {
  steptape::Environment environment(argc, argv);
  const auto world = steptape::world();
  std::mt19937 random(world->rank());
  std::normal_distribution<double> noise(0, 0.1);
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 100; ++i) {
    x.push_back(i / 100.0);
    y.push_back(3 * x[i] - 1 + noise(random));
  }

  steptape::DistributedWriter writer(argc > 1 ? argv[1] : "runs/first", world);
  steptape::ReducedOptions withMax;
  withMax.max = true;
  double slope = 0;
  double offset = 0;
  for (int step = 0; step < 1000; ++step) {
    double loss = 0;
    double slopeGradient = 0;
    double offsetGradient = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = slope * x[i] + offset - y[i];
      loss += error * error / x.size();
      slopeGradient += 2 * error * x[i];
      offsetGradient += 2 * error;
    }
    writer.addReduced("loss", loss, step, withMax);
    writer.addScalar("line/slope", slope, step);
    writer.addScalar("line/offset", offset, step);
    writer.reduce(step);
    slope -= 0.1 * steptape::metricAverage(*world, slopeGradient, x.size());
    offset -= 0.1 * steptape::metricAverage(*world, offsetGradient, x.size());
  }
  writer.close().throwIfError();
}
