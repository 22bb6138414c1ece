// SPDX-License-Identifier: Apache-2.0
// Prints the text for node_exporter of this process, with the GPUs of the library that the first
// argument names and with the label `run` that the second one is.

#include <chrono>
#include <iostream>
#include <thread>

#include "steptape/process/machine_sampler.h"

#include "process/machine/text_metrics.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "text_metrics_program: got " << argc - 1 << " arguments; expected 2\n";
    return 1;
  }
  steptape::MachineSamplerOptions options;
  options.nvmlLibrary = argv[1];
  steptape::MachineSampler sampler(options);
  sampler.sample();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));  // so that there are rates
  const steptape::detail::process::LatestStep latest{12, 1700000000.25};
  std::cout << textMetrics(sampler.sample(), {argv[2], "node7", 3}, latest);
}
