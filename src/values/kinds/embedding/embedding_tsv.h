// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/values/tensor_view.h"

namespace steptape::detail::values {

/// Writes a matrix in the projector's format, piece by piece: one line per row, with tabs between
/// elements. Floating-point numbers have the fewest digits that parse back to the same number;
/// integers have all digits.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT MatrixTsv {
 public:
  /// @param matrix Rank 2. Only next() reads its elements.
  explicit MatrixTsv(TensorView matrix);

  /// Appends to `*out` until it holds `bytes` or up to 32 more, or the text ends.
  /// @return whether there is more text.
  bool next(std::size_t bytes, std::string* out);

 private:
  template <typename T>
  void appendElements(const T* data, std::size_t bytes, std::string* out);

  TensorView matrix_;
  std::int64_t row_ = 0;
  std::int64_t column_ = 0;
};

/// Writes labels of points in the projector's format: one line per point, with tabs between cells.
/// If there are several columns, the first line holds the titles.
///
/// The projector's page skips blank lines, which would shift the labels of all later points. A row
/// without visible characters therefore gets a zero-width space.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT MetadataTsv {
 public:
  MetadataTsv(std::vector<std::string> header, std::vector<std::vector<std::string>> rows);

  /// Appends to `*out` until it holds `bytes` or up to one row more, or the text ends.
  /// @return whether there is more text.
  bool next(std::size_t bytes, std::string* out);

 private:
  std::vector<std::vector<std::string>> lines_;
  std::size_t line_ = 0;
};

}  // namespace steptape::detail::values
