// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/embedding/embedding_tsv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/shortest_double.h"
#include "base/utf8.h"
#include "values/kinds/tensor/visit_elements.h"

namespace steptape::detail::values {
namespace {

void appendInteger(std::string* out, std::int64_t value) {
  char digits[24];
  out->append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void appendInteger(std::string* out, std::uint64_t value) {
  char digits[24];
  out->append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void appendDigits(std::string* out, float value) {
  base::appendShortestFloat(out, value);
}

void appendDigits(std::string* out, double value) {
  base::appendShortestDouble(out, value);
}

/// Appends a number as Python's float() reads it.
template <typename Float>
void appendNumber(std::string* out, Float value) {
  if (std::isfinite(value)) {
    appendDigits(out, value);
  } else if (std::isnan(value)) {
    out->append("nan");
  } else {
    out->append(value > 0 ? "inf" : "-inf");
  }
}

template <typename T>
void appendElement(std::string* out, T element) {
  if constexpr (std::is_same_v<T, base::Bool8>) {
    out->push_back(element.byte != 0 ? '1' : '0');
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    appendInteger(out, std::int64_t{element});
  } else if constexpr (std::is_integral_v<T>) {
    appendInteger(out, std::uint64_t{element});
  } else if constexpr (std::is_same_v<T, double>) {
    appendNumber(out, element);
  } else {
    appendNumber(out, base::widen<float>(element));
  }
}

/// Returns the cell with line breaks and tabs replaced.
std::string oneLine(const std::string& cell) {
  std::string line = base::replaceInvalidUtf8(cell);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return line;
}

bool isBlank(const std::vector<std::string>& cells) {
  return std::all_of(cells.begin(), cells.end(), [](const std::string& cell) {
    return cell.find_first_not_of(" \t\n\v\f\r") == std::string::npos;
  });
}

}  // namespace

MatrixTsv::MatrixTsv(TensorView matrix) : matrix_(std::move(matrix)) {}

bool MatrixTsv::next(std::size_t bytes, std::string* out) {
  visitElements(matrix_, [&](const auto* data) { appendElements(data, bytes, out); });
  return row_ < matrix_.shape()[0];
}

template <typename T>
void MatrixTsv::appendElements(const T* data, std::size_t bytes, std::string* out) {
  const std::int64_t rows = matrix_.shape()[0];
  const std::int64_t columns = matrix_.shape()[1];
  const std::int64_t rowStride = matrix_.strides()[0];
  const std::int64_t columnStride = matrix_.strides()[1];
  while (row_ < rows && out->size() < bytes) {
    appendElement(out, data[row_ * rowStride + column_ * columnStride]);
    ++column_;
    out->push_back(column_ < columns ? '\t' : '\n');
    if (column_ == columns) {
      column_ = 0;
      ++row_;
    }
  }
}

MetadataTsv::MetadataTsv(std::vector<std::string> header,
                         std::vector<std::vector<std::string>> rows)
    : lines_(std::move(rows)) {
  if (header.size() > 1) {
    lines_.insert(lines_.begin(), std::move(header));
  }
}

bool MetadataTsv::next(std::size_t bytes, std::string* out) {
  for (; line_ < lines_.size() && out->size() < bytes; ++line_) {
    const std::vector<std::string>& cells = lines_[line_];
    if (isBlank(cells)) {
      out->append("\u200B");
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) {
        out->push_back('\t');
      }
      out->append(oneLine(cells[i]));
    }
    out->push_back('\n');
  }
  return line_ < lines_.size();
}

}  // namespace steptape::detail::values
