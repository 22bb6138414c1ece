// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"
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

}  // namespace steptape
