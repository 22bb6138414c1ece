// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/video/gif_palette.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace steptape::detail::values {
namespace {

using Color = std::array<std::uint8_t, 3>;

constexpr std::size_t kMaxColors = 256;
constexpr std::uint8_t kOpaque = 128;
/// A histogram cell combines colors that agree in these upper bits of each channel.
constexpr int kCellBits = 5;
constexpr std::size_t kCells = std::size_t{1} << (3 * kCellBits);

/// Calls `visit(pixel number, color)` for every pixel that is not transparent, until it returns
/// false.
template <typename Visit>
bool forEachColor(const std::vector<std::uint8_t>& pixels, int channels, Visit visit) {
  const auto stride = static_cast<std::size_t>(channels);
  const std::size_t green = stride == 1 ? 0 : 1;
  const std::size_t blue = stride == 1 ? 0 : 2;
  const std::size_t count = pixels.size() / stride;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* const pixel = pixels.data() + i * stride;
    const bool isVisible = stride < 4 || pixel[3] >= kOpaque;
    if (isVisible && !visit(i, Color{pixel[0], pixel[green], pixel[blue]})) {
      return false;
    }
  }
  return true;
}

std::uint32_t packed(Color color) {
  return std::uint32_t{color[0]} << 16 | std::uint32_t{color[1]} << 8 | color[2];
}

/// Fills in palette and indices, unless there are more than `maxColors` colors.
bool indexExactly(const std::vector<std::uint8_t>& pixels, int channels, std::size_t maxColors,
                  IndexedPixels* result) {
  std::unordered_map<std::uint32_t, std::uint8_t> numbers;
  std::optional<Color> last;  // neighbors often have the same color
  std::uint8_t number = 0;
  return forEachColor(pixels, channels, [&](std::size_t i, Color color) {
    if (color != last) {
      const auto next = static_cast<std::uint8_t>(numbers.size());
      const auto [entry, isNew] = numbers.emplace(packed(color), next);
      if (isNew && numbers.size() > maxColors) {
        return false;
      }
      if (isNew) {
        result->palette.push_back(color);
      }
      number = entry->second;
      last = color;
    }
    result->indices[i] = number;
    return true;
  });
}

/// Similar colors in a histogram.
struct Cell {
  std::uint64_t count = 0;
  std::array<std::uint64_t, 3> sums{};

  double mean(std::size_t channel) const {
    return static_cast<double>(sums[channel]) / static_cast<double>(count);
  }
};

std::size_t cellOf(Color color) {
  constexpr int kDropped = 8 - kCellBits;
  return static_cast<std::size_t>(color[0] >> kDropped) << (2 * kCellBits) |
         static_cast<std::size_t>(color[1] >> kDropped) << kCellBits |
         static_cast<std::size_t>(color[2] >> kDropped);
}

/// Cells that become one color: a range of the list of cells.
struct Box {
  std::size_t begin;
  std::size_t end;
  std::uint64_t count;  ///< Number of pixels.
  std::size_t channel;  ///< The channel of the longest side.
  double length;
};

Box boxOf(const std::vector<Cell>& histogram, const std::vector<std::uint16_t>& cells,
          std::size_t begin, std::size_t end) {
  Box box{begin, end, 0, 0, 0};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    double low = 255;
    double high = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double mean = histogram[cells[i]].mean(channel);
      low = std::min(low, mean);
      high = std::max(high, mean);
    }
    if (high - low > box.length) {
      box.length = high - low;
      box.channel = channel;
    }
  }
  for (std::size_t i = begin; i < end; ++i) {
    box.count += histogram[cells[i]].count;
  }
  return box;
}

/// Sorts a box along its longest side.
/// @return the position that splits its pixels into equal halves.
std::size_t sortAndFindMedian(const std::vector<Cell>& histogram, const Box& box,
                              std::vector<std::uint16_t>* cells) {
  const auto first = cells->begin() + static_cast<std::ptrdiff_t>(box.begin);
  const auto last = cells->begin() + static_cast<std::ptrdiff_t>(box.end);
  std::sort(first, last, [&](std::uint16_t a, std::uint16_t b) {
    return histogram[a].mean(box.channel) < histogram[b].mean(box.channel);
  });
  std::uint64_t below = 0;
  std::size_t middle = box.begin;
  // Each half gets at least one cell.
  while (middle + 1 < box.end - 1 && below + histogram[(*cells)[middle]].count < box.count / 2) {
    below += histogram[(*cells)[middle++]].count;
  }
  return middle + 1;
}

