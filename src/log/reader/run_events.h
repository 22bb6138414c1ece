// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/event.h"
#include "steptape/log/run_reader.h"

namespace steptape::detail::log {

/// A tag of a run.
struct RunTag {
  std::string name;
  /// As TagSeries::metadata.
  event::SummaryMetadata metadata;
};

/// A value of a run that RunEvents returns.
struct RunValue {
  std::uint32_t tag = 0;  ///< An index into RunEvents::tags().
  double wallTime = 0;    ///< @units Seconds since 1970-01-01 UTC.
  std::int64_t step = 0;
  double scalar = 0;  ///< For a scalar, as in TagSeries::scalars.
  /// Any other value; null for a scalar. Graphs have the form of RunReader::value(). A value of
  /// another plugin than RunTag::metadata has its own metadata. Valid until the next call.
  const event::Value* data = nullptr;
  /// For a scalar that is not a float: the tensor of one number in the file, whose integer `scalar`
  /// may have rounded. Else null. Valid until the next call.
  const event::Value* number = nullptr;
};

struct RunEventsOptions {
  PurgePolicy purge = PurgePolicy::kRestarts;
  /// Called regularly on the caller's thread, with the bytes that both passes have read so far.
  std::function<void(std::uint64_t bytes)> onProgress;
};

/// Streams the values of a run in the order of writing. Memory depends neither on the number of
/// values nor on the size of the files:
///
///     RunEvents run(listRuns("runs").front());
///     RunValue value;
///     while (run.next(&value)) {
///       use(run.tags()[value.tag].name, value.step, value.scalar);
///     }
///
/// The files are read twice, because a restart discards points that were written before it: the
/// constructor finds restarts, tags and damage, and next() returns values up to the end of that
/// pass. Data written after the first pass is left out.
///
/// The values are those of RunReader without sampling. One difference: an event that RunReader
/// lists, but that its value() cannot decode, counts as damage here.
///
/// @threads Not thread-safe: one thread at a time. Distinct objects may run concurrently.
/// @cost    Two passes over the files with all checksums, about 20 ns a scalar together. Memory:
///          the tags, 24 bytes for each restart or decrease of the step, the damage, and the
///          largest event.
class STEPTAPE_EXPORT RunEvents {
 public:
  /// Makes the first pass. Never throws for the contents of files: see damage().
  explicit RunEvents(const RunFiles& run, RunEventsOptions options = {});
  RunEvents(RunEvents&&) noexcept;
  RunEvents& operator=(RunEvents&&) noexcept;
  ~RunEvents();

  /// Reads the next value.
  ///
  /// @param value Set if there is one.
  /// @return false at the end.
  bool next(RunValue* value);

  /// Returns all tags of the run in the order of first appearance, including tags whose values were
  /// all discarded.
  const std::vector<RunTag>& tags() const;

  /// Returns the damage, as RunReader::damage(). next() adds files that it cannot read up to the
  /// end of the first pass.
  const std::vector<Damage>& damage() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptape::detail::log
