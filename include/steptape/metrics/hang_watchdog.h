// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/log/summary_writer.h"
#include "steptape/metrics/distributed_writer.h"

namespace steptape {

/// When HangWatchdog reports, and what happens then.
struct HangWatchdogOptions {
  /// The shortest time without a step that is reported; at least 10 ms.
  std::chrono::milliseconds minimum = std::chrono::seconds(60);

  /// How many times the usual time a step must last to be reported; at least 1. Usual is the
  /// median of the last steps; of steps that are only logged, the longest. Checkpoints and
  /// validations have limits of their own, from the longest one so far.
  double factor = 10;

  /// The limit as long as no usual time is known: for the set-up, the first steps, the first
  /// checkpoint and the first validation. Also while zones, operators or collectives still begin
  /// and end, as in an evaluation between two steps.
  std::chrono::milliseconds firstLimit = std::chrono::minutes(30);

  /// Ends the process after the report, by SIGABRT to the thread that hangs, whose stack
  /// `steptape autopsy` then shows. The launcher ends the other ranks, and a scheduler or
  /// `steptape run` can start the job again.
  bool endJob = false;

  /// Is told of each report, on the watchdog's thread. Must not throw. Empty: stderr.
  std::function<void(const std::string& report)> onHang = {};
};

/// Reports that a job hangs: that for a long time no step has ended.
///
///     steptape::HangWatchdog watchdog(writer);
///     for (std::int64_t step = 0; ...; ++step) { ...; writer.reduce(step); }
///
/// The report tells for each rank on this node its step, phase, innermost zone and collective, and
/// which ranks have not come to a collective in which others wait:
///
///     no step has ended for 72 s; usual is 0.41 s, the limit 60 s
///       rank 0 (process 4711): step 812, phase backward, zone 'backward', in allreduce(sum)
///         'gradients' #1630 of ranks 0-1, for 71 s
///       rank 1 (process 4712): step 812, phase load, zone 'next batch', for 72 s
///       behind: rank 1 (process 4712) has started 1629 collectives of ranks 0-1; others wait in
///         #1630
///
/// It goes to `onHang`, into the file `<log directory>/black_box/hang-<host>-<process>.txt`, and
/// into the run as text `steptape/hang`. While the job still hangs, it is repeated each time when
/// the time has doubled. Of several ranks on a node, the one that notices first reports.
///
/// The same report of a job that need not hang is written when somebody creates the file
/// `<log directory>/dump_now`: into `black_box/dump-<host>-<process>.txt`, and into the run as text
/// `steptape/dump`. The root looks for the file, and removes it when the report is there.
///
/// A step ends with DistributedWriter::reduce(), StragglerReport::endStep() or a step of a
/// Trainer; in a program that uses none of them, when a scalar of a larger step is logged. Time
/// under a debugger, while the process is stopped, or between pause() and resume() does not
/// count. Without a first step, or a phase of a Trainer, nothing is reported. If no state of the
/// process is kept (see docs/black_box_format.md), the watchdog does nothing.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    A thread that wakes up once a second and reads one small file of /proc. On the root, it
///          also looks for the file `dump_now`.
class STEPTAPE_EXPORT HangWatchdog {
 public:
  /// Not collective.
  ///
  /// @param writer Must outlive this object.
  /// @throws Error(kInvalidArgument) if a limit is out of its range.
  explicit HangWatchdog(DistributedWriter& writer, HangWatchdogOptions options = {});
  /// For a program without ranks.
  explicit HangWatchdog(SummaryWriter& writer, HangWatchdogOptions options = {});
  HangWatchdog(const HangWatchdog&) = delete;
  HangWatchdog& operator=(const HangWatchdog&) = delete;
  /// Waits for a report in progress, at most for 5 s.
  ~HangWatchdog();

  /// Excuses the time until resume(): for work between steps that may last long, such as an
  /// evaluation in a training loop without a Trainer.
  /// @threads Thread-safe.
  void pause() noexcept;
  void resume() noexcept;

 private:
  class Watch;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape
