// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/event/event.h"
#include "steptape/reader/tag_series.h"

#include "event/scalar_event_view.h"

namespace steptape::detail {

/// A step that went back: drops what the batch and those before it hold of the tag at `step` or
/// later, up to the sizes that its columns had.
struct StepBack {
  std::size_t scalars;
  std::size_t values;
  std::int64_t step;
};

/// What a stretch of a file holds under one tag.
struct TagBatch {
  /// What the tag's values are. Its first metadata says so, which may lie before the stretch: while
  /// the kind is unknown, numbers go into both columns.
  enum class Kind { kUnknown, kScalars, kOther };

  std::string tag;
  Kind kind = Kind::kUnknown;
  std::optional<SummaryMetadata> metadata;  ///< The first in the stretch.
  ScalarColumns scalars;
  std::vector<ValueLocation> values;
  std::vector<StepBack> stepsBack;
  bool isTouched = false;
};

/// What an event means to those before and behind it.
struct EventMeaning {
  enum class Kind {
    kContent,
    kRestart,      ///< SessionLog START: ends the stretch.
    kFileVersion,  ///< Ends the stretch.
    kNoEvent,      ///< The payload could not be decoded.
  };
  Kind kind = Kind::kContent;
  std::int64_t restartStep = 0;
  double fileVersion = 0;
  Status status;  ///< For kNoEvent.
};

/// Sorts the events of a stretch of a file by tags.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    No allocation for a scalar of a known tag while its columns have room.
class SeriesBatch {
 public:
  /// Takes one event, or says that it is one that ends the stretch.
  ///
  /// @param where Of the event's values; times, step and index are filled in.
  EventMeaning add(std::string_view payload, ValueLocation where);

  /// Whether a step that goes back drops points, as in files that have no restart events.
  void watchSteps(bool watch) { watchesSteps_ = watch; }

  /// The tags with something in this stretch, in the order of their first appearance.
  const std::vector<TagBatch*>& touched() const { return touched_; }
  std::size_t points() const { return points_; }

  /// Forgets the stretch, but neither the tags and their kinds nor the memory.
  void clear();

 private:
  bool addScalars(std::string_view payload, const ValueLocation& where);
  void addScalar(const ScalarView& scalar, const ValueLocation& where);
  void addSummary(const Summary& summary, ValueLocation where);
  void addValue(const Value& value, const ValueLocation& where);
  void addNumber(TagBatch* batch, double number, const ValueLocation& where);
  void addLocation(TagBatch* batch, const ValueLocation& where);
  void addGraph(std::string tag, const char* plugin, const ValueLocation& where);
  void noteStepBack(TagBatch* batch, std::int64_t step);
  bool goesBack(std::int64_t step) const { return watchesSteps_ && step < latestStep_; }
  TagBatch* find(std::string_view tag);
  TagBatch* touch(TagBatch* batch);

  std::deque<TagBatch> tags_;
  std::unordered_map<std::string_view, std::uint32_t> numberOf_;
  std::vector<std::uint32_t> successor_;  // of each tag's number: that which followed it last
  std::uint32_t last_ = 0;
  std::vector<TagBatch*> touched_;
  std::size_t points_ = 0;
  bool watchesSteps_ = false;
  std::int64_t latestStep_ = -1;
  std::vector<ScalarView> scalars_;  // of the event that is being added
};

}  // namespace steptape::detail
