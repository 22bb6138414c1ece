// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/process/zone.h"

namespace steptape {

/// The parts of a training step. All except kWait are the rank's own work.
enum class StepPart : std::uint8_t {
  kInput,      ///< Reads and prepares the batch.
  kForward,    ///< Computes the loss.
  kBackward,   ///< Computes the gradients.
  kOptimizer,  ///< Updates the parameters.
  kWait,       ///< Waits for other ranks, such as in the exchange of the gradients.
};
inline constexpr std::size_t kStepParts = 5;

/// Returns "input", "forward", "backward", "optimizer" or "wait".
STEPTAPE_EXPORT const char* stepPartName(StepPart part);

/// Sums the time that a rank spends in each part of its steps.
///
///     { auto timer = times.time(StepPart::kInput);  batch = loader.next(); }
///
/// Time in an inner timer counts for the inner part only: if backward() waits for other ranks under
/// a timer of its own, that time is kWait, not kBackward.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT StepTimes {
 public:
  /// Nanoseconds by part.
  using Nanos = std::array<std::int64_t, kStepParts>;

  /// @param clock Null: the system clock.
  explicit StepTimes(std::shared_ptr<const Clock> clock = nullptr);

  /// Counts its lifetime as time of a part, and is a zone with the part's name for a profiler.
  /// Timers must end in reverse order, as scopes do.
  ///
  /// @cost   Two readings of the clock, about 50 ns, and a zone.
  class STEPTAPE_EXPORT Timer {
   public:
    ~Timer() { times_.switchTo(outer_); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    friend class StepTimes;
    Timer(StepTimes& times, StepPart part)
        : times_(times),
          outer_(times.switchTo(static_cast<std::size_t>(part))),
          zone_(zoneSite(part)) {}
    static detail::process::ZoneSite& zoneSite(StepPart part);

    StepTimes& times_;
    std::size_t outer_;
    Zone zone_;
  };
  [[nodiscard]] Timer time(StepPart part) { return {*this, part}; }

  /// Adds time measured elsewhere to `part`, and subtracts it from the part whose timer runs, if
  /// any. For work inside that part that has its own clock.
  void add(StepPart part, double seconds);

  /// Returns the sums since the last call. Timers may run.
  Nanos take();

 private:
  static constexpr std::size_t kNoPart = kStepParts;
  /// Ends the time of the running part and starts that of another.
  ///
  /// @return the part that ran.
  std::size_t switchTo(std::size_t part);

  std::shared_ptr<const Clock> ownedClock_;
  const Clock* clock_;
  std::array<std::int64_t, kStepParts + 1> nanos_{};  // The last: outside of all parts.
  std::size_t running_ = kNoPart;
  std::int64_t since_;
};

/// Options of StragglerReport. `everySteps` and `mode` must be equal on all ranks. Each rank uses
/// its own clock; the threshold is the root's.
struct StragglerReportOptions {
  std::int64_t everySteps = 50;  ///< At least 1.
  /// Minimum slowdown that writes a text. Slowdown: work time of the slowest rank / work time of
  /// the median rank.
  double threshold = 1.2;
  /// kNonBlocking: times travel during the next steps, and the first endStep() that finds them
  /// complete writes them.
  ReduceMode mode = ReduceMode::kBlocking;
  std::shared_ptr<const Clock> clock = nullptr;  ///< Null: the system clock.
  /// Also logs the times of the parts as scalars, besides the table.
  bool detailScalars = false;
};

/// Reports the rank that delays the others.
///
///     steptape::StragglerReport report(writer);
///     for (std::int64_t step = 0; ...; ++step) {
///       { auto timer = report.time(steptape::StepPart::kInput);  batch = loader.next(); }
///       { auto timer = report.time(steptape::StepPart::kForward);  ... }
///       report.endStep(step);
///     }
///     report.finish();
///
/// If all ranks wait for each other, every rank takes the same time for a step. Only the time of
/// its own work, all parts except StepPart::kWait, shows which rank is slow. Every `everySteps`
/// steps the ranks' times are gathered, and the root writes:
///
///     straggler/slowdown        work of the slowest rank / work of the median rank
///     straggler/slowest_rank
///     straggler/parts           table: the mean and the maximum over the ranks, in milliseconds a
///                               step, and the slowest rank, for each part and for "work", the sum
///                               of all but "wait"
///     straggler/report          text, above the threshold, such as "rank 3 (node7) needs 1.8 times
///                               as long as the median: 12.1 ms a step, 9.8 ms of it input"
///
/// With StragglerReportOptions::detailScalars the table's cells are scalars too:
///
///     straggler/<part>/mean_ms, max_ms
///     straggler/<part>/slowest_rank       not for "wait", nor where no rank took any time
///
/// The report names the part in which the slowest rank exceeds that part's median most. With an
/// even number of ranks the median is the lower middle one: with two ranks, the faster.
///
/// @threads Not thread-safe: only the communicator's thread, one at a time.
class STEPTAPE_EXPORT StragglerReport {
 public:
  /// Collective: the ranks exchange their host names.
  ///
  /// @param writer  Must outlive this object.
  /// @param options See StragglerReportOptions.
  /// @throws Error(kInvalidArgument) if `everySteps` is less than 1 or the threshold is NaN.
  explicit StragglerReport(DistributedWriter& writer, const StragglerReportOptions& options = {});
  StragglerReport(const StragglerReport&) = delete;
  StragglerReport& operator=(const StragglerReport&) = delete;
  /// Calls finish() and ignores its error.
  ~StragglerReport();

  /// See StepTimes::time() and StepTimes::add().
  [[nodiscard]] StepTimes::Timer time(StepPart part) { return times_.time(part); }
  void add(StepPart part, double seconds) { times_.add(part, seconds); }

  /// Ends a step; every `everySteps`-th call is a collective that gathers the times.
  ///
  /// Every rank calls it in every step.
  ///
  /// @param step Step of the points that a gathering call writes.
  /// @throws Error(kRankMismatch) if the ranks are at different steps; Error(kDeadlineExceeded) if
  ///         a rank does not arrive.
  /// @cost   One allgather of 40 bytes per rank in gathering calls; otherwise an increment.
  void endStep(std::int64_t step);

  /// Waits for times in flight and writes them. Starts no collective. Times of steps since the last
  /// gathering are discarded.
  ///
  /// @throws Error as for endStep().
  void finish();

 private:
  bool hasArrived();
  void write();

  std::shared_ptr<Communicator> communicator_;
  SummaryWriter& writer_;
  StragglerReportOptions options_;
  StepTimes times_;
  std::vector<std::string> nodeByRank_;
  std::int64_t stepsSince_ = 0;

  // The gathering in flight, or the last one.
  bool isUnderWay_ = false;
  std::int64_t gatheredStep_ = 0;
  StepTimes::Nanos ownNanos_{};
  std::vector<std::string> nanosByRank_;
  CollectiveHandle gather_;  // Last: its destructor waits and needs the members above.
};

}  // namespace steptape
