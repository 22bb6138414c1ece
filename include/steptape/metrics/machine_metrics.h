// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/log/summary_writer.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/process/machine_sampler.h"
#include "steptape/ranks/communicator.h"

namespace steptape {

/// Options of MachineMetrics. Each rank uses its own; if the ranks' periods differ, points follow
/// the shortest.
struct MachineMetricsOptions {
  /// Time between samples of a rank, and about the time between points; at least 1 ms.
  std::chrono::milliseconds period = std::chrono::seconds(10);

  /// Also writes the latest sample of this rank to the file `steptape_<run>_<host>_<rank>.prom` in
  /// this directory, for the textfile collector of node_exporter. The file is replaced as a whole
  /// and removed at the end. If the process is killed, the file stays, and
  /// `steptape_last_step_time_seconds` in it tells since when. Empty: no file.
  std::string textFileDirectory = {};

  /// The label `run` in that file. Jobs that write to the same directory need different ones.
  /// Empty: the log directory.
  std::string run = {};

  /// Which GPUs belong to this rank, and who is told of problems.
  MachineSamplerOptions sampler = {};
};

/// Logs what the ranks' processes, nodes and GPUs do: processor, memory, storage, network.
///
///     steptape::MachineMetrics machine(writer);
///     for (std::int64_t step = 0; ...; ++step) {
///       ...
///       machine.endStep(step);
///     }
///     machine.finish();
///
/// A thread of each rank takes samples. About once a period, the ranks combine their latest samples
/// in one non-blocking allreduce, and the root writes for each number the mean over the ranks, and
/// if there are several ranks, minimum and maximum:
///
///     machine/resident_bytes   machine/resident_bytes/min   machine/resident_bytes/max
///
/// Under RankPolicy::kPerRank each rank also writes its own numbers into its sub-run. Numbers that
/// no rank has get no points; `docs/distributed.md` lists all. At most kMachineGpus GPUs of a rank
/// are logged, as `machine/gpu0/...`: the first GPU of each rank, and so on.
///
/// Ranks measure time differently but must communicate in the same steps. Therefore the time that
/// passed is part of what they combine, and all derive from it after how many steps the next point
/// is due. The first points come earlier than a period, so that short runs have some.
///
/// A number that the system does not provide is left out, and nothing that fails in the background
/// stops the training. See MachineSampler.
///
/// @threads Not thread-safe: only the communicator's thread, one at a time.
/// @cost    The thread needs 0.2 ms every 10 s; see MachineSampler. endStep() is an increment in
///          most steps; with a text file, also a clock read and a lock. About once a period, the
///          ranks combine 4.7 KB.
class STEPTAPE_EXPORT MachineMetrics {
 public:
  /// Not collective.
  ///
  /// @param writer Must outlive this object.
  /// @throws Error(kInvalidArgument) if the period is less than 1 ms.
  explicit MachineMetrics(DistributedWriter& writer, const MachineMetricsOptions& options = {});
  /// For a program without ranks.
  explicit MachineMetrics(SummaryWriter& writer, const MachineMetricsOptions& options = {});
  MachineMetrics(const MachineMetrics&) = delete;
  MachineMetrics& operator=(const MachineMetrics&) = delete;
  /// Calls finish() and ignores its error. Waits for a sample in progress, at most for 5 s.
  ~MachineMetrics();

  /// Ends a step. About once a period, the call starts a collective with the latest samples, and
  /// the next call completes it. Does nothing in a forked child.
  ///
  /// Every rank calls it in every step.
  ///
  /// @param step Step of the points.
  /// @throws Error(kRankMismatch) if the ranks are at different steps; Error(kDeadlineExceeded) if
  ///         a rank does not arrive.
  void endStep(std::int64_t step);

  /// Completes a collective in flight and writes its points. Starts no collective.
  ///
  /// @throws Error as for endStep().
  void finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Maximum number of GPUs of one rank that MachineMetrics logs.
inline constexpr int kMachineGpus = 16;

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
