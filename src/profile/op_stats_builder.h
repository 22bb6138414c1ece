// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "steptape/base/clock.h"
#include "steptape/profile/op_stats.h"

#include "span/span_collector.h"

namespace steptape::detail {

/// Adds up records while a window is open.
///
/// @threads Not thread-safe: one thread at a time.
class OpStatsBuilder {
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

}  // namespace steptape::detail
