// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/image/png_rows.h"

#include <algorithm>
#include <vector>

#include "base/deflater.h"

namespace steptape::detail::values {
namespace {

constexpr std::size_t kRowsPerChoice = 8;

/// Returns the share of bytes that equal the two bytes before them, in a sample of filtered rows.
double repetition(const PngRows& rows, PngRowFilter* filter) {
  constexpr std::size_t kSamples = 16;
  const std::size_t step = std::max<std::size_t>(rows.count / kSamples, 1);
  std::vector<std::uint8_t> bytes(rows.bytes + 1);
  std::size_t repeated = 0;
  std::size_t seen = 0;
  // Takes rows from the middle of each part: the margins of a plot are not representative.
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
  // Measured shares: noisy photographs below 0.01, clothes on black 0.3, plots above 0.9. Within
  // these limits, each strategy is the fastest, and its files are not larger than those of the
  // others.
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
  base::Deflater deflater(base::Deflater::Form::kZlib, strategyFor(repetition(rows, &filter)),
                          rows.count * row, out);
  // Passes many rows per call to zlib, to amortize the cost of the call.
  constexpr std::size_t kBatchBytes = std::size_t{64} * 1024;
  const std::size_t batchRows = std::min(std::max<std::size_t>(kBatchBytes / row, 1), rows.count);
  std::vector<std::uint8_t> batch(batchRows * row);
  for (std::size_t begin = 0; begin < rows.count; begin += batchRows) {
    const std::size_t end = std::min(begin + batchRows, rows.count);
    std::uint8_t* to = batch.data();
    for (std::size_t y = begin; y < end; ++y, to += row) {
      // The first row has no row above it, and is not representative of the others.
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

}  // namespace steptape::detail::values
