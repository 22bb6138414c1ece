// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "log.h"

namespace steptape::python {

/// Scalar series as one long table with a row for each point: run, tag, step, wall time and value.
///
/// Runs and tags are indices into lists of names.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @cost    Memory for the series' names; the points are not copied.
class Table {
 public:
  /// The destination of copied rows. Every column has a place for each of them.
  template <typename Code>
  struct Columns {
    Code* runs;
    Code* tags;
    std::int64_t* steps;
    double* wallTimes;
    double* values;

    /// Returns the same columns from `row` on.
    Columns from(std::size_t row) const {
      return {runs + row, tags + row, steps + row, wallTimes + row, values + row};
    }
  };

  /// @param series Series that are not scalars are omitted.
  explicit Table(const std::vector<Series>& series);

  std::size_t rows() const { return rows_; }
  const std::vector<std::string>& runNames() const { return runNames_; }
  const std::vector<std::string>& tagNames() const { return tagNames_; }

  /// Copies the rows [begin, begin + count).
  ///
  /// @param Code A signed integer type that can hold every index of a name.
  /// @threads On any thread, without the GIL.
  template <typename Code>
  void copy(std::size_t begin, std::size_t count, Columns<Code> to) const;

 private:
  /// The rows of one series.
  struct Part {
    std::shared_ptr<const TagSeries> points;
    std::size_t begin;
    std::int32_t run;
    std::int32_t tag;
  };

  std::vector<Part> parts_;
  std::size_t rows_ = 0;
  std::vector<std::string> runNames_;
  std::vector<std::string> tagNames_;
};

}  // namespace steptape::python
