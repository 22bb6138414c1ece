// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/events/event.h"
#include "steptape/events/record_reader.h"

namespace steptape {

struct Damage;

/// The files of one run: a directory with event files, one curve per tag in TensorBoard.
struct RunFiles {
  std::string name;                ///< Relative to the log directory; "." for that itself.
  std::string directory;           ///< The path of the log directory as given, plus the name.
  std::vector<std::string> files;  ///< Paths, by name: the order of writing.
  /// Whether all event files of the directory belong to the run, including future ones.
  bool isWholeDirectory = false;
};

/// Finds the runs below `path`, in the order of their names.
///
/// Event files have `tfevents` in their names, as TensorBoard expects, or are MindSpore's
/// (`events.out.events.summary.*_MS`), which hold the same kinds of values.
///
/// Follows links to directories, and visits each directory once: a directory below `path` keeps its
/// own name rather than that of a link. Skips unreadable directories, as TensorBoard does.
///
/// @param path       A log directory, the directory of a run, or one event file, which is a run.
/// @param unreadable Receives the directories below `path` that could not be read, each with the
///                   reason, whose runs are missing; may be null. One that was removed meanwhile is
///                   not among them.
/// @return the runs; empty if there is no event file.
/// @throws Error(kIoError) if `path` does not exist or cannot be read.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<RunFiles> listRuns(const std::string& path,
                                               std::vector<Damage>* unreadable = nullptr);

/// Lists the event files in `directory`, but not below it, in the order of their names.
///
/// @return paths; empty if the directory cannot be read.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<std::string> listEventFiles(const std::string& directory);

/// Returns the bytes of the run's files; missing files count 0.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::uint64_t totalBytes(const RunFiles& run);

namespace detail::log {

/// Allocates memory for a column, at a cache line that differs between columns.
///
/// Large blocks of the system begin at the same offset of a page, so that the ends of columns that
/// grow together compete for the same cache lines: appending a point took 20 ns with ten tags, and
/// 11 ns with columns that begin at different lines.
///
/// @throws std::bad_alloc if memory runs out.
/// @threads Thread-safe.
STEPTAPE_EXPORT void* allocateColumn(std::size_t bytes);

/// Frees a column.
///
/// @param column The result of allocateColumn().
/// @param bytes  The argument of allocateColumn().
STEPTAPE_EXPORT void freeColumn(void* column, std::size_t bytes) noexcept;

/// The allocator of Column.
template <typename T>
struct ColumnAllocator {
  using value_type = T;

  ColumnAllocator() = default;
  template <typename U>
  ColumnAllocator(const ColumnAllocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) {
      throw std::bad_alloc();
    }
    return static_cast<T*>(allocateColumn(count * sizeof(T)));
  }
  void deallocate(T* column, std::size_t count) noexcept { freeColumn(column, count * sizeof(T)); }
};

template <typename T, typename U>
bool operator==(const ColumnAllocator<T>& /*a*/, const ColumnAllocator<U>& /*b*/) {
  return true;
}
template <typename T, typename U>
bool operator!=(const ColumnAllocator<T>& /*a*/, const ColumnAllocator<U>& /*b*/) {
  return false;
}

}  // namespace detail::log

/// A vector of up to millions of numbers.
template <typename T>
using Column = std::vector<T, detail::log::ColumnAllocator<T>>;

/// The points of a scalar series as columns of equal length, in the order of writing, without the
/// points that restarts discarded.
struct ScalarColumns {
  Column<double> wallTimes;    ///< @units Seconds since 1970-01-01 UTC.
  Column<std::int64_t> steps;  ///< Ascending, unless the writer decreased it without a restart.
  Column<double> values;       ///< Exact, except for integers beyond 2^53, which are rounded.

  std::size_t size() const { return steps.size(); }
};

/// The place of a non-scalar value in its file, from which RunReader::value() reads it.
struct ValueLocation {
  double wallTime;  ///< @units Seconds since 1970-01-01 UTC.
  std::int64_t step;
  std::uint64_t offset;  ///< Of its record in the file.
  std::uint64_t bytes;   ///< Of the record's payload: all values of the event.
  std::uint32_t file;    ///< An index into RunReader::files().
  std::uint32_t index;   ///< Of the value in its event's summary.
};

