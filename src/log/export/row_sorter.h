// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "steptape/base/status.h"

#include "base/spool_file.h"

namespace steptape::detail::log {

/// A number in a table.
struct Cell {
  std::int64_t step;
  double value;
  std::uint32_t column;
  std::uint32_t row;  ///< Row number within the step.

  bool operator<(const Cell& other) const {
    return std::tie(step, row, column) < std::tie(other.step, other.row, other.column);
  }
};

/// Sorts cells by step, row and column in bounded memory; the sort is stable. Cells that do not fit
/// into memory are written to a temporary file, in sorted stretches that are merged at the end.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    24 bytes per cell on disk; in memory 36 bytes for each of `maxCells`, and 64 KiB per
///          stretch while they are merged.
class RowSorter {
 public:
  /// @param prefix Prefix of the temporary file, as for SpoolFile.
  RowSorter(std::string prefix, std::size_t maxCells);

  Status add(const Cell& cell);
  /// Calls `take` for each cell in order. Empties this object.
  Status forEach(const std::function<void(const Cell&)>& take);

 private:
  struct Stretch {
    std::uint64_t offset;  // of the part that is not in `cells` yet
    std::size_t left;
    std::vector<Cell> cells;
    std::size_t next;
  };

  Status spill();
  Status fill(Stretch* stretch);
  Status merge(const std::function<void(const Cell&)>& take);

  base::SpoolFile file_;
  const std::size_t maxCells_;
  std::vector<Cell> cells_;
  std::vector<Stretch> stretches_;
};

}  // namespace steptape::detail::log
