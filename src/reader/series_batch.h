// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/event/event.h"
#include "steptape/reader/tag_series.h"

#include "event/scalar_event_view.h"
#include "reader/tag_index.h"

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

/// The points of one tag in a stretch of a file.
struct TagBatch {
  /// What the tag's values are. Its first metadata says so, which may lie before the stretch: while
  /// the kind is unknown, numbers go into both columns.
  enum class Kind { kUnknown, kScalars, kOther };

  /// Says what the tag's values are.
  void settle(Kind settled);
  /// Whether the stretch has not said yet which plugin shows the tag.
  bool lacksPlugin() const { return !metadata || metadata->pluginName.empty(); }

  std::string tag;
  Kind kind = Kind::kUnknown;
  std::optional<event::SummaryMetadata>
      metadata;  ///< The first in the stretch that names a plugin.
  ScalarColumns scalars;
  std::vector<ValueLocation> values;
  std::vector<StepBack> stepsBack;
  bool isTouched = false;    ///< Whether the stretch holds anything of the tag so far.
  bool isDescribed = false;  ///< Whether this stretch or one before named a plugin.

  /// Where scalars may go at once as long as the stretch holds nothing of the tag; null: nowhere.
  ScalarColumns* direct = nullptr;
  /// Where they go now: `direct` or `scalars`. Null: not known before touch().
  ScalarColumns* target = nullptr;
  TagBatch* successor = nullptr;  ///< See TagIndex.
  /// The bytes before the number in each scalar of the tag (see ScalarEventView::form()), if the
  /// scalars contain no other data; else kNoForm, which never matches.
  std::string form = kNoForm;

  static constexpr char kNoForm[] = "no form";
};

/// The effect of an event on earlier and later events.
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
  /// @param isInOrder Whether each stretch comes after all points of the store: scalars of known
  ///        tags then go directly to the store.
  explicit SeriesBatch(bool isInOrder) : isInOrder_(isInOrder) {}
  SeriesBatch(const SeriesBatch&) = delete;
  SeriesBatch& operator=(const SeriesBatch&) = delete;

  /// Takes one event, or says that it is one that ends the stretch.
  ///
  /// @param where Of the event's record; times, step and index are filled in.
  EventMeaning add(std::string_view payload, ValueLocation where);

  /// As add(), much faster, for an event that is nothing but scalars.
  /// @return false if it is another one; nothing is then taken.
  bool addScalars(std::string_view payload, std::uint64_t offset, std::uint32_t file) {
    return addKnownScalars(payload) || addNewScalars(payload, offset, file);
  }

  /// Whether a step that goes back drops points, as in files that have no restart events.
  void watchSteps(bool watch) { watchesSteps_ = watch; }
  bool watchesSteps() const { return watchesSteps_; }
  /// Takes what `other` knows of tags, but no points, so that scalars of known tags are fast at
  /// once.
  void learnFrom(const SeriesBatch& other);
  /// Takes the latest step from the stretch before, which is in another batch.
  void follow(const SeriesBatch& before) { latestStep_ = before.latestStep_; }

  bool isInOrder() const { return isInOrder_; }

  /// The tags with something in this stretch, but for what is in the store by now, in the order of
  /// their first appearance.
  const std::vector<TagBatch*>& touched() const { return touched_; }
  std::size_t points() const { return points_; }

  /// Forgets the stretch, but neither the tags and their kinds nor the memory.
  void clear();
  /// Forgets all that events said.
  void reset();

 private:
  struct NewScalar {
    ScalarView view;
    std::string_view form;
  };

  bool addKnownScalars(std::string_view payload);
  bool addNewScalars(std::string_view payload, std::uint64_t offset, std::uint32_t file);
  void addKnown(TagBatch* batch, double wallTime, std::int64_t step, float value);
  void addScalar(const NewScalar& scalar, const ValueLocation& where);
  bool addLargeValues(std::string_view payload, ValueLocation where);
  void addValues(event::Event event, ValueLocation where);
  void addValue(event::Value value, const ValueLocation& where);
  void addNumber(TagBatch* batch, double number, const ValueLocation& where);
  void addLocation(TagBatch* batch, const ValueLocation& where);
  void noteStepBack(TagBatch* batch, const ValueLocation& where);
  bool goesBack(std::int64_t step) const { return watchesSteps_ && step < latestStep_; }
  TagBatch* touch(TagBatch* batch);

  const bool isInOrder_;
  TagIndex<TagBatch> tags_;
  std::vector<TagBatch*> touched_;
  std::size_t points_ = 0;
  bool watchesSteps_ = false;
  std::int64_t latestStep_ = -1;
  std::vector<NewScalar> newScalars_;  // of the event that is being added
};

}  // namespace steptape::detail
