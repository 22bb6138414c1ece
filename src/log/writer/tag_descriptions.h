// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "steptape/events/event.h"

#include "log/writer/pending_records.h"
#include "log/writer/scalar_series.h"

namespace steptape::detail::log {

/// Which tags are described in the current file of a stream: readers need a tag's metadata with its
/// first value in each file.
///
/// @threads Not thread-safe: one thread at a time.
class TagDescriptions {
 public:
  /// Returns whether the next value of the series must describe it.
  bool lacks(const ScalarSeries& series) const { return series.describedInFile != serial_; }
  /// Records that the next value of the series describes it.
  void add(ScalarSeries* series);

  /// Leaves the metadata in the values of an event that are the first of their tags, and removes it
  /// from the others.
  void addOnce(event::Summary* summary);
  /// Records that the event was not written: the next values of its tags will describe them.
  void forget(const event::Summary& summary) noexcept;

  /// Records that scalars must be described again.
  void beginFile() { ++serial_; }
  /// Records that the events which described the tags are lost, or in another file: if records are
  /// pending, describeAgain() must be called before they are written.
  void noteLost() { areLost_ = true; }
  void noteNothingPending() { areLost_ = false; }
  bool areLost() const { return areLost_; }

  /// Adds metadata to the waiting chunks again. Call it again if it throws.
  /// @param skipped The number of chunks that stay as they are.
  void describeAgain(PendingRecords* pending, std::size_t skipped);

 private:
  using Metadata = std::unordered_map<std::string, event::SummaryMetadata>;  // by tag

  std::string described(std::string_view records, const Metadata& metadata);

  std::uint64_t serial_ = 1;  // changes when scalars must be described again
  Metadata described_;        // of every tag described in the current file
  bool areLost_ = false;
};

}  // namespace steptape::detail::log
