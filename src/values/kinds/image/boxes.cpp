// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/image/boxes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "values/kinds/image/bitmap_font.h"
#include "values/kinds/image/boxes_canvas.h"
#include "values/kinds/image/image_resize.h"
#include "values/kinds/image/png_chunks.h"
#include "values/kinds/reject.h"
#include "values/kinds/tensor/strided.h"

namespace steptape::detail::values {
namespace {

std::size_t distinctCount(std::vector<std::string> labels) {
  std::sort(labels.begin(), labels.end());
  const auto end = std::unique(labels.begin(), labels.end());
  return static_cast<std::size_t>(end - labels.begin());
}

void checkNumbers(std::size_t boxes, const BoxOptions& options) {
  const std::size_t labels = options.labels.size();
  if (labels != 0 && labels != boxes) {
    base::reject(std::to_string(labels) + " labels",
                 "one for each of " + std::to_string(boxes) + " boxes, or none");
  }
  const std::size_t colors = options.colors.size();
  if (colors == 0 || colors == boxes) {
    return;
  }
  const std::size_t distinct = distinctCount(options.labels);
  if (distinct == 0 || colors != distinct) {
    base::reject(
        std::to_string(colors) + " colors",
        "one for each of " + std::to_string(boxes) + " boxes" +
            (distinct == 0 ? "" : " or of " + std::to_string(distinct) + " distinct labels") +
            ", or none");
  }
}

struct Size {
  int width;
  int height;
};

Size scaledSize(std::int64_t width, std::int64_t height, std::int64_t channels, double rescale) {
  if (!(rescale > 0) || !std::isfinite(rescale)) {
    base::reject("rescale = " + std::to_string(rescale), "a positive number");
  }
  // Truncates, as the Python writers do. Images never have more than 2^31 pixels per side.
  const auto scaled = [&](std::int64_t side) {
    return static_cast<std::int64_t>(
        std::min(static_cast<double>(side) * rescale, static_cast<double>(INT32_MAX)));
  };
  checkPngSize(scaled(width), scaled(height), channels);
  return {static_cast<int>(scaled(width)), static_cast<int>(scaled(height))};
}

void checkBoxesShape(const TensorView& boxes) {
  if (boxes.rank() != 2 || boxes.shape()[1] != 4) {
    base::reject("boxes of shape " + boxes.shapeString(), "(N, 4): left, top, right, bottom");
  }
}

/// Converts gray pixels to color, so that the boxes can be colored.
Pixels inColor(Pixels image) {
  if (image.channels != 1) {
    return image;
  }
  Pixels color{image.width, image.height, 3, {}, image.unshown};
  color.data.reserve(image.data.size() * 3);
  for (const std::uint8_t gray : image.data) {
    color.data.insert(color.data.end(), 3, gray);
  }
  return color;
}

/// Returns the color of every box.
std::vector<Color> colorsOf(std::size_t boxes, const BoxOptions& options) {
  constexpr Color kRed = {255, 0, 0};
  if (options.colors.empty()) {
    return std::vector<Color>(boxes, kRed);
  }
  if (options.colors.size() == boxes) {
    return options.colors;
  }
  std::vector<Color> colors;
  std::unordered_map<std::string, std::size_t> numbers;
  for (const std::string& label : options.labels) {
    colors.push_back(options.colors[numbers.emplace(label, numbers.size()).first->second]);
  }
  return colors;
}

/// Truncates to an integer. Far outside the image, clamping makes no difference.
int cut(double coordinate) {
  constexpr double kFar = 1e9;
  return static_cast<int>(std::clamp(coordinate, -kFar, kFar));
}

/// -1, 0 or 1.
int sign(int value) {
  return (value > 0) - (value < 0);
}

/// Draws an edge two pixels wide. Its second line is to the left of its direction, with y pointing
/// down. For a box drawn counterclockwise, that is inside at the left and right, and outside at the
/// top and bottom. Pillow draws even widths this way.
void drawEdge(int x0, int y0, int x1, int y1, Color color, Canvas* canvas) {
  canvas->fill(x0, y0, x1 + sign(y1 - y0), y1 + sign(x1 - x0), color);
}

void drawOutline(const BoxCorners& box, Color color, Canvas* canvas) {
  const int left = cut(box[0]);
  const int top = cut(box[1]);
  const int right = cut(box[2]);
  const int bottom = cut(box[3]);
  drawEdge(left, top, left, bottom, color, canvas);
  drawEdge(left, bottom, right, bottom, color, canvas);
  drawEdge(right, bottom, right, top, color, canvas);
  drawEdge(right, top, left, top, color, canvas);
}

void drawLabel(const std::string& label, const BoxCorners& box, Color color, Canvas* canvas) {
  namespace font = bitmap_font;
  constexpr int kMargin = 1;
  // Longer labels are wider than any image.
  constexpr std::size_t kMaxLength = 1 << 20;
  const int width = static_cast<int>(std::min(font::length(label), kMaxLength)) * font::kAdvance;
  const int left = cut(box[0]);
  const int bottom = cut(box[3]);
  canvas->fill(left, bottom - font::kHeight - 2 * kMargin, left + width, bottom, color);
  canvas->write(label, left + kMargin, bottom - font::kHeight - kMargin, inkOn(color));
}

}  // namespace

void checkBoxes(const TensorView& image, const TensorView& boxes, const BoxOptions& options) {
  checkImage(image, options.dataFormat);
  checkBoxesShape(boxes);
  checkNumbers(static_cast<std::size_t>(boxes.shape()[0]), options);
  const auto side = [&](char letter) {
    const std::size_t i = options.dataFormat.find(letter);
    return i == std::string::npos ? std::int64_t{1} : image.shape()[i];
  };
  scaledSize(side('W'), side('H'), std::max<std::int64_t>(side('C'), 3), options.rescale);
}

std::vector<BoxCorners> boxCorners(const TensorView& boxes) {
  checkBoxesShape(boxes);
  const std::vector<double> numbers = rowMajorElements<double>(boxes);
  std::vector<BoxCorners> corners(numbers.size() / 4);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) {
      constexpr const char* kNames[] = {"left", "top", "right", "bottom"};
      base::reject(std::string(kNames[i % 4]) + " of box " + std::to_string(i / 4) + " = " +
                       std::to_string(numbers[i]),
                   "a finite number");
    }
    corners[i / 4][i % 4] = numbers[i];
  }
  return corners;
}

Pixels drawBoxes(Pixels image, const std::vector<BoxCorners>& boxes, const BoxOptions& options) {
  checkNumbers(boxes.size(), options);
  const Size size = scaledSize(image.width, image.height, image.channels, options.rescale);
  Pixels drawn = inColor(std::move(image));
  Canvas canvas(&drawn);
  const std::vector<Color> colors = colorsOf(boxes.size(), options);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    drawOutline(boxes[i], colors[i], &canvas);
    if (!options.labels.empty() && !options.labels[i].empty()) {
      drawLabel(options.labels[i], boxes[i], colors[i], &canvas);
    }
  }
  return resizeLanczos(std::move(drawn), size.width, size.height);
}

}  // namespace steptape::detail::values
