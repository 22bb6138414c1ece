// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"
#include "steptape/span/span_collector.h"
#include "steptape/span/span_record.h"

namespace steptape {

/// The time of all spans of one name and kind.
struct OpStats {
  std::string name;
  SpanKind kind = SpanKind::kOperator;
  std::uint64_t calls = 0;
  /// Time in the spans themselves: without the spans directly inside them on the same thread; those
  /// of devices have none inside. The self times of a thread never add up to more than its wall
  /// time. 0 for spans that end on another thread than they began on, as asynchronous collectives
  /// do.
  std::chrono::nanoseconds self{};
  /// Time from begin to end. A span inside another one of the same name and kind on its thread is
  /// left out, so that recursion counts no moment of a thread twice.
  std::chrono::nanoseconds total{};
  double flops = 0.0;       ///< Floating-point operations of all calls; 0: unknown.
  std::int64_t bytes = 0;   ///< Of the inputs, or moved by a collective, of all calls; 0: unknown.
  std::string shapes = {};  ///< See SpanDetails::shapes; for OpGrouping::kShape.
  std::string module = {};  ///< See SpanDetails::module; for OpGrouping::kModule.
};

/// What one window of profiling found.
struct OpProfile {
  std::vector<OpStats> operators;   ///< The most self time first.
  std::chrono::nanoseconds wall{};  ///< Length of the window.
  /// The part of `wall` in which at least one thread was inside a recorded span.
  std::chrono::nanoseconds covered{};
  /// Spans lost: the ring of a thread was full, or spans nested more than 256 deep. Where any are
  /// lost, the operators that were open then may count the time of earlier ones inside them as
  /// their own.
  std::uint64_t dropped = 0;
  std::int64_t steps = 0;        ///< Training steps that were recorded whole.
  std::int64_t stepsPassed = 0;  ///< Training steps in all; see ProfilerOptions::maxOverhead.
  /// What recording has cost since the start, as a share of the time of the windows' steps; 0 if it
  /// was not measured.
  double overhead = 0.0;
};

/// What one call of each operator took from begin to end, on average; without backward functions,
/// zones and scopes. For GraphOptions::operatorTimes, which colours a graph by a profile.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::map<std::string, std::chrono::nanoseconds> operatorTimes(
    const OpProfile& profile);

/// Adds up records while a window is open.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT OpStatsBuilder {
 public:
  /// Spans that began before `windowStartTicks` are not counted.
  ///
  /// @param sampling Of how many operators, backward nodes, scopes and calls on devices one was
  ///                 recorded: each counts for as many, and its self time is the total one.
  explicit OpStatsBuilder(std::uint64_t windowStartTicks, int sampling = 1);
  ~OpStatsBuilder();
  OpStatsBuilder(OpStatsBuilder&&) noexcept;
  OpStatsBuilder& operator=(OpStatsBuilder&&) noexcept;

  /// @cost A few nanoseconds per record; memory per name and per gap between spans, bounded.
  void add(const SpanBatch& batch);

  /// Leaves out what follows until resume(): nothing is recorded for a while.
  void pause(std::uint64_t ticks);
  /// As at the start of the window: spans that began before `ticks` are not counted.
  void resume(std::uint64_t ticks);

  /// @return what was added so far, for a window that ends at `windowEndTicks`.
  OpProfile build(std::uint64_t windowEndTicks, const TickConverter& converter) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptape
