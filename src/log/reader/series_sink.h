// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "log/reader/series_batch.h"

namespace steptape::detail::log {

/// What becomes of the points of a run, which come in stretches of its files in order.
///
/// @threads One thread at a time calls it.
class SeriesSink {
 public:
  virtual ~SeriesSink() = default;

  /// Returns the first plugin of a tag; "" if no value has named one yet.
  virtual std::string firstPlugin(const std::string& tag) const = 0;

  /// Marks all later points as new.
  /// @param files The paths of the run's files. ValueLocation::file is an index.
  virtual void beginUpdate(const std::vector<std::string>& files) = 0;

  /// Appends the points of `batch`, sets the kinds of its tags, and clears it.
  virtual void append(SeriesBatch* batch) = 0;

  /// Takes the time of an event without values: a file's version or a session log.
  virtual void noteWallTime(double wallTime) = 0;

  /// Returns whether `batch` and this sink have the same kind and plugin for every tag. They may
  /// differ if the batch was read without the earlier part of the file.
  virtual bool agreesWith(const SeriesBatch& batch) const = 0;

  /// Returns the number of scalars.
  virtual std::size_t scalars() const = 0;

  /// Reserves room for `times` as many scalars as there are.
  virtual void reserve(double times) = 0;

  /// Discards all points at `step` or later; graphs stay.
  virtual void purgeFrom(std::int64_t step) = 0;

  /// Ends an update.
  /// @param hasLost Whether damage may have removed metadata.
  virtual void endUpdate(bool hasLost) = 0;
};

}  // namespace steptape::detail::log
