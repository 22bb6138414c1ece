// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

namespace steptape {

/// What a job has used of what it was given. NaN: unknown.
struct STEPTAPE_EXPORT JobUsage {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  double seconds = kUnknown;  ///< Since the process of a rank was started; the longest of all.
  /// Processor time of all ranks, with that of their child processes that have ended.
  double processorSeconds = kUnknown;
  /// Cores that the ranks may use: those of their affinity masks, but on a node no more than the
  /// scheduler has given, or the node has.
  double cores = kUnknown;

  double peakBytes = kUnknown;         ///< Sum of the ranks' largest resident memories.
  double largestPeakBytes = kUnknown;  ///< The largest of them.
  int largestPeakRank = 0;             ///< The rank that had it.
  /// Memory that the job may use on all its nodes, by control groups or by Slurm's allocation;
  /// unknown if one node has no limit.
  double memoryLimitBytes = kUnknown;

  /// Returns one line, as schedulers print it: "0:12:04 of processor time, 75 % of 4 cores for
  /// 0:04:01; 3.1 GiB of memory in rank 3, 11.9 GiB in all, 74 % of 16.0 GiB". What is unknown is
  /// left out; a time that is shorter than a minute is in seconds.
  std::string text() const;
};

/// Measures the job so far; the same on every rank. Trainer prints it at the end of fit().
///
/// @cost One allreduce of 240 bytes, and some reads of small files.
/// @throws Error as every collective of the communicator.
STEPTAPE_EXPORT JobUsage measureJobUsage(Communicator& ranks);

}  // namespace steptape
