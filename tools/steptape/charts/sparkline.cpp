// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace steptape::tools {
namespace {

constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 7> kAscii{".", ":", "-", "=", "+", "*", "#"};

// Sums and differences of the largest doubles must not overflow.
using Wide = long double;

struct Extremes {
  Wide least;
  Wide largest;
};

using ValueIterator = std::vector<double>::const_iterator;

/// Returns the range of the finite values; none if no value is finite.
std::optional<Extremes> extremesOf(ValueIterator begin, ValueIterator end) {
  std::optional<Extremes> extremes;
  for (; begin != end; ++begin) {
    if (!std::isfinite(*begin)) {
      continue;
    }
    const Wide value = *begin;
    extremes = extremes
                   ? Extremes{std::min(extremes->least, value), std::max(extremes->largest, value)}
                   : Extremes{value, value};
  }
  return extremes;
}

/// Returns the mean of the finite values. REQUIRES: one value is finite.
Wide wideMean(ValueIterator begin, ValueIterator end) {
  Wide sum = 0;
  Wide count = 0;
  for (; begin != end; ++begin) {
    if (std::isfinite(*begin)) {
      sum += *begin;
      ++count;
    }
  }
  return sum / count;
}

/// Returns the value to show for a column; none if no value is finite.
std::optional<Wide> shownOf(ValueIterator begin, ValueIterator end, const Extremes& all) {
  const std::optional<Extremes> extremes = extremesOf(begin, end);
  if (!extremes) {
    return std::nullopt;
  }
  if (extremes->largest == all.largest) {
    return all.largest;
  }
  return extremes->least == all.least ? all.least : wideMean(begin, end);
}

template <std::size_t kSize>
std::string draw(const std::vector<double>& values, std::size_t columns,
                 const std::array<const char*, kSize>& heights) {
  const std::optional<Extremes> all = extremesOf(values.begin(), values.end());
  if (!all) {
    return std::string(columns, ' ');
  }
  const Wide span = all->largest - all->least;
  std::string line;
  for (std::size_t column = 0; column < columns; ++column) {
    const auto edge = [&](std::size_t at) {
      return values.begin() + static_cast<std::ptrdiff_t>(at * values.size() / columns);
    };
    const std::optional<Wide> shown = shownOf(edge(column), edge(column + 1), *all);
    if (!shown) {
      line += ' ';
      continue;
    }
    const Wide fraction = span > 0 ? (*shown - all->least) / span : Wide{0.4999};
    const auto height = static_cast<std::size_t>(fraction * Wide{kSize});
    line += heights[std::min(height, kSize - 1)];
  }
  return line;
}

}  // namespace

std::string sparkline(const std::vector<double>& values, std::size_t columns, bool utf8) {
  columns = std::min(columns, values.size());
  return utf8 ? draw(values, columns, kBlocks) : draw(values, columns, kAscii);
}

}  // namespace steptape::tools