/// The points of one tag of a run.
///
/// Most tags have one kind of value. A program that logs a scalar and a histogram under one tag
/// makes a tag of two: `scalars` then has its scalars, and `values` or `others` its histograms.
/// TensorBoard shows one of them at most.
struct TagSeries {
  /// The metadata of the first value in the run that names a plugin. For values of the compatible
  /// form the plugin is filled in, as in TensorBoard: "scalars" for `simple_value`, "images" for
  /// `image`, "histograms" for `histo`, "audio" for `audio`. In a damaged run, which may have lost
  /// the value with the metadata, single numbers without metadata are scalars.
  event::SummaryMetadata metadata;
  /// Each `simple_value`, and each tensor of one number if `metadata` or its own metadata names the
  /// plugin "scalars".
  ScalarColumns scalars;
  /// All other values of the plugin of `metadata`, and values that name none.
  std::vector<ValueLocation> values;
  /// Values of further plugins under the tag, in the order of their first values: each has the
  /// metadata of its first value, `values`, and nothing else. Usually empty; at most eight, and
  /// what has yet another plugin is among `values`.
  std::list<TagSeries> others;
  /// The index of the first scalar that the last RunReader::update() added; scalars.size() if it
  /// added none. It follows the removal of earlier points by restarts and sampling: a program that
  /// shows the points from this index after each update shows each point once.
  std::size_t firstNewScalar = 0;
  std::size_t firstNewValue = 0;  ///< The same for `values`.
  /// Whether a scalar was an integer of 64 bits that no double equals; it is rounded.
  bool isRounded = false;

  /// Returns the number of points of all kinds.
  std::size_t size() const {
    std::size_t points = scalars.size() + values.size();
    for (const TagSeries& other : others) {
      points += other.values.size();
    }
    return points;
  }
  /// Returns how many of them are from before the last RunReader::update().
  std::size_t sizeBefore() const {
    std::size_t points = firstNewScalar + firstNewValue;
    for (const TagSeries& other : others) {
      points += other.firstNewValue;
    }
    return points;
  }
};

// Graphs are not summary values. They are listed under these names, as in TensorBoard's data
// server.
inline constexpr char kGraphsPlugin[] = "graphs";
inline constexpr char kRunGraphTag[] = "__run_graph__";
inline constexpr char kMetaGraphTag[] = "__meta_graph__";
/// The plugin of RunMetadata, the measurements of a graph, which have their own tags.
inline constexpr char kTaggedRunMetadataPlugin[] = "graph_tagged_run_metadata";

/// A range of bytes in a file that contains no whole event.
struct Damage {
  std::string path;
  std::uint64_t offset;
  std::uint64_t bytes;  ///< 0 if the file could not be read from `offset` on.
  /// kCorrupt: damage. kTruncated: the file ends inside a record, because its writer was killed or
  /// is still writing. kIoError: the operating system failed.
  ReadOutcome outcome;
  Status status;  ///< What failed, where, what was got and expected.
};

/// Which points are discarded, because a restarted program has written them again.
///
/// Files older than `brain.Event:2` have no restart events. There, a summary whose step is less
/// than that of the summary before it discards points of its tags at or after its step (except for
/// kNone).
enum class PurgePolicy {
  /// Each SessionLog START discards earlier-written points at or after its step, as in
  /// TensorBoard's class EventAccumulator.
  kRestarts,
  /// As kRestarts, except that the first START of a run discards nothing, as in TensorBoard's data
  /// server. (torch.utils.tensorboard writes no START before the first restart.)
  kTensorBoardServer,
  /// No point is discarded; the order is that of writing.
  kNone,
};

/// The most points of a series that are kept.
struct Sampling {
  /// The most points of a tag, by plugin; 0: all.
  std::map<std::string, std::size_t> maxPoints;
  /// The same for plugins that `maxPoints` does not contain; 0: all.
  std::size_t otherMaxPoints = 0;

  /// Returns the limits of TensorBoard's Python loader: 1000 scalars, 500 histograms, 100 PR
  /// curves, 10 of any other kind. The same points are kept, by the same random numbers, and always
  /// the last.
  STEPTAPE_EXPORT static Sampling tensorBoard();
};

/// A time in which programs wrote a run.
struct RunSession {
  double begin;  ///< Of the first event. @units Seconds since 1970-01-01 UTC.
  double end;    ///< Of the last event so far.
};