/// Repeatedly splits the box whose colors have the largest error.
std::vector<Box> cutBoxes(const std::vector<Cell>& histogram, std::size_t maxBoxes,
                          std::vector<std::uint16_t>* cells) {
  std::vector<Box> boxes = {boxOf(histogram, *cells, 0, cells->size())};
  const auto hurt = [](const Box& box) { return static_cast<double>(box.count) * box.length; };
  while (boxes.size() < maxBoxes) {
    const auto worst = std::max_element(
        boxes.begin(), boxes.end(), [&](const Box& a, const Box& b) { return hurt(a) < hurt(b); });
    if (worst->end - worst->begin < 2) {
      break;
    }
    const Box box = *worst;
    const std::size_t middle = sortAndFindMedian(histogram, box, cells);
    *worst = boxOf(histogram, *cells, box.begin, middle);
    boxes.push_back(boxOf(histogram, *cells, middle, box.end));
  }
  return boxes;
}

Color meanOf(const std::vector<Cell>& histogram, const std::vector<std::uint16_t>& cells,
             const Box& box) {
  Color mean{};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    std::uint64_t sum = 0;
    for (std::size_t i = box.begin; i < box.end; ++i) {
      sum += histogram[cells[i]].sums[channel];
    }
    mean[channel] = static_cast<std::uint8_t>((sum + box.count / 2) / box.count);
  }
  return mean;
}

void indexByMedianCut(const std::vector<std::uint8_t>& pixels, int channels, std::size_t maxColors,
                      IndexedPixels* result) {
  std::vector<Cell> histogram(kCells);
  forEachColor(pixels, channels, [&](std::size_t, Color color) {
    Cell& cell = histogram[cellOf(color)];
    ++cell.count;
    for (std::size_t channel = 0; channel < 3; ++channel) {
      cell.sums[channel] += color[channel];
    }
    return true;
  });
  std::vector<std::uint16_t> cells;
  for (std::size_t i = 0; i < kCells; ++i) {
    if (histogram[i].count > 0) {
      cells.push_back(static_cast<std::uint16_t>(i));
    }
  }
  const std::vector<Box> boxes = cutBoxes(histogram, maxColors, &cells);
  std::vector<std::uint8_t> numbers(kCells);
  result->palette.clear();
  for (const Box& box : boxes) {
    const auto number = static_cast<std::uint8_t>(result->palette.size());
    result->palette.push_back(meanOf(histogram, cells, box));
    for (std::size_t i = box.begin; i < box.end; ++i) {
      numbers[cells[i]] = number;
    }
  }
  forEachColor(pixels, channels, [&](std::size_t i, Color color) {
    result->indices[i] = numbers[cellOf(color)];
    return true;
  });
}

/// Gives transparent pixels a separate color, after the others.
void indexTransparent(const std::vector<std::uint8_t>& pixels, IndexedPixels* result) {
  result->transparent = static_cast<int>(result->palette.size());
  result->palette.push_back({0, 0, 0});
  for (std::size_t i = 0; i < result->indices.size(); ++i) {
    if (pixels[i * 4 + 3] < kOpaque) {
      result->indices[i] = static_cast<std::uint8_t>(result->transparent);
    }
  }
}

}  // namespace

IndexedPixels quantize(const std::vector<std::uint8_t>& pixels, int channels) {
  IndexedPixels result;
  result.indices.resize(pixels.size() / static_cast<std::size_t>(channels));
  const std::size_t maxColors = channels == 4 ? kMaxColors - 1 : kMaxColors;
  if (!indexExactly(pixels, channels, maxColors, &result)) {
    indexByMedianCut(pixels, channels, maxColors, &result);
  }
  if (channels == 4) {
    indexTransparent(pixels, &result);
  }
  return result;
}

}  // namespace steptape::detail::values
