// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "steptape/events/event.h"
#include "steptape/events/plugin_content.h"
#include "steptape/log/run_reader.h"

#include "log/reader/series_batch.h"
#include "server/store/scalar_series.h"

namespace steptape::detail::server {

/// The points of one tag of a run, as TensorBoard's data server would have them.
struct TagPoints {
  std::string plugin;  ///< Of the first metadata that names one; see TagSeries::metadata.
  /// That metadata, encoded as a tensorboard.SummaryMetadata, with `dataClass`.
  std::string metadata;
  /// As the metadata declares it, or as its plugin implies it.
  event::DataClass dataClass = event::DataClass::kUnknown;
  ScalarSeries scalars;
  /// Where the other values are. Steps ascend, as in ScalarSeries.
  std::vector<ValueLocation> values;

  bool isScalar() const { return plugin == event::kScalarsPlugin; }
};

/// The points of a run by tag.
///
/// @threads Not thread-safe: one thread at a time, or several that only read.
class TagMap {
 public:
  using Tags = std::map<std::string, TagPoints, std::less<>>;

  /// Appends the points of `batch`, sets the kinds of its tags, and clears it.
  void append(log::SeriesBatch* batch);

  /// Decides about the numbers of tags without metadata: they are scalars if damage may have
  /// removed metadata, else nothing that a page shows.
  void endUpdate(bool hasLost);

  /// As SeriesSink.
  bool agreesWith(const log::SeriesBatch& batch) const;
  std::size_t scalars() const;
  void reserve(double times);

  const Tags& tags() const { return tags_; }
  /// Returns the smallest time of all points so far; infinity if there is none.
  double firstWallTime() const { return firstWallTime_; }

 private:
  void append(TagPoints* tag, log::TagBatch* batch);
  void appendValues(TagPoints* tag, const std::vector<ValueLocation>& values);
  void noteTimes(const ScalarColumns& points);

  Tags tags_;
  double firstWallTime_ = std::numeric_limits<double>::infinity();
};

}  // namespace steptape::detail::server
