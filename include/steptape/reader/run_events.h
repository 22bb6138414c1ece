// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"
#include "steptape/reader/run_files.h"
#include "steptape/reader/run_reader.h"

namespace steptape {

/// A tag of a run.
struct RunTag {
  std::string name;
  /// As TagSeries::metadata.
  event::SummaryMetadata metadata;
};

/// A value of a run, as RunEvents gives it.
struct RunValue {
  std::uint32_t tag = 0;  ///< An index into RunEvents::tags().
  double wallTime = 0;    ///< @units Seconds since 1970-01-01 UTC.
  std::int64_t step = 0;
  double scalar = 0;  ///< For a value of the plugin "scalars"; exact for floats and doubles.
  /// The value itself for every other plugin, and for what is under a tag of the plugin "scalars"
  /// and is no number; null for scalars. Graphs come as RunReader::value() gives them. Valid until
  /// the next call.
  const event::Value* data = nullptr;
};

struct RunEventsOptions {
  PurgePolicy purge = PurgePolicy::kRestarts;
  /// Called on the caller's thread now and then, with the bytes that both passes have read so far.
  std::function<void(std::uint64_t bytes)> onProgress;
};

/// Streams the values of a run in the order in which they were written, in memory that depends
/// neither on the number of values nor on the size of the files:
///
///     RunEvents run(listRuns("runs").front());
///     RunValue value;
///     while (run.next(&value)) {
///       use(run.tags()[value.tag].name, value.step, value.scalar);
///     }
///
/// What a restart drops is known only behind it, and what a tag is only from its first metadata. So
/// the files are read twice: the constructor notes restarts, tags and damage, and next() gives
/// values up to where the constructor came. What is written meanwhile is left out.
///
/// Gives the values that RunReader gives without sampling; only an event that RunReader lists and
/// its value() would refuse to decode is damage here.
///
/// @threads Not thread-safe: one thread at a time. Distinct objects may run concurrently.
/// @cost    Two passes over the files with all checksums, some 20 ns a scalar in both. Memory: the
///          tags, 24 bytes for each restart or step that goes back, the damage, and the largest
///          event.
class STEPTAPE_EXPORT RunEvents {
 public:
  /// Makes the first pass. Does not throw for what the files hold: see damage().
  explicit RunEvents(const RunFiles& run, RunEventsOptions options = {});
  RunEvents(RunEvents&&) noexcept;
  RunEvents& operator=(RunEvents&&) noexcept;
  ~RunEvents();

  /// @param value Set if there is one.
  /// @return false at the end.
  bool next(RunValue* value);

  /// All tags of the run, in the order of their first appearance, those too of which every value
  /// was dropped.
  const std::vector<RunTag>& tags() const;

  /// As RunReader::damage(). A file that cannot be read to where the first pass came is added when
  /// next() finds that.
  const std::vector<Damage>& damage() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptape
