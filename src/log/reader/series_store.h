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
#include "log/reader/series_sink.h"

namespace steptape::detail::log {

/// The series of a run, assembled from stretches of its files in order.
///
/// @threads Not thread-safe: one thread at a time.
class SeriesStore final : public SeriesSink {
 public:
  explicit SeriesStore(Sampling sampling) : sampling_(std::move(sampling)) {}

  std::string firstPlugin(const std::string& tag) const override;
  /// Marks all later points as new: see TagSeries::firstNewScalar.
  void beginUpdate(const std::vector<std::string>& files) override;
  void append(SeriesBatch* batch) override;
  void noteWallTime(double /*wallTime*/) override {}
  bool agreesWith(const SeriesBatch& batch) const override;
  std::size_t scalars() const override;
  /// Unused room takes no memory, and columns do not grow in steps, each of which copies them.
  void reserve(double times) override;
  /// @cost Constant per tag: points leave their columns in endUpdate(), unless they are sampled.
  void purgeFrom(std::int64_t step) override;
  /// Completes tags(). Numbers of a tag without metadata are scalars if damage may have removed
  /// metadata, until metadata is read.
  void endUpdate(bool hasLost) override;

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
