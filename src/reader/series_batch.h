// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/event/event.h"
#include "steptape/reader/tag_series.h"

#include "event/large_value_view.h"
#include "event/scalar_event_view.h"

namespace steptape::detail {

/// A step that went back: drops what the batch and those before it hold of the tag at `step` or
/// later, up to the sizes that its columns had.
struct StepBack {
  std::size_t scalars;
  std::size_t values;
  std::int64_t step;
  std::uint64_t offset;  ///< Of the event that goes back, in its file.
  std::uint32_t file;
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
  TagBatch* successor = nullptr;  ///< The tag that followed this one last; never null in a batch.

  /// What lies in front of the tag's numbers: see ScalarEventView::form(). At first what never
  /// does.
  std::string form = std::string(1, '\0');
  bool isFormOfTensor = false;
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
  bool hasRestarts = false;  ///< For kFileVersion.
  Status status;             ///< For kNoEvent.
};

/// Sorts the events of a stretch of a file by tags.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    No allocation for a scalar of a known tag while its columns have room.
class SeriesBatch {
 public:
  SeriesBatch() { none_.successor = &none_; }
  SeriesBatch(const SeriesBatch&) = delete;
  SeriesBatch& operator=(const SeriesBatch&) = delete;

  /// Takes one event, or says that it is one that ends the stretch.
  ///
  /// @param where Of the event's record; times, step and index are filled in.
  EventMeaning add(std::string_view payload, ValueLocation where);

  /// As add(), much faster, for an event that is nothing but scalars.
  /// @return false if it is another one; nothing is then taken.
  bool addScalars(std::string_view payload, std::uint64_t offset, std::uint32_t file);

  /// Whether a step that goes back drops points, as in files that have no restart events.
  void watchSteps(bool watch) { watchesSteps_ = watch; }
  bool watchesSteps() const { return watchesSteps_; }
  /// Takes the latest step from the stretch before, which is in another batch.
  void follow(const SeriesBatch& before) { latestStep_ = before.latestStep_; }

  /// The tags with something in this stretch, in the order of their first appearance.
  const std::vector<TagBatch*>& touched() const { return touched_; }
  std::size_t points() const { return points_; }

  /// Forgets the stretch, but neither the tags and their kinds nor the memory.
  void clear();

 private:
  struct FoundScalar {
    TagBatch* batch;
    float value;
    bool isTensor;
    bool hasMetadata;
    std::string_view metadata;
  };

  bool findScalar(ScalarEventView* event, FoundScalar* found);
  bool findScalarOfNewForm(ScalarEventView* event, FoundScalar* found);
  void addScalar(const FoundScalar& scalar, const ValueLocation& where);
  bool addLargeValues(std::string_view payload, ValueLocation where);
  void addValues(Event event, ValueLocation where);
  void addValue(Value value, const ValueLocation& where);
  void addNumber(TagBatch* batch, double number, const ValueLocation& where);
  void addLocation(TagBatch* batch, const ValueLocation& where);
  void noteStepBack(TagBatch* batch, const ValueLocation& where);
  bool goesBack(std::int64_t step) const { return watchesSteps_ && step < latestStep_; }
  TagBatch* find(std::string_view tag);
  TagBatch* touch(TagBatch* batch);

  std::unordered_map<std::string_view, std::unique_ptr<TagBatch>> tags_;  // by their own names
  TagBatch none_;                                                         // stands before the first
  TagBatch* last_ = &none_;
  std::vector<TagBatch*> touched_;
  std::size_t points_ = 0;
  bool watchesSteps_ = false;
  std::int64_t latestStep_ = -1;
  std::vector<FoundScalar> scalars_;  // of the event that is being added
};

}  // namespace steptape::detail
