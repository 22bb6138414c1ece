// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/run_reader.h"

namespace steptape {

// Exports runs as text for other programs, from files of any size in bounded memory:
//
//     std::ofstream file("scalars.json", std::ios::binary);
//     exportJson(listRuns("runs"), {}, [&](std::string_view text) { file << text; });
//
// All three formats are UTF-8; invalid UTF-8 in tags, paths and texts is replaced by U+FFFD.
// Numbers have the fewest digits that read back as the same double. In CSV and in JSON lines, a
// double has a decimal point or an exponent, and an integer has neither: a program that guesses
// types would take a column that begins with 0 and 1 for integers, and round the rest.
//
// Curves whose names would be the same text get different names, and ExportResult::notes names
// them: the first by run directory and tag keeps its name, the others end in " (2)", " (3)" and so
// on.

/// Receives the text in pieces of about 64 KiB. An exception ends the export, which rethrows it.
using ExportSink = std::function<void(std::string_view text)>;

/// The layout of exportCsv().
enum class CsvLayout {
  /// The column `step` and a column for each tag, in ascending order; a row for each step, in
  /// ascending order. With several runs, a column is named `<run directory>/<tag>`. Several
  /// values of a tag at one step take several rows, in the order of writing. A tag `step` is the
  /// column `step (2)`.
  kWide,
  /// The columns run, tag, step, wall_time and value; a row for each point, in the order of
  /// writing.
  kLong,
  /// Histograms instead of scalars: the columns run, tag, step, wall_time, left, right and count; a
  /// row for each bucket, in the order of writing.
  kHistograms,
};

struct ExportOptions {
  /// Which points are left out because a restart has written them again.
  PurgePolicy purge = PurgePolicy::kRestarts;
  /// Selects the tags to export; empty: all. Called once for each tag of a run.
  std::function<bool(std::string_view tag)> wantsTag;
  // The range of steps to export, both ends included. Default: all steps.
  std::optional<std::int64_t> fromStep = std::nullopt;
  std::optional<std::int64_t> toStep = std::nullopt;
  CsvLayout csvLayout = CsvLayout::kWide;
  /// The directory to which exportJsonl() writes images and audio, as
  /// `RUN/TAG/STEP_N.FORMAT`; empty: they are not written. Created if needed. In names,
  /// ASCII characters other than letters, digits, underscores, hyphens and periods become a percent
  /// sign and two digits, so that no path leaves the directory.
  std::string mediaDirectory;
  /// The beginning of the path of the temporary file that JSON and wide CSV need for many points,
  /// of 24 bytes a point; empty: a file in the system's temporary directory.
  std::string temporaryPrefix;
  /// Called regularly and after each run, with the bytes read so far. Each file is read twice.
  std::function<void(std::uint64_t bytes)> onProgress;
};

/// The result of an export.
struct ExportResult {
  std::uint64_t values = 0;    ///< Number of exported values, of all plugins.
  std::vector<Damage> damage;  ///< Damage in all runs.
  /// Sentences about names that were changed, and about values that the format does not have
  /// although they are numbers, or under a tag of scalars.
  std::vector<std::string> notes;
};

/// Exports scalars as JSON, in the form of tensorboardX's export_scalars_to_json():
///
///     {
///     "runs/demo/accuracy": [[1700000000.5, 20, 1]],
///     "runs/demo/loss": [[1700000000.5, 1, 0.5], [1700000001.5, 20, 0.25]]
///     }
///
/// The keys, in ascending order, are `<run directory>/<tag>`. A curve of
/// SummaryWriter::addScalars() has its own run `<directory>/<tag>/<curve>`, which is its key. NaN
/// and infinities are the strings "NaN", "Infinity" and "-Infinity". For a run of one writer the
/// text is byte for byte that of SummaryWriter::exportScalarsToJson().
///
/// @throws Error(kIoError) if the temporary file fails.
/// @threads Thread-safe.
/// @cost    Two passes over the files; 24 MiB of memory, plus memory for each tag.
STEPTAPE_EXPORT ExportResult exportJson(const std::vector<RunFiles>& runs,
                                        const ExportOptions& options, const ExportSink& sink);

/// Exports all values, one JSON object per line, run by run in the order of writing:
///
///     {"run":"runs/demo","tag":"loss","plugin":"scalars","step":1,"wall_time":1.5,"value":0.5}
///
/// docs/tool.md, "Records", lists the members of each plugin. NaN and infinities are strings, as in
/// exportJson().
///
/// @throws Error(kIoError) if an image or audio file cannot be written.
/// @threads Thread-safe with distinct media directories.
/// @cost    Two passes over the files; memory for the largest event and for the tags, and with
///          mediaDirectory about 40 bytes for each step of a tag with files.
STEPTAPE_EXPORT ExportResult exportJsonl(const std::vector<RunFiles>& runs,
                                         const ExportOptions& options, const ExportSink& sink);

/// Exports scalars as comma-separated values with a header line. NaN and infinities are `NaN`,
/// `inf` and `-inf`; a missing value is an empty field.
///
/// @throws Error(kIoError) if the temporary file fails.
/// @threads Thread-safe.
/// @cost    Two passes over the files; for kWide at most 96 MiB of memory, plus one row.
/// @source  RFC 4180 for quotes; lines end with a line feed only.
STEPTAPE_EXPORT ExportResult exportCsv(const std::vector<RunFiles>& runs,
                                       const ExportOptions& options, const ExportSink& sink);

}  // namespace steptape
