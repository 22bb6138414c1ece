// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/image/image_resize.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace steptape::detail::values {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kLobes = 3;
/// Weights are fixed-point numbers, so sums are exact and equal on every processor.
constexpr int kWeightBits = 22;

double sinc(double x) {
  return x == 0 ? 1 : std::sin(kPi * x) / (kPi * x);
}

double lanczos(double x) {
  return std::abs(x) < kLobes ? sinc(x) * sinc(x / kLobes) : 0;
}

/// The pixels from which one pixel of the result is computed.
struct Taps {
  int first;
  std::vector<std::int32_t> weights;
};

std::vector<Taps> tapsFor(int from, int to) {
  const double scale = static_cast<double>(from) / to;
  const double widening = std::max(scale, 1.0);
  const double support = kLobes * widening;
  std::vector<Taps> taps;
  taps.reserve(static_cast<std::size_t>(to));
  for (int i = 0; i < to; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(static_cast<int>(std::floor(center - support + 0.5)), 0);
    const int end = std::min(static_cast<int>(std::floor(center + support + 0.5)), from);
    std::vector<double> weights;
    double sum = 0;
    for (int pixel = first; pixel < end; ++pixel) {
      weights.push_back(lanczos((pixel - center + 0.5) / widening));
      sum += weights.back();
    }
    Taps rounded{first, {}};
    for (const double weight : weights) {
      const double fixedPoint = std::round(weight / sum * (1 << kWeightBits));
      rounded.weights.push_back(static_cast<std::int32_t>(fixedPoint));
    }
    taps.push_back(std::move(rounded));
  }
  return taps;
}

std::uint8_t toByte(std::int64_t weighted) {
  constexpr std::int64_t kHalf = std::int64_t{1} << (kWeightBits - 1);
  // Clamped first: the right shift of a negative number is implementation-defined.
  const std::int64_t rounded = std::max<std::int64_t>(weighted + kHalf, 0) >> kWeightBits;
  return static_cast<std::uint8_t>(std::min<std::int64_t>(rounded, 255));
}

/// The rows or the columns of an image.
struct Direction {
  std::size_t lines;
  std::size_t lineStride;   ///< Bytes from a line to the next.
  std::size_t pixelStride;  ///< Bytes from a pixel of a line to the next.
};

void filterLines(const Pixels& image, const Direction& from, const std::vector<Taps>& taps,
                 const Direction& to, Pixels* result) {
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t line = 0; line < from.lines; ++line) {
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const Taps& tap = taps[i];
      const std::size_t start = line * from.lineStride + tap.first * from.pixelStride;
      for (std::size_t c = 0; c < channels; ++c) {
        const std::uint8_t* pixel = image.data.data() + start + c;
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < tap.weights.size(); ++k) {
          sum += std::int64_t{tap.weights[k]} * pixel[k * from.pixelStride];
        }
        result->data[line * to.lineStride + i * to.pixelStride + c] = toByte(sum);
      }
    }
  }
}

Pixels blankLike(const Pixels& image, int width, int height) {
  Pixels blank{width, height, image.channels, {}, image.unshown};
  blank.data.resize(static_cast<std::size_t>(width) * height * image.channels);
  return blank;
}

std::size_t rowStride(const Pixels& image) {
  return static_cast<std::size_t>(image.width) * image.channels;
}

Pixels resizeRows(Pixels image, int width) {
  if (width == image.width) {
    return image;
  }
  Pixels result = blankLike(image, width, image.height);
  const auto lines = static_cast<std::size_t>(image.height);
  const auto pixel = static_cast<std::size_t>(image.channels);
  filterLines(image, {lines, rowStride(image), pixel}, tapsFor(image.width, width),
              {lines, rowStride(result), pixel}, &result);
  return result;
}

Pixels resizeColumns(Pixels image, int height) {
  if (height == image.height) {
    return image;
  }
  Pixels result = blankLike(image, image.width, height);
  const auto lines = static_cast<std::size_t>(image.width);
  const auto pixel = static_cast<std::size_t>(image.channels);
  filterLines(image, {lines, pixel, rowStride(image)}, tapsFor(image.height, height),
              {lines, pixel, rowStride(result)}, &result);
  return result;
}

/// Replaces every color of an image with alpha by `change(color, alpha)`.
template <typename Change>
void changeColors(Pixels* image, Change change) {
  for (std::size_t i = 0; i < image->data.size(); i += 4) {
    for (std::size_t c = 0; c < 3; ++c) {
      image->data[i + c] =
          static_cast<std::uint8_t>(change(image->data[i + c], image->data[i + 3]));
    }
  }
}

}  // namespace

Pixels resizeLanczos(Pixels image, int width, int height) {
  const bool hasAlpha = image.channels == 4;
  if (width == image.width && height == image.height) {
    return image;
  }
  if (hasAlpha) {
    changeColors(&image, [](int color, int alpha) { return (color * alpha + 127) / 255; });
  }
  image = resizeColumns(resizeRows(std::move(image), width), height);
  if (hasAlpha) {
    changeColors(&image, [](int color, int alpha) {
      return alpha == 0 ? color : std::min(255 * color / alpha, 255);
    });
  }
  return image;
}

}  // namespace steptape::detail::values
