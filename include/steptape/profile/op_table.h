// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "steptape/base/export.h"
#include "steptape/profile/op_stats.h"
#include "steptape/writer/summary_writer.h"

namespace steptape {

/// How much of a profile is written.
struct OpTableOptions {
  std::size_t maxRows = 50;     ///< Operators in the table, the most self time first.
  std::size_t maxScalars = 10;  ///< Operators that get a scalar.
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

/// Logs a profile: the table as the text `profile/operators`, and the self time of the slowest
/// operators in milliseconds as the scalars `profile/self_ms/<operator>`, and where it was measured
/// what recording cost, as the scalar `profile/overhead`, a share of 1. Where two operators differ
/// in kind only, the later one's tag ends in its kind, as `profile/self_ms/step (zone)`.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void writeOpStats(SummaryWriter& writer, const OpProfile& profile,
                                  std::int64_t step, const OpTableOptions& options = {});

}  // namespace steptape
