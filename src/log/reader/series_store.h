// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "steptape/log/run_reader.h"

#include "log/reader/reservoir.h"
#include "log/reader/series_batch.h"
#include "log/reader/series_cuts.h"

namespace steptape::detail::log {

/// The series of a run, assembled from stretches of its files in order.
///
/// @threads Not thread-safe: one thread at a time.
class SeriesStore {
 public:
  explicit SeriesStore(Sampling sampling) : sampling_(std::move(sampling)) {}

  /// Returns the first plugin of a tag; "" if no value has named one yet.
  std::string firstPlugin(const std::string& tag) const;

  /// Marks all later points as new: see TagSeries::firstNewScalar.
  void beginUpdate();

  /// Appends the points of `batch`, sets the kinds of its tags, and clears it.
  void append(SeriesBatch* batch);

  /// Returns whether `batch` and this store have the same kind and plugin for every tag. They may
  /// differ if the batch was read without the earlier part of the file.
  bool agreesWith(const SeriesBatch& batch) const;

  /// Reserves room for `times` as many scalars as there are, so that columns do not grow in steps,
  /// each of which copies them. Unused room takes no memory.
  void reserve(double times);

  /// Discards all points at `step` or later; graphs stay.
  /// @cost Constant per tag: points leave their columns in endUpdate(), unless they are sampled.
  void purgeFrom(std::int64_t step);

  /// Ends an update; tags() is then complete.
  /// @param hasLost Whether damage may have removed metadata. Numbers of a tag without metadata are
  ///                then scalars until metadata is read.
  void endUpdate(bool hasLost);

  const std::map<std::string, TagSeries>& tags() const { return tags_; }

 private:
  /// None: all points are kept.
  struct Reservoirs {
    std::optional<Reservoir> scalars;
    std::optional<Reservoir> values;
  };
  /// The values of a further plugin, while those of a batch are appended.
  struct OtherValues {
    TagSeries* series;
    const OtherBatch* batch;
    std::size_t appended = 0;
  };

  void append(TagSeries* series, TagBatch* batch);
  std::vector<OtherValues> othersOf(TagSeries* series, const TagBatch& batch);
  void appendOthers(std::vector<OtherValues>* others, std::optional<std::size_t> back);
  void settle(TagSeries* series, TagBatch::Kind kind);
  void showUndecided(bool asScalars);
  void appendScalars(TagSeries* series, ScalarColumns* columns, Reservoirs* reservoirs,
                     const ScalarColumns& scalars, std::size_t begin, std::size_t end);
  void appendValues(TagSeries* series, Reservoirs* reservoirs,
                    const std::vector<ValueLocation>& values, std::size_t begin, std::size_t end);
  void purgeFrom(std::int64_t step, TagSeries* series, Reservoirs* reservoirs);
  void applyCuts(TagSeries* series);
  void purgeAll(std::int64_t step, TagSeries* series);
  std::size_t mostPoints(const std::string& plugin) const;
  Reservoirs* reservoirsOf(const TagSeries* series);
  bool keepsAllScalars(const TagSeries* series);

  Sampling sampling_;
  std::map<std::string, TagSeries> tags_;
  std::unordered_map<const TagSeries*, Reservoirs> reservoirs_;
  std::unordered_map<TagSeries*, SeriesCuts> cuts_;  // to apply in endUpdate()
  /// The alternative series of a tag that has only numbers and no metadata yet.
  struct Undecided {
    ScalarColumns scalars;
    std::vector<ValueLocation> values;
  };
  std::unordered_map<TagSeries*, Undecided> undecided_;
  bool showsScalars_ = false;  // of all of them
};

}  // namespace steptape::detail::log
