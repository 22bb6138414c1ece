// SPDX-License-Identifier: Apache-2.0
#include "summary/image/png_rows.h"

#include <algorithm>
#include <vector>

#include "summary/image/png_deflater.h"

namespace steptape::detail {
namespace {

constexpr std::size_t kRowsPerChoice = 8;

/// The share of bytes that equal the two before them, in a few filtered rows.
double repetition(const PngRows& rows, PngRowFilter* filter) {
  constexpr std::size_t kSamples = 16;
  const std::size_t step = std::max<std::size_t>(rows.count / kSamples, 1);
  std::vector<std::uint8_t> bytes(rows.bytes + 1);
  std::size_t repeated = 0;
  std::size_t seen = 0;
  // From the middle of each part: the margins of a plot say little about it.
  for (std::size_t y = step / 2; y < rows.count; y += step) {
    filter->choose(y, bytes.data());
    for (std::size_t i = 3; i <= rows.bytes; ++i) {
      repeated += bytes[i] == bytes[i - 1] && bytes[i] == bytes[i - 2] ? 1 : 0;
    }
    seen += rows.bytes;
  }
  return static_cast<double>(repeated) / static_cast<double>(seen);
}

int strategyFor(double repetition) {
  // Where the pictures tried have these shares: noise of photographs below 0.01, clothes on black
  // 0.3, plots above 0.9. Each strategy is the fastest there, and not larger than the others.
  constexpr double kPhotograph = 0.03;
  constexpr double kPlot = 0.7;
  return repetition < kPhotograph ? Z_HUFFMAN_ONLY
         : repetition < kPlot     ? Z_RLE
                                  : Z_DEFAULT_STRATEGY;
}

}  // namespace

void compressPngRows(const PngRows& rows, std::string* out) {
  const std::size_t row = rows.bytes + 1;
  PngRowFilter filter(rows);
  PngDeflater deflater(strategyFor(repetition(rows, &filter)), rows.count * row, out);
  // Rows are handed to zlib many at a time, as each call costs.
  constexpr std::size_t kBatchBytes = std::size_t{64} * 1024;
  const std::size_t batchRows = std::min(std::max<std::size_t>(kBatchBytes / row, 1), rows.count);
  std::vector<std::uint8_t> batch(batchRows * row);
  for (std::size_t begin = 0; begin < rows.count; begin += batchRows) {
    const std::size_t end = std::min(begin + batchRows, rows.count);
    std::uint8_t* to = batch.data();
    for (std::size_t y = begin; y < end; ++y, to += row) {
      // The first row has none above it, and says little about the others.
      if (y % kRowsPerChoice == 0 || y == 1) {
        filter.choose(y, to);
      } else {
        filter.filter(y, to);
      }
    }
    deflater.add(batch.data(), (end - begin) * row);
  }
  deflater.finish();
}

}  // namespace steptape::detail
