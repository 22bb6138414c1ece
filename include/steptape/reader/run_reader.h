// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/event/event.h"
#include "steptape/reader/log_dir.h"
#include "steptape/record/record_reader.h"

namespace steptape {

/// The points of a scalar series as columns of equal length, in the order in which they were
/// written, after what restarts purged.
struct ScalarColumns {
  std::vector<double> wallTimes;    ///< @units Seconds since 1970-01-01 UTC.
  std::vector<std::int64_t> steps;  ///< Ascending unless the writer went back without a restart.
  std::vector<double> values;       ///< Exact for both float and double tensors.

  std::size_t size() const { return steps.size(); }
};

/// Where a value that is no scalar lies. Its data stays in the file until RunReader::value().
struct ValueLocation {
  double wallTime;  ///< @units Seconds since 1970-01-01 UTC.
  std::int64_t step;
  std::uint64_t offset;  ///< Of the record in its file.
  std::uint64_t bytes;   ///< Of the record's payload, all values of the event together.
  std::uint32_t file;    ///< An index into RunReader::files().
  std::uint32_t index;   ///< Of the value in its event's summary.
};

/// All that a run holds under one tag.
struct TagSeries {
  /// As the first value in the run gave it. Legacy values have the plugin that shows them filled
  /// in, as TensorBoard does: a `simple_value` belongs to "scalars", an `image` to "images", a
  /// `histo` to "histograms", an `audio` to "audio".
  SummaryMetadata metadata;
  ScalarColumns scalars;              ///< For the plugin "scalars", else empty.
  std::vector<ValueLocation> values;  ///< For every other plugin, else empty.

  std::size_t size() const { return scalars.size() + values.size(); }
};

/// Bytes of a file that hold no whole event, between others that do or at the file's end.
struct Damage {
  std::string path;
  std::uint64_t offset;
  std::uint64_t bytes;  ///< 0 where the file could not be read from there on.
  /// kCorrupt: damage. kTruncated: the file ends inside a record, because its writer was killed or
  /// has not finished. kIoError: the system failed.
  ReadOutcome outcome;
  Status status;  ///< Says what, got, wanted and where.
};

/// Which points are left out.
enum class PurgePolicy {
  /// Those that a restarted program has written again, as TensorBoard's EventAccumulator leaves
  /// them out: at a SessionLog START all that was read before and has its step or a later one. In
  /// files older than `brain.Event:2`, whose writers marked no restarts, an event whose step is
  /// before the latest one drops its tags' points at that step or later.
  kTensorBoard,
  /// None: every point that was ever written, in the order of writing.
  kNone,
};

/// How many points of a series are kept.
struct Sampling {
  /// The most points per tag, by plugin name; a plugin that is not named keeps all. 0 is all too.
  std::map<std::string, std::size_t> maxPoints;

  /// TensorBoard's own: 1000 scalars, 10 images, 10 audio clips, 500 histograms, 100 PR curves, 10
  /// of each other kind, drawn by the same random numbers as EventAccumulator's.
  static STEPTAPE_EXPORT Sampling tensorBoard();
};

struct RunReaderOptions {
  PurgePolicy purge = PurgePolicy::kTensorBoard;
  Sampling sampling = {};
  /// Whether a file that ends inside a record may still get the rest of it. If not, what follows a
  /// record that is cut short is searched for whole ones too, as after any other damage.
  bool mayGrow = true;
  /// The most threads that one update() uses, the caller's included. REQUIRES: at least 1.
  int threads = 1;
};

/// The plugin under which a run's graphs are listed, as the tag "__run_graph__".
inline constexpr char kGraphsPlugin[] = "graphs";
inline constexpr char kRunGraphTag[] = "__run_graph__";
/// The plugin under which RunMetadata (measured graphs) is listed, by its own tags.
inline constexpr char kTaggedRunMetadataPlugin[] = "graph_tagged_run_metadata";

/// Reads one run, all files of all plugins, and follows it while it is written:
///
///     RunReader run(listRuns("runs").front());
///     run.update();
///     const ScalarColumns& loss = run.tags().at("loss").scalars;
///
/// Scalars are kept in memory; of all other values only where they lie, so that a run of images
/// takes no more memory than a run of scalars. Whatever is intact is read: after damage, reading
/// goes on at the next whole record.
///
/// @threads Not thread-safe: one thread at a time. Distinct readers may run concurrently.
/// @cost    One pass over new bytes; 24 bytes of memory a scalar, 40 for any other value.
/// @source  docs/event_file_format.md, "Runs" and "Reading"
class STEPTAPE_EXPORT RunReader {
 public:
  explicit RunReader(RunFiles run, RunReaderOptions options = {});
  RunReader(RunReader&&) noexcept;
  RunReader& operator=(RunReader&&) noexcept;
  ~RunReader();

  /// Reads what was written since the last call, in known files and in new ones of the run's
  /// directory. Does not throw for what the files hold: see damage().
  ///
  /// @return the bytes read; 0 if there was nothing new.
  std::uint64_t update();

  /// By tag; references stay valid until the next update().
  const std::map<std::string, TagSeries>& tags() const;

  /// All damage found so far, in the order of files and offsets. A file that ends inside a record
  /// is listed until its next record is whole.
  const std::vector<Damage>& damage() const;

  /// Reads a value back from its file.
  ///
  /// A graph (plugin "graphs") and run metadata come as a rank-0 kString tensor that holds the
  /// serialized message.
  ///
  /// @param location One of this reader's.
  /// @return kIoError if the file cannot be read any more, kDataLoss if it holds something else now.
  Status value(const ValueLocation& location, Value* value) const;

  const std::vector<std::string>& files() const;
  const std::string& name() const;
  const std::string& directory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptape
