// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/events/event.h"
#include "steptape/log/run_reader.h"

#include "events/messages/scalar_event_view.h"
#include "log/reader/tag_index.h"

namespace steptape::detail::log {

/// A decreasing step: discards points of the tag at `step` or later, in this batch and earlier
/// ones, up to the sizes that the columns had.
struct StepBack {
  std::size_t scalars;
  std::size_t values;
  std::int64_t step;
  std::uint64_t offset;  ///< Offset in its file of the event with the smaller step.
  std::uint32_t file;
};

/// The most plugins under a tag, besides the first, whose values have a series of their own.
constexpr std::size_t kMostOtherPlugins = 8;

/// The values of a further plugin under a tag in a stretch of a file: see TagSeries::others.
struct OtherBatch {
  event::SummaryMetadata metadata;  ///< Of the first value.
  std::vector<ValueLocation> values;
  std::vector<std::size_t> valuesAtBack;  ///< Size of `values` at each of TagBatch::stepsBack.
};

/// The points of one tag in a stretch of a file.
struct STEPTAPE_EXPORT TagBatch {
  /// The kind of the tag's first plugin, which may be named before the stretch, or after its first
  /// values. While the kind is unknown, numbers are added to both columns. A value that is not a
  /// number makes a tag without a plugin kOther.
  enum class Kind { kUnknown, kScalars, kOther };

  /// Sets the kind of the tag's values.
  void settle(Kind settled);
  /// Sets the first plugin of the tag. REQUIRES: lacksPlugin().
  void setPlugin(const std::string& name);
  /// Takes the first plugin of the tag that earlier stretches have named: `known`. Empty: none.
  void follow(const std::string& known);
  /// Returns whether this has the kind and the plugin that follow() would set.
  bool agreesWith(const std::string& known) const;
  /// Returns whether neither the stretch nor an earlier one has named the tag's plugin.
  bool lacksPlugin() const { return plugin.empty(); }

  std::string tag;
  Kind kind = Kind::kUnknown;
  std::string plugin;  ///< The first that the tag's values name; empty: none yet.
  std::optional<event::SummaryMetadata> metadata;  ///< In the stretch, while it decides.
  ScalarColumns scalars;
  std::vector<ValueLocation> values;
  std::vector<OtherBatch> others;  ///< At most kMostOtherPlugins.
  std::vector<StepBack> stepsBack;
  bool isTouched = false;  ///< Whether the stretch holds any data of the tag yet.
  bool isRounded = false;  ///< As TagSeries::isRounded.

  /// Columns that can take scalars directly, as long as the stretch holds no data of the tag; may
  /// be null.
  ScalarColumns* direct = nullptr;
  /// Current columns for scalars: `direct` or `scalars`. Null before touch().
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
  /// Of an event without values; values have their own.
  std::optional<double> wallTime;
  Status status;  ///< For kNoEvent.
};

/// When the events of a file were logged. A time that is not positive is none.
struct EventTimes {
  double first = std::numeric_limits<double>::infinity();
  double last = -std::numeric_limits<double>::infinity();

  bool isKnown() const { return first <= last; }
  void add(double wallTime) {
    if (wallTime < first && wallTime > 0) {
      first = wallTime;
    }
    if (wallTime > last && wallTime > 0) {
      last = wallTime;
    }
  }
  void add(const EventTimes& other) {
    if (other.isKnown()) {
      add(other.first);
      add(other.last);
    }
  }
};

/// Sorts the events of a stretch of a file by tag.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    No allocation for a scalar of a known tag while its columns have room.
class STEPTAPE_EXPORT SeriesBatch {
 public:
  /// @param isInOrder Whether each stretch comes after all points of the store: scalars of known
  ///                  tags then go directly to the store.
  /// @param firstPlugin Returns the first plugin of a tag, as far as the store knows it, or "". May
  ///                    be empty.
  explicit SeriesBatch(bool isInOrder,
                       std::function<std::string(const std::string& tag)> firstPlugin = {})
      : isInOrder_(isInOrder), firstPlugin_(std::move(firstPlugin)) {}
  SeriesBatch(const SeriesBatch&) = delete;
  SeriesBatch& operator=(const SeriesBatch&) = delete;

  /// Adds one event, or reports that it ends the stretch.
  ///
  /// @param where Position of the event's record; times, step and index are filled in.
  EventMeaning add(std::string_view payload, ValueLocation where);

  /// Like add(), but much faster, for an event of scalars only.
  /// @return false for any other event; nothing is then added.
  bool addScalars(std::string_view payload, std::uint64_t offset, std::uint32_t file) {
    return addKnownScalars(payload) || addNewScalars(payload, offset, file);
  }

  /// Sets whether a decreasing step discards points, as in files without restart events.
  void watchSteps(bool watch) { watchesSteps_ = watch; }
  bool watchesSteps() const { return watchesSteps_; }
  /// Copies the known tags of `other` without points, so that scalars of known tags are fast from
  /// the start.
  void learnFrom(const SeriesBatch& other);
  /// Takes the latest step of the previous stretch, which is in another batch.
  void follow(const SeriesBatch& before) { latestStep_ = before.latestStep_; }

  bool isInOrder() const { return isInOrder_; }

  /// Returns the tags with data in this stretch that is not yet in the store, in the order of their
  /// first appearance.
  const std::vector<TagBatch*>& touched() const { return touched_; }
  std::size_t points() const { return points_; }

  /// Returns the times of all events since the last call.
  EventTimes takeTimes() { return std::exchange(times_, {}); }

  /// Clears the stretch; keeps the tags with their kinds, and the memory.
  void clear();
  /// Clears all state that events have set.
  void reset();
  /// Frees the memory of the points. REQUIRES: the stretch is clear.
  void releasePoints();

 private:
  struct NewScalar {
    events::ScalarView view;
    std::string_view form;
  };

  bool addKnownScalars(std::string_view payload);
  bool addNewScalars(std::string_view payload, std::uint64_t offset, std::uint32_t file);
  void addKnown(TagBatch* batch, double wallTime, std::int64_t step, float value);
  void addScalar(const NewScalar& scalar, const ValueLocation& where);
  bool addLargeValues(std::string_view payload, ValueLocation where);
  bool addValues(event::Event event, ValueLocation where);
  void addValue(const event::Value& value, const ValueLocation& where);
  void addOnlyScalar(TagBatch* batch, double number, const ValueLocation& where);
  void addNumber(TagBatch* batch, double number, const ValueLocation& where);
  void addLocation(TagBatch* batch, const ValueLocation& where);
  void addOther(OtherBatch* other, const ValueLocation& where);
  void noteStepBack(TagBatch* batch, const ValueLocation& where);
  bool goesBack(std::int64_t step) const { return watchesSteps_ && step < latestStep_; }
  TagBatch* touch(TagBatch* batch);

  const bool isInOrder_;
  const std::function<std::string(const std::string& tag)> firstPlugin_;
  TagIndex<TagBatch> tags_;
  std::vector<TagBatch*> touched_;
  std::size_t points_ = 0;
  bool watchesSteps_ = false;
  std::int64_t latestStep_ = -1;
  EventTimes times_;
  std::vector<NewScalar> newScalars_;  // of the event that is being added
};

}  // namespace steptape::detail::log
