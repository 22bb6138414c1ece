// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// What is measured.
struct JobTemplate {
  std::vector<std::string> launcher;  ///< Such as "mpiexec", "-n", "{ranks}".
  std::vector<std::string> program;   ///< With its arguments, of which one has "{log_dir}".
  std::string rateTag;
  std::chrono::seconds timeLimit{};
};

/// One job, or what several of the same size have in common. NaN: the program does not log it.
struct Measurement {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  int ranks = 0;
  double rate = kUnknown;  ///< Work per second of all ranks together.
  double seconds = 0;      ///< From start to end of the command.

  // Shares of the time of all steps, as straggler/<part>/mean_ms has it: averages over the ranks.
  // They add up to 1; time that the program counts to no part is in none of them.
  double waitShare = kUnknown;
  double inputShare = kUnknown;
  double computeShare = kUnknown;
};

/// `parts` with {ranks}, {work} and {log_dir} replaced.
std::vector<std::string> fillIn(std::vector<std::string> parts, int ranks, std::int64_t work,
                                const std::string& logDir);

/// Runs the program on `ranks` ranks and reads what it has logged.
///
/// @param work   What {work} stands for.
/// @param logDir A new directory, which gets the run and, as `output.txt`, what was printed.
/// @throws std::runtime_error if the job fails, takes too long or logs no rate.
Measurement runJob(const JobTemplate& job, int ranks, std::int64_t work, const std::string& logDir);

/// The medians of several jobs on equally many ranks.
Measurement medianOf(const std::vector<Measurement>& jobs);
