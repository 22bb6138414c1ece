// SPDX-License-Identifier: Apache-2.0
#include "values/charts/decimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_set>

namespace steptape::figure {
namespace {

/// Appends the points to keep of line[first, last), which is in one pixel column.
void appendColumn(const std::vector<Point>& line, std::size_t first, std::size_t last,
                  std::vector<Point>* kept) {
  std::size_t lowest = first;
  std::size_t highest = first;
  for (std::size_t i = first; i < last; ++i) {
    lowest = line[i].y < line[lowest].y ? i : lowest;
    highest = line[i].y > line[highest].y ? i : highest;
  }
  std::array<std::size_t, 4> indices{first, lowest, highest, last - 1};
  std::sort(indices.begin(), indices.end());
  const auto end = std::unique(indices.begin(), indices.end());
  for (auto index = indices.begin(); index != end; ++index) {
    kept->push_back(line[*index]);
  }
}

}  // namespace

std::vector<Point> decimatedLine(const std::vector<Point>& line) {
  std::vector<Point> kept;
  for (std::size_t first = 0; first < line.size();) {
    std::size_t last = first + 1;
    if (isFinite(line[first])) {
      const double column = std::floor(line[first].x);
      while (last < line.size() && isFinite(line[last]) && std::floor(line[last].x) == column) {
        ++last;
      }
    }
    appendColumn(line, first, last, &kept);
    first = last;
  }
  return kept;
}

std::vector<Point> distinctPoints(const std::vector<Point>& points) {
  constexpr double kPlacesPerPixel = 4;
  std::vector<Point> kept;
  std::unordered_set<std::int64_t> taken;
  for (const Point& point : points) {
    if (!isFinite(point)) {
      continue;
    }
    // Frame limits pixels to a million on either side, so both numbers fit.
    const auto x = static_cast<std::int64_t>(std::floor(point.x * kPlacesPerPixel));
    const auto y = static_cast<std::int64_t>(std::floor(point.y * kPlacesPerPixel));
    if (taken.insert(x * (std::int64_t{1} << 32) + y).second) {
      kept.push_back(point);
    }
  }
  return kept;
}

}  // namespace steptape::figure
