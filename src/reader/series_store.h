// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "steptape/reader/run_reader.h"
#include "steptape/reader/tag_series.h"

#include "reader/reservoir.h"
#include "reader/series_batch.h"

namespace steptape::detail {

/// The series of a run, put together from stretches of its files in their order.
///
/// @threads Not thread-safe: one thread at a time.
class SeriesStore {
 public:
  explicit SeriesStore(Sampling sampling) : sampling_(std::move(sampling)) {}

  /// Puts what `batch` holds behind what is there, tells it the kinds of its tags, and clears it.
  void append(SeriesBatch* batch);

  /// Makes room for `times` as many scalars as there are, so that columns do not grow in steps, each
  /// of which copies them. Room that is not used takes no memory.
  void reserve(double times);

  /// Drops all points at `step` or later; graphs stay.
  void purgeFrom(std::int64_t step);

  const std::map<std::string, TagSeries>& tags() const { return tags_; }

 private:
  struct Reservoirs {
    Reservoir scalars;
    Reservoir values;
  };

  void append(TagBatch* batch);
  void settle(TagSeries* series, TagBatch::Kind kind);
  void appendScalars(ScalarColumns* columns, Reservoirs* reservoirs, const ScalarColumns& scalars,
                     std::size_t begin, std::size_t end);
  void appendValues(TagSeries* series, Reservoirs* reservoirs,
                    const std::vector<ValueLocation>& values, std::size_t begin, std::size_t end);
  void purgeFrom(std::int64_t step, TagSeries* series, Reservoirs* reservoirs);
  Reservoirs* reservoirsOf(const TagSeries* series);

  Sampling sampling_;
  std::map<std::string, TagSeries> tags_;
  std::unordered_map<const TagSeries*, Reservoirs> reservoirs_;
  /// Of series whose metadata is still to come and that are numbers only so far: the numbers, which
  /// lie at TagSeries::values.
  std::unordered_map<const TagSeries*, ScalarColumns> undecided_;
};

}  // namespace steptape::detail
