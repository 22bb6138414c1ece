// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <steptape/train/trainer_options.h>

/// The options of the command line.
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
  std::string logDir;  ///< Empty: a new directory in runs/.
  std::string checkpointDir;
  std::int64_t checkpointSteps = 0;
  bool resume = false;
  std::int64_t workers = 0;
  int threads = 0;
  std::int64_t maxSteps = 0;
  double maxSeconds = 0;
  std::int64_t patience = 0;
  double profilingShare = 0;
  std::string profileFile;
  bool detailScalars = false;
  double machineSeconds = 0;
  steptape::ProgressStyle progress = steptape::ProgressStyle::kAuto;
  bool verbose = false;
  bool log = true;
  bool json = false;
  bool help = false;
};

/// An invalid command line; what() is the message for the user.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Parses the command line.
///
/// @throws UsageError if an option is unknown, or its value is invalid.
Options parseOptions(int argc, char** argv);

/// The text that --help prints.
const char* usage();
