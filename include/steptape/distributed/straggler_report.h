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
#include "steptape/distributed/distributed_writer.h"
#include "steptape/span/zone.h"

namespace steptape {

/// What a training step does. All but kWait is the rank's own work.
enum class StepPart : std::uint8_t {
  kInput,      ///< Reads and prepares the batch.
  kForward,    ///< Computes the loss.
  kBackward,   ///< Computes the gradients.
  kOptimizer,  ///< Updates the parameters.
  kWait,       ///< Waits for other ranks, such as in the exchange of the gradients.
};
inline constexpr std::size_t kStepParts = 5;

/// "input", "forward", "backward", "optimizer" or "wait".
STEPTAPE_EXPORT const char* stepPartName(StepPart part);

/// Adds up the time that a rank spends in the parts of its steps.
///
///     { auto timer = times.time(StepPart::kInput);  batch = loader.next(); }
///
/// A part that is timed within another one counts for itself only: where backward() waits for other
/// ranks under a timer of its own, that time is kWait and not kBackward.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT StepTimes {
 public:
  /// Nanoseconds by part.
  using Nanos = std::array<std::int64_t, kStepParts>;

  /// @param clock Null: the system's.
  explicit StepTimes(std::shared_ptr<const Clock> clock = nullptr);

  /// Counts the time until it is destroyed as that of a part, and is a zone of the part's name for
  /// a profiler. Timers end in the reverse order of their beginning, as scopes do.
  ///
  /// @cost Two readings of the clock, about 50 ns, and a zone.
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
    static detail::ZoneSite& zoneSite(StepPart part);

    StepTimes& times_;
    std::size_t outer_;
    Zone zone_;
  };
  [[nodiscard]] Timer time(StepPart part) { return {*this, part}; }

  /// Adds time that was measured elsewhere, and takes it away from the part whose timer runs, if
  /// one does: for what lies within that part and has its own clock.
  void add(StepPart part, double seconds);

  /// What has been added up since the last call. Timers may run.
  Nanos take();

 private:
  static constexpr std::size_t kNoPart = kStepParts;
  /// Ends the time of the part that runs, begins that of another. @return the one that ran.
  std::size_t switchTo(std::size_t part);

  std::shared_ptr<const Clock> ownedClock_;
  const Clock* clock_;
  std::array<std::int64_t, kStepParts + 1> nanos_{};  // The last: outside of all parts.
  std::size_t running_ = kNoPart;
  std::int64_t since_;
};

/// Options of StragglerReport; `everySteps` and `mode` are equal on all ranks, of the rest but the
/// clock the root's counts.
struct StragglerOptions {
  std::int64_t everySteps = 50;  ///< At least 1.
  /// From which slowdown on a text is written: how many times as long as the median rank the
  /// slowest one works.
  double threshold = 1.2;
  /// kNonBlocking: the ranks' times travel while the next steps run, and are written by the first
  /// endStep() that finds them arrived.
  ReduceMode mode = ReduceMode::kBlocking;
  std::shared_ptr<const Clock> clock = nullptr;  ///< Null: the system's.
  /// Whether the times of the parts are also logged as scalars, besides the table.
  bool detailScalars = false;
};

/// Finds the rank that holds up the others.
///
///     steptape::StragglerReport report(writer);
///     for (std::int64_t step = 0; ...; ++step) {
///       { auto timer = report.time(steptape::StepPart::kInput);  batch = loader.next(); }
///       { auto timer = report.time(steptape::StepPart::kForward);  ... }
///       report.endStep(step);
///     }
///     report.finish();
///
/// In a job where all wait for each other every rank takes the same time for a step, and only the
/// time for its own work, which is all but StepPart::kWait, tells who is slow. Every so many steps
/// the ranks' times are gathered, and the root writes:
///
///     straggler/slowdown        work of the slowest rank / work of the median rank
///     straggler/slowest_rank
///     straggler/parts           table: the mean and the maximum over the ranks, in milliseconds a
///                               step, and the slowest rank, for each part and for "work", the sum
///                               of all but "wait"
///     straggler/report          text, above the threshold, such as "rank 3 (node7) needs 1.8 times
///                               as long as the median: 12.1 ms a step, 9.8 ms of it input"
///
/// With StragglerOptions::detailScalars the table's cells are scalars too:
///
///     straggler/<part>/mean_ms, max_ms
///     straggler/<part>/slowest_rank       not for "wait", nor where no rank took any time
///
/// The part that is named is the one in which the rank is most behind the median rank of that part.
/// Of an even number of ranks the median is the lower one of the middle: of two, the faster.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class STEPTAPE_EXPORT StragglerReport {
 public:
  /// Collective: the ranks tell each other their host names.
  ///
  /// @param writer Must outlive this object.
  /// @throws Error(kInvalidArgument) if `everySteps` is less than 1 or the threshold is NaN.
  explicit StragglerReport(DistributedWriter& writer, const StragglerOptions& options = {});
  StragglerReport(const StragglerReport&) = delete;
  StragglerReport& operator=(const StragglerReport&) = delete;
  /// finish(), without its error.
  ~StragglerReport();

  /// See StepTimes::time() and StepTimes::add().
  [[nodiscard]] StepTimes::Timer time(StepPart part) { return times_.time(part); }
  void add(StepPart part, double seconds) { times_.add(part, seconds); }

  /// Ends a step; each `everySteps`-th time a collective.
  ///
  /// Every rank calls it in every step.
  ///
  /// @param step Where the points lie, for those calls that gather.
  /// @throws Error(kRankMismatch) if the ranks are at different steps; Error(kDeadlineExceeded) if
  ///         a rank does not come.
  /// @cost   One allgather of 40 bytes per rank in the calls that gather; a count in the others.
  void endStep(std::int64_t step);

  /// Waits for times that travel, and writes them. Starts no collective. Times of steps since the
  /// last gathering are not written.
  ///
  /// @throws as endStep().
  void finish();

 private:
  bool hasArrived();
  void write();

  std::shared_ptr<Communicator> communicator_;
  SummaryWriter& writer_;
  StragglerOptions options_;
  StepTimes times_;
  std::vector<std::string> nodeByRank_;
  std::int64_t stepsSince_ = 0;

  // What travels, or did last.
  bool isUnderWay_ = false;
  std::int64_t gatheredStep_ = 0;
  StepTimes::Nanos ownNanos_{};
  std::vector<std::string> nanosByRank_;
  CollectiveHandle allgather_;  // Last: its end waits, while the memory above is still its.
};

}  // namespace steptape
