// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "steptape/base/clock.h"
#include "steptape/profile/trace_summary.h"

#include "process/spans/span_collector.h"

namespace steptape::detail::profile {

/// Sums records while a window is open.
///
/// @threads Not thread-safe: one thread at a time.
class OpStatsBuilder {
 public:
  /// Ignores spans that began before `windowStartTicks`.
  ///
  /// @param sampling One of this many operators, backward nodes, scopes and calls on devices was
  ///                 recorded. Each record counts this many times, and its self time is its total
  ///                 time.
  explicit OpStatsBuilder(std::uint64_t windowStartTicks, int sampling = 1);
  ~OpStatsBuilder();
  OpStatsBuilder(OpStatsBuilder&&) noexcept;
  OpStatsBuilder& operator=(OpStatsBuilder&&) noexcept;

  /// @cost A few nanoseconds per record; memory per name and per gap between spans, bounded.
  void add(const process::SpanBatch& batch);

  /// Ignores later records until resume(), because nothing is recorded for a while.
  void pause(std::uint64_t ticks);
  /// Resumes as at the start of a window: ignores spans that began before `ticks`.
  void resume(std::uint64_t ticks);

  /// @return the sums for a window that ends at `windowEndTicks`.
  OpProfile build(std::uint64_t windowEndTicks, const TickConverter& converter) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptape::detail::profile
