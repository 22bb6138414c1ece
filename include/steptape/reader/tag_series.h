// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"

namespace steptape {
namespace detail {

/// Memory for many numbers that are appended one by one while other columns grow as well.
///
/// What the system gives for large blocks begins at the same offset of a page each time, so that
/// the ends of columns which grow alike compete for the same few lines of the cache: with ten tags
/// it took 20 ns to append a point, and 11 ns to columns that begin at different lines.
///
/// @throws std::bad_alloc if there is none.
/// @threads Thread-safe.
STEPTAPE_EXPORT void* allocateColumn(std::size_t bytes);

/// @param column What allocateColumn() gave for as many `bytes`.
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

}  // namespace detail

/// A vector of up to millions of numbers, beside others of its kind.
template <typename T>
using Column = std::vector<T, detail::ColumnAllocator<T>>;

/// The points of a scalar series as columns of equal length, in the order in which they were
/// written, after what restarts purged.
struct ScalarColumns {
  Column<double> wallTimes;    ///< @units Seconds since 1970-01-01 UTC.
  Column<std::int64_t> steps;  ///< Ascending unless the writer went back without a restart.
  Column<double> values;       ///< Exact for both float and double tensors.

  std::size_t size() const { return steps.size(); }
};

/// Where a value that is no scalar lies. Its data stays in the file until RunReader::value().
struct ValueLocation {
  double wallTime;  ///< @units Seconds since 1970-01-01 UTC.
  std::int64_t step;
  std::uint64_t offset;  ///< Where its record begins in its file.
  std::uint64_t bytes;   ///< Of the record's payload, all values of the event together.
  std::uint32_t file;    ///< An index into RunReader::files().
  std::uint32_t index;   ///< Of the value in its event's summary.
};

/// All that a run holds under one tag.
struct TagSeries {
  /// As the first value in the run gave it that names a plugin. Values of the compatible form have
  /// the plugin that shows them filled in, as TensorBoard does: a `simple_value` belongs to
  /// "scalars", an `image` to "images", a `histo` to "histograms", an `audio` to "audio". In a run
  /// with damage, which may have taken the one value that had metadata, single numbers of a tag
  /// without any are scalars.
  event::SummaryMetadata metadata;
  ScalarColumns scalars;              ///< For the plugin "scalars", else empty.
  std::vector<ValueLocation> values;  ///< For every other plugin, else empty.
  /// The index of the first point that the last RunReader::update() added; size() if it added none.
  /// What restarts and sampling take out in front of it moves it, so that a program which shows all
  /// points from it on after each update shows each point once.
  std::size_t firstNew = 0;

  std::size_t size() const { return scalars.size() + values.size(); }
};

// Graphs are no values of a summary; they are listed under these names, as TensorBoard's data
// server lists them.
inline constexpr char kGraphsPlugin[] = "graphs";
inline constexpr char kRunGraphTag[] = "__run_graph__";
inline constexpr char kMetaGraphTag[] = "__meta_graph__";
/// RunMetadata, what each node of a graph took, by its own tags.
inline constexpr char kTaggedRunMetadataPlugin[] = "graph_tagged_run_metadata";

}  // namespace steptape
