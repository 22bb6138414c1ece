// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <new>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/event.h"

namespace steptape {
namespace detail::log {

/// Allocates memory for a column, at a cache line that differs between columns.
///
/// Large blocks of the system begin at the same offset of a page, so that the ends of columns that
/// grow together compete for the same cache lines: appending a point took 20 ns with ten tags, and
/// 11 ns with columns that begin at different lines.
///
/// @throws std::bad_alloc if memory runs out.
/// @threads Thread-safe.
STEPTAPE_EXPORT void* allocateColumn(std::size_t bytes);

/// Frees a column.
///
/// @param column The result of allocateColumn().
/// @param bytes  The argument of allocateColumn().
STEPTAPE_EXPORT void freeColumn(void* column, std::size_t bytes) noexcept;

/// The allocator of Column.
template <typename T>
struct ColumnAllocator {
  using value_type = T;

  ColumnAllocator() = default;
  template <typename U>
  ColumnAllocator(const ColumnAllocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) {
      throw std::bad_alloc();
    }
    return static_cast<T*>(allocateColumn(count * sizeof(T)));
  }
  void deallocate(T* column, std::size_t count) noexcept { freeColumn(column, count * sizeof(T)); }
};

template <typename T, typename U>
bool operator==(const ColumnAllocator<T>& /*a*/, const ColumnAllocator<U>& /*b*/) {
  return true;
}
template <typename T, typename U>
bool operator!=(const ColumnAllocator<T>& /*a*/, const ColumnAllocator<U>& /*b*/) {
  return false;
}

}  // namespace detail::log

/// A vector of up to millions of numbers.
template <typename T>
using Column = std::vector<T, detail::log::ColumnAllocator<T>>;

/// The points of a scalar series as columns of equal length, in the order of writing, without the
/// points that restarts discarded.
struct ScalarColumns {
  Column<double> wallTimes;    ///< @units Seconds since 1970-01-01 UTC.
  Column<std::int64_t> steps;  ///< Ascending, unless the writer decreased it without a restart.
  Column<double> values;       ///< Exact, except for integers beyond 2^53, which are rounded.

  std::size_t size() const { return steps.size(); }
};

/// The place of a non-scalar value in its file, from which RunReader::value() reads it.
struct ValueLocation {
  double wallTime;  ///< @units Seconds since 1970-01-01 UTC.
  std::int64_t step;
  std::uint64_t offset;  ///< Of its record in the file.
  std::uint64_t bytes;   ///< Of the record's payload: all values of the event.
  std::uint32_t file;    ///< An index into RunReader::files().
  std::uint32_t index;   ///< Of the value in its event's summary.
};

/// The points of one tag of a run.
///
/// Most tags have one kind of value. A program that logs a scalar and a histogram under one tag
/// makes a tag of two: `scalars` then has its scalars, and `values` or `others` its histograms.
/// TensorBoard shows one of them at most.
struct TagSeries {
  /// The metadata of the first value in the run that names a plugin. For values of the compatible
  /// form the plugin is filled in, as in TensorBoard: "scalars" for `simple_value`, "images" for
  /// `image`, "histograms" for `histo`, "audio" for `audio`. In a damaged run, which may have lost
  /// the value with the metadata, single numbers without metadata are scalars.
  event::SummaryMetadata metadata;
  /// Each `simple_value`, and each tensor of one number if `metadata` or its own metadata names the
  /// plugin "scalars".
  ScalarColumns scalars;
  /// All other values of the plugin of `metadata`, and values that name none.
  std::vector<ValueLocation> values;
  /// Values of further plugins under the tag, in the order of their first values: each has the
  /// metadata of its first value, `values`, and nothing else. Usually empty; at most eight, and
  /// what has yet another plugin is among `values`.
  std::list<TagSeries> others;
  /// The index of the first scalar that the last RunReader::update() added; scalars.size() if it
  /// added none. It follows the removal of earlier points by restarts and sampling: a program that
  /// shows the points from this index after each update shows each point once.
  std::size_t firstNewScalar = 0;
  std::size_t firstNewValue = 0;  ///< The same for `values`.
  /// Whether a scalar was an integer of 64 bits that no double equals; it is rounded.
  bool isRounded = false;

  /// Returns the number of points of all kinds.
  std::size_t size() const {
    std::size_t points = scalars.size() + values.size();
    for (const TagSeries& other : others) {
      points += other.values.size();
    }
    return points;
  }
  /// Returns how many of them are from before the last RunReader::update().
  std::size_t sizeBefore() const {
    std::size_t points = firstNewScalar + firstNewValue;
    for (const TagSeries& other : others) {
      points += other.firstNewValue;
    }
    return points;
  }
};

// Graphs are not summary values. They are listed under these names, as in TensorBoard's data
// server.
inline constexpr char kGraphsPlugin[] = "graphs";
inline constexpr char kRunGraphTag[] = "__run_graph__";
inline constexpr char kMetaGraphTag[] = "__meta_graph__";
/// The plugin of RunMetadata, the measurements of a graph, which have their own tags.
inline constexpr char kTaggedRunMetadataPlugin[] = "graph_tagged_run_metadata";

}  // namespace steptape
