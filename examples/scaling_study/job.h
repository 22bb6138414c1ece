// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// The program to measure, and how to start it.
struct JobTemplate {
  std::vector<std::string> launcher;  ///< Such as "mpiexec", "-n", "{ranks}".
  std::vector<std::string> program;   ///< With its arguments; one contains "{log_dir}".
  std::string rateTag;
  std::int64_t epochs = 0;  ///< Not 0: measures the time of so many epochs in place of the rate.
  std::chrono::seconds timeLimit{};
};

/// The result of one job, or the median of several. NaN: the program does not log the value.
struct Measurement {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  int ranks = 0;
  double rate = kUnknown;   ///< Work, or epochs, per second of all ranks together.
  double seconds = 0;       ///< Duration of the command.
  std::int64_t epochs = 0;  ///< As in JobTemplate.
  double secondsOfEpochs = kUnknown;

  // Shares of the time of all steps, averaged over the ranks, from straggler/<part>/mean_ms. They
  // add up to 1. Time outside of all parts is not included.
  double waitShare = kUnknown;
  double inputShare = kUnknown;
  double computeShare = kUnknown;
};

/// What the placeholders stand for.
struct Placeholders {
  int ranks = 1;
  std::int64_t work = 1;
  std::int64_t epochs = 0;
  std::string logDir;
};

/// Replaces {ranks}, {work}, {epochs} and {log_dir} in `parts`.
std::vector<std::string> fillIn(std::vector<std::string> parts, const Placeholders& values);

/// Runs the program on `ranks` ranks and reads the scalars that it logged.
///
/// @param work   The value of {work}.
/// @param logDir A new directory, for the run and for `output.txt`, the output of the program.
/// @throws std::runtime_error if the job fails, exceeds the time limit, or logs no rate or
///         fewer epochs than expected.
Measurement runJob(const JobTemplate& job, int ranks, std::int64_t work, const std::string& logDir);

/// Returns the medians of several jobs with the same number of ranks.
Measurement medianOf(const std::vector<Measurement>& jobs);
