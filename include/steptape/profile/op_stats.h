// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/summary_writer.h"
#include "steptape/process/span_record.h"

namespace steptape {

/// Total time of all spans of one name and kind.
struct OpStats {
  std::string name;
  SpanKind kind = SpanKind::kOperator;
  std::uint64_t calls = 0;
  /// Time in the spans themselves, without the spans directly inside them on the same thread; spans
  /// of devices contain none. The self times of a thread never exceed its wall time in total. 0 for
  /// spans that end on another thread than they began, such as asynchronous collectives.
  std::chrono::nanoseconds self{};
  /// Time from begin to end. A span inside another one of the same name and kind on its thread is
  /// excluded, so recursion counts no moment of a thread twice.
  std::chrono::nanoseconds total{};
  double flops = 0.0;       ///< Floating-point operations of all calls; 0: unknown.
  std::int64_t bytes = 0;   ///< Input bytes, or bytes moved by a collective, of all calls.
  std::string shapes = {};  ///< See SpanDetails::shapes; set for OpGrouping::kShape.
  std::string module = {};  ///< See SpanDetails::module; set for OpGrouping::kModule.
};

/// Result of one profiling window.
struct OpProfile {
  std::vector<OpStats> operators;   ///< Ordered by self time, largest first.
  std::chrono::nanoseconds wall{};  ///< Length of the window.
  /// The part of `wall` in which at least one thread was inside a recorded span.
  std::chrono::nanoseconds covered{};
  /// Number of lost spans: the ring of a thread was full, or spans nested more than 256 deep. If
  /// spans are lost, self times of operators open at that moment may include time of operators
  /// inside them.
  std::uint64_t dropped = 0;
  std::int64_t steps = 0;        ///< Training steps recorded completely.
  std::int64_t stepsPassed = 0;  ///< All training steps; see ProfilerOptions::maxOverhead.
  /// Cost of recording since the start, as a fraction of the time of the windows' steps; 0 if it
  /// was not measured.
  double overhead = 0.0;
};

/// Returns the mean time of one call of each operator, without backward functions, zones and
/// scopes. For GraphOptions::operatorTimes, which colors a graph by a profile.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::map<std::string, std::chrono::nanoseconds> operatorTimes(
    const OpProfile& profile);

/// Limits on what is written of a profile.
struct OpTableOptions {
  std::size_t maxRows = 50;     ///< Operators in the table, largest self time first.
  std::size_t maxScalars = 10;  ///< Operators logged as a scalar with `detailScalars`.
  /// Also logs what is in the tables as scalars.
  bool detailScalars = false;
};

/// Formats a profile as a Markdown table, followed by a line with the covered part of the window
/// and the numbers of omitted operators and lost spans:
///
///     | # | operator | kind | calls | self ms | self % | total ms | mean µs |
///     | --- | --- | --- | --- | --- | --- | --- | --- |
///     | 1 | `aten::mm` | operator | 7 | 1.234 | 61.7 | 1.250 | 178.571 |
///
///     Window of 2.500 ms, 81.3 % of it inside recorded spans.
///
/// Further columns, if known: shapes, GFLOP/s of the total time, and MB of inputs.
///
/// @units  "self %" is relative to the self time of all operators and threads; "mean" is total /
///         calls.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string opTable(const OpProfile& profile, const OpTableOptions& options = {});

/// Formats a profile for a terminal: aligned columns, names cut at 60 characters.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string opTableForConsole(const OpProfile& profile,
                                              const OpTableOptions& options = {});

/// Logs a profile: the table as the text `profile/operators`.
///
/// With `options.detailScalars` also logs the self time of the slowest operators in milliseconds as
/// the scalars `profile/self_ms/<operator>`, and the cost of recording, if measured, as the scalar
/// `profile/overhead`, a fraction. If two operators differ in kind only, the tag of the later one
/// ends in its kind, such as `profile/self_ms/step (zone)`.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void writeOpStats(SummaryWriter& writer, const OpProfile& profile,
                                  std::int64_t step, const OpTableOptions& options = {});

}  // namespace steptape
