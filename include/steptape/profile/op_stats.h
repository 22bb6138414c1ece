// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/span/span_record.h"
#include "steptape/writer/summary_writer.h"

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
/// zones and scopes. For GraphOptions::operatorTimes, which colors a graph by a profile.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::map<std::string, std::chrono::nanoseconds> operatorTimes(
    const OpProfile& profile);

/// How much of a profile is written.
struct OpTableOptions {
  std::size_t maxRows = 50;     ///< Operators in the table, the most self time first.
  std::size_t maxScalars = 10;  ///< Operators that get a scalar with `detailScalars`.
  /// Whether what is in the tables is also logged as scalars.
  bool detailScalars = false;
};

/// Writes a profile as a Markdown table, followed by a line on how much of the window it covers,
/// how many operators were left out, and what was lost:
///
///     | # | operator | kind | calls | self ms | self % | total ms | mean µs |
///     | --- | --- | --- | --- | --- | --- | --- | --- |
///     | 1 | `aten::mm` | operator | 7 | 1.234 | 61.7 | 1.250 | 178.571 |
///
///     Window of 2.500 ms, 81.3 % of it inside recorded spans.
///
/// Where they are known there are more columns: shapes, GFLOP/s of the total time, and MB of
/// inputs.
///
/// @units  "self %" is of the self time of all operators and threads; "mean" is total by calls.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string opTable(const OpProfile& profile, const OpTableOptions& options = {});

/// The same for a terminal: columns are aligned, and long names cut at 60 characters.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string opTableForConsole(const OpProfile& profile,
                                              const OpTableOptions& options = {});

/// Logs a profile: the table as the text `profile/operators`.
///
/// With `options.detailScalars` also the self time of the slowest operators in milliseconds, as the
/// scalars `profile/self_ms/<operator>`, and where it was measured what recording cost, as the
/// scalar `profile/overhead`, a share of 1. Where two operators differ in kind only, the tag of the
/// later one ends in its kind, as `profile/self_ms/step (zone)`.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void writeOpStats(SummaryWriter& writer, const OpProfile& profile,
                                  std::int64_t step, const OpTableOptions& options = {});

}  // namespace steptape
