// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/summary/tensor_view.h"

namespace steptape::detail {

/// A matrix as the projector reads it, made piece by piece: a line per row, tabs between the
/// elements. Floating-point numbers have the fewest digits that give them back, integers all.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT MatrixTsv {
 public:
  /// @param matrix Rank 2; its elements are read by next() only.
  explicit MatrixTsv(TensorView matrix);

  /// Appends to `*out` until it holds `bytes` or up to 32 more, or the text ends.
  /// @return whether there is more.
  bool next(std::size_t bytes, std::string* out);

 private:
  template <typename T>
  void appendElements(const T* data, std::size_t bytes, std::string* out);

  TensorView matrix_;
  std::int64_t row_ = 0;
  std::int64_t column_ = 0;
};

/// Labels of points as the projector reads them: a line per point, tabs between the cells; the
/// titles first if there are several columns.
///
/// The projector's page leaves out lines that are blank, which would give every later point the
/// label of its neighbor: a row without anything to see gets a zero-width space.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT MetadataTsv {
 public:
  MetadataTsv(std::vector<std::string> header, std::vector<std::vector<std::string>> rows);

  /// Appends to `*out` until it holds `bytes` or up to a row more, or the text ends.
  /// @return whether there is more.
  bool next(std::size_t bytes, std::string* out);

 private:
  std::vector<std::vector<std::string>> lines_;
  std::size_t line_ = 0;
};

}  // namespace steptape::detail