struct RunReaderOptions {
  PurgePolicy purge = PurgePolicy::kRestarts;
  Sampling sampling = {};
  /// Whether a file that ends inside a record may still grow. If false, the bytes of an incomplete
  /// record are searched for whole records, as after any other damage.
  bool expectGrowth = true;
  /// The most threads of one update(), including the caller's. REQUIRES: at least 1.
  std::int64_t threads = 1;
  /// Called regularly on the thread of update(), with the bytes that this update() has read. An
  /// exception cancels the update(), which rethrows it.
  std::function<void(std::uint64_t bytes)> onProgress;
};

/// Reads all files of one run, and follows them while they are written:
///
///     RunReader run(listRuns("runs").front());
///     run.update();
///     const ScalarColumns& loss = run.tags().at("loss").scalars;
///
/// Keeps scalars in memory, and of all other values only the place in the file, so that a run of
/// images needs as little memory as a run of scalars. Reads every intact record: after damage it
/// continues at the next whole record.
///
/// @threads Not thread-safe: one thread at a time. Distinct readers may run concurrently.
/// @cost    One pass over new bytes; 24 bytes of memory per scalar, 40 per other value.
/// @source  docs/event_file_format.md, "Runs" and "Reading"
class STEPTAPE_EXPORT RunReader {
 public:
  explicit RunReader(RunFiles run, RunReaderOptions options = {});
  RunReader(RunReader&&) noexcept;
  RunReader& operator=(RunReader&&) noexcept;
  ~RunReader();

  /// Reads the data that was written since the last call, in known files and in new files of the
  /// run's directory. Never throws for the contents of files: see damage().
  ///
  /// If a known file was truncated, or replaced by another one of its name, the run is read again:
  /// see replacedFiles(). The points of that file and of later ones are then new.
  ///
  /// @return the bytes read; 0 if there was no new data.
  /// @throws std::bad_alloc, and any exception of `onProgress`; the next call then reads everything
  ///         again.
  std::uint64_t update();

  /// Returns the series by tag. References stay valid until the next update().
  const std::map<std::string, TagSeries>& tags() const;

  /// Returns all damage found so far, by file and offset. A file that ends inside a record is
  /// listed until that record is whole.
  const std::vector<Damage>& damage() const;

  /// Returns the files that the last update() found truncated or replaced, and has read from their
  /// start. A file counts as the same if its first and its last bytes that were read before are
  /// there: one that has only grown, such as a copy by rsync, continues.
  const std::vector<std::string>& replacedFiles() const;

  /// Reads a value back from its file.
  ///
  /// A graph (plugin "graphs") and run metadata are returned as a rank-0 kString tensor of the
  /// serialized message.
  ///
  /// @param location A location from this reader.
  /// @param value    Set on success.
  /// @return kIoError if the file can no longer be read; kDataLoss if its contents have changed, by
  ///         length, checksums, step and time.
  /// @threads May run concurrently with itself.
  /// @cost    Opens the file, reads the record of the event, and decodes it.
  Status value(const ValueLocation& location, event::Value* value) const;

  /// Returns the sessions of the run, in the order of time: the times of its files, of which those
  /// that overlap, or that one process wrote, are one session. Between sessions, no program wrote
  /// the run: it had ended, and was resumed later. Points that a restart discarded belong to the
  /// session that wrote them.
  std::vector<RunSession> sessions() const;

  const std::vector<std::string>& files() const;
  const std::string& name() const;
  const std::string& directory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One point of a scalar series.
struct ScalarPoint {
  double wallTime;  ///< Seconds since 1970-01-01 UTC.
  std::int64_t step;
  float value;  ///< Rounded to binary32; RunReader has doubles and large integers.
};

/// The points of each tag, in the order of writing.
using ScalarsByTag = std::map<std::string, std::vector<ScalarPoint>>;

/// Reads the scalars of one event file or of the directory of one run, from all its files, with the
/// default options of RunReader.
///
/// A file that ends inside a record is not an error: its writer may still be running.
///
/// @throws Error(kIoError) if `path` cannot be read; Error(kDataLoss) with file and offset if a
///         file is damaged; Error(kInvalidArgument) if `path` contains no run or several runs.
/// @threads Thread-safe.
STEPTAPE_EXPORT ScalarsByTag readScalars(const std::string& path);

}  // namespace steptape
