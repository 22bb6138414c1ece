// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/reader/run_files.h"
#include "steptape/reader/run_reader.h"

namespace steptape {

// Runs as text that other programs read, from files of any size in bounded memory:
//
//     std::ofstream file("scalars.json", std::ios::binary);
//     exportJson(listRuns("runs"), {}, [&](std::string_view text) { file << text; });
//
// All three formats are UTF-8; what is not in tags, paths and texts is replaced by U+FFFD. Numbers
// have the fewest digits that give the same double back.

/// Takes the text piece by piece, some 64 KiB at a time. What it throws ends the export.
using ExportSink = std::function<void(std::string_view text)>;

/// How exportCsv() arranges points.
enum class CsvLayout {
  /// A column for each tag, ascending, beside `step`, and a row for each step, ascending. With
  /// several runs a column is called "<run's directory>/<tag>". A tag that has several values at a
  /// step takes as many rows there, in the order of writing; none is lost.
  kWide,
  /// The columns run, tag, step, wall_time and value, and a row for each point, in the order of
  /// writing.
  kLong,
};

struct ExportOptions {
  /// Points that a restart has written again are left out, unless this says otherwise.
  PurgePolicy purge = PurgePolicy::kRestarts;
  /// Which tags to export; all if empty. Asked once for each tag of a run.
  std::function<bool(std::string_view tag)> wantsTag;
  // The steps to export, both ends included.
  std::int64_t fromStep = std::numeric_limits<std::int64_t>::min();
  std::int64_t toStep = std::numeric_limits<std::int64_t>::max();
  CsvLayout csvLayout = CsvLayout::kWide;
  /// Where exportJsonl() puts the files of images and audio; empty: nowhere. Made if it is not
  /// there. The name of a file is `<run>/<tag>/<step>_<n>.<format>`. In names, all but letters,
  /// digits, `_`, `-`, `.` and what is beyond ASCII become `%` and two digits, so that no name leads
  /// out of it.
  std::string mediaDirectory;
  /// What the path of the temporary file begins with that JSON and wide CSV need for many points;
  /// empty: a file in the system's directory for such. It takes 24 bytes a point.
  std::string temporaryPrefix;
  /// Called now and then and behind each run, with the bytes read so far; each file is read twice.
  std::function<void(std::uint64_t bytes)> onProgress;
};

/// What an export came to.
struct ExportResult {
  std::uint64_t values = 0;    ///< Exported, of all plugins.
  std::vector<Damage> damage;  ///< What could not be read, in all runs.
};

/// Scalars in the shape of tensorboardX's export_scalars_to_json():
///
///     {
///     "runs/demo/accuracy": [[1700000000.5, 20, 1]],
///     "runs/demo/loss": [[1700000000.5, 1, 0.5], [1700000001.5, 20, 0.25]]
///     }
///
/// The keys, ascending, are "<run's directory>/<tag>". A curve of SummaryWriter::addScalars() has a
/// run "<directory>/<tag>/<curve>" of its own, and that is its key. NaN and infinities are the
/// strings "NaN", "Infinity" and "-Infinity". As SummaryWriter::exportScalarsToJson(), byte for
/// byte, for a run of one writer.
///
/// @throws Error(kIoError) if the temporary file fails.
/// @threads Thread-safe.
/// @cost    Two passes over the files; 24 MiB of memory, and what each tag takes.
STEPTAPE_EXPORT ExportResult exportJson(const std::vector<RunFiles>& runs,
                                        const ExportOptions& options, const ExportSink& sink);

/// Everything, a JSON object a line, in the order of writing, run by run:
///
///     {"run":"runs/demo","tag":"loss","plugin":"scalars","step":1,"wall_time":1.5,"value":0.5}
///
/// docs/tool.md, "Records", lists the members that each plugin has. Numbers that JSON has not are
/// strings, as in exportJson().
///
/// @throws Error(kIoError) if a file of an image or of audio cannot be written.
/// @threads Thread-safe, if mediaDirectory differs.
/// @cost    Two passes over the files; memory for the largest event and for the tags, and with
///          mediaDirectory some 40 bytes for each step of a tag that has files.
STEPTAPE_EXPORT ExportResult exportJsonl(const std::vector<RunFiles>& runs,
                                         const ExportOptions& options, const ExportSink& sink);

/// Scalars as comma-separated values with a line of titles. NaN and infinities are `nan`, `inf` and
/// `-inf`; where a tag has no value there is nothing.
///
/// @throws Error(kIoError) if the temporary file fails.
/// @threads Thread-safe.
/// @cost    Two passes over the files; for kWide 96 MiB of memory at most, and a row.
/// @source  RFC 4180 for quotes; lines end with a line feed alone.
STEPTAPE_EXPORT ExportResult exportCsv(const std::vector<RunFiles>& runs,
                                       const ExportOptions& options, const ExportSink& sink);

}  // namespace steptape
