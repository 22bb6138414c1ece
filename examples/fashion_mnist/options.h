// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <steptape/trainer/trainer_options.h>

/// What the command line says.
struct Options {
  std::string data = "/usr/share/datasets/fashion-mnist";
  std::string model = "cnn";
  std::int64_t epochs = 1;
  std::int64_t evaluateSteps = 75;
  std::int64_t batchSize = 64;
  std::int64_t accumulate = 1;
  double lr = 0.01;
  double momentum = 0.5;
  double clip = 0;
  steptape::Compression compression = steptape::Compression::kNone;
  std::uint64_t seed = 1;
  std::string logDir;  ///< Empty: a new directory under runs/.
  std::string checkpointDir;
  std::int64_t checkpointSteps = 0;
  bool resume = false;
  int threads = 0;
  std::int64_t maxSteps = 0;
  double maxSeconds = 0;
  std::int64_t patience = 0;
  double profilingShare = 0;
  std::string profileFile;
  bool detailScalars = false;
  steptape::ProgressStyle progress = steptape::ProgressStyle::kAuto;
  bool log = true;
  bool json = false;
  bool help = false;
};

/// A command line that cannot be understood; what() says why.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// @throws UsageError
Options parseOptions(int argc, char** argv);

/// What --help prints.
const char* usage();
