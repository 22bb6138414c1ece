// SPDX-License-Identifier: Apache-2.0
#include "train/samples/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/vector_clones.h"

namespace steptape::detail::train {
namespace {

// As Pillow: weights have 22 bits after the point, which leaves the sum of 256 of them 32 bits.
constexpr int kPrecision = 32 - 8 - 2;
constexpr std::int32_t kOne = 1 << kPrecision;
constexpr std::int32_t kHalf = kOne / 2;

/// How the pixels of a result along one axis come from those of a source.
struct Axis {
  std::vector<std::int32_t> first;  ///< Of the source's pixels that a result's pixel sums.
  std::vector<std::int32_t> count;  ///< Of them; 0: black.
  std::vector<std::int32_t> weights;
  std::size_t taps = 0;  ///< Weights per pixel, the unused ones included.

  const std::int32_t* weightsOf(std::size_t i) const { return &weights[i * taps]; }

  /// Whether the result's pixels are some of the source's, in their order.
  bool copies() const {
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (count[i] != 1 || first[i] != first[0] + static_cast<std::int32_t>(i)) {
        return false;
      }
    }
    return true;
  }
};

/// As Pillow rounds what is not negative.
std::int64_t nearest(double value) {
  constexpr double kHalfUp = 0.5;
  return static_cast<std::int64_t>(value + kHalfUp);
}

/// Adds the weights of a triangle of half width `support` around `center`.
void addTriangle(Axis& axis, double center, double support, std::int64_t sourceSize,
                 std::vector<double>& weights) {
  auto begin = std::max<std::int64_t>(0, nearest(center - support));
  const auto end = std::min(sourceSize, nearest(center + support));
  const double slope = 1 / support;
  double sum = 0;
  weights.clear();
  for (std::int64_t i = begin; i < end; ++i) {
    const double weight =
        std::max(0.0, 1 - std::abs((static_cast<double>(i) - center + 0.5) * slope));
    if (weight > 0) {
      weights.push_back(weight);
    } else if (weights.empty()) {
      ++begin;
    }
    sum += weight;
  }
  axis.first.push_back(static_cast<std::int32_t>(begin));
  axis.count.push_back(static_cast<std::int32_t>(weights.size()));
  for (const double weight : weights) {
    axis.weights.push_back(static_cast<std::int32_t>(nearest(weight / sum * kOne)));
  }
}

/// @param from,to  The part of the source that is resized to `resized` pixels.
/// @param start,size Which of these the result has; those outside are black.
Axis makeAxis(std::int64_t sourceSize, double from, double to, std::int64_t resized,
              std::int64_t start, std::int64_t size, bool mirrored) {
  const double scale = (to - from) / static_cast<double>(resized);
  const double support = std::max(1.0, scale);
  std::vector<double> weights;
  Axis axis;
  axis.taps = 2 * static_cast<std::size_t>(std::ceil(support)) + 1;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t x = start + (mirrored ? size - 1 - i : i);
    if (x < 0 || x >= resized) {
      axis.first.push_back(0);
      axis.count.push_back(0);
    } else {
      addTriangle(axis, from + (static_cast<double>(x) + 0.5) * scale, support, sourceSize,
                  weights);
    }
    axis.weights.resize(axis.taps * static_cast<std::size_t>(i + 1));
  }
  return axis;
}

using Ints = std::int32_t __attribute__((vector_size(16)));
using Bytes = std::uint8_t __attribute__((vector_size(4)));

/// Three bytes or four as integers. Four load in one instruction.
template <std::size_t kBytes>
inline Ints load(const std::uint8_t* pixel) {
  Bytes bytes{};
  std::memcpy(&bytes, pixel, kBytes);
  return __builtin_convertvector(bytes, Ints);
}

STEPTAPE_VECTOR_CLONES void resizeRgbRow(const std::uint8_t* row, const std::int32_t* first,
                                         const std::int32_t* count, const std::int32_t* weights,
                                         std::size_t taps, std::size_t width,
                                         std::uint8_t* __restrict result) {
  for (std::size_t x = 0; x < width; ++x, weights += taps, result += 3) {
    const std::uint8_t* pixel = row + 3 * std::ptrdiff_t{first[x]};
    const std::int32_t last = count[x] - 1;
    Ints sum{kHalf, kHalf, kHalf, kHalf};
    for (std::int32_t i = 0; i < last; ++i, pixel += 3) {
      sum += load<4>(pixel) * weights[i];
    }
    if (last >= 0) {
      sum += load<3>(pixel) * weights[last];  // Nothing may follow the last pixel of a row.
    }
    for (int channel = 0; channel < 3; ++channel) {
      result[channel] = static_cast<std::uint8_t>(sum[channel] >> kPrecision);
    }
  }
}

void resizeGrayRow(const std::uint8_t* row, const Axis& axis, std::uint8_t* result) {
  for (std::size_t x = 0; x < axis.first.size(); ++x) {
    const std::int32_t* weights = axis.weightsOf(x);
    std::int32_t sum = kHalf;
    for (std::int32_t i = 0; i < axis.count[x]; ++i) {
      sum += row[axis.first[x] + i] * weights[i];
    }
    result[x] = static_cast<std::uint8_t>(sum >> kPrecision);
  }
}

template <std::size_t kBlock>
inline void sumBlock(const std::uint8_t* const* rows, const std::int32_t* weights,
                     std::size_t count, std::size_t start, std::uint8_t* result) {
  std::int32_t sums[kBlock];
  std::fill(sums, sums + kBlock, kHalf);
  for (std::size_t row = 0; row < count; ++row) {
    const std::uint8_t* bytes = rows[row] + start;
    for (std::size_t i = 0; i < kBlock; ++i) {
      sums[i] += bytes[i] * weights[row];
    }
  }
  for (std::size_t i = 0; i < kBlock; ++i) {
    result[start + i] = static_cast<std::uint8_t>(sums[i] >> kPrecision);
  }
}

STEPTAPE_VECTOR_CLONES void sumRows(const std::uint8_t* const* rows, const std::int32_t* weights,
                                    std::size_t count, std::size_t bytes, std::uint8_t* result) {
  constexpr std::size_t kBlock = 32;
  std::size_t start = 0;
  for (; start + kBlock <= bytes; start += kBlock) {
    sumBlock<kBlock>(rows, weights, count, start, result);
  }
  for (; start < bytes; ++start) {
    sumBlock<1>(rows, weights, count, start, result);
  }
}

/// The rows of a source, resized along x when they are first used. Keeps the last few.
class ResizedRows {
 public:
  ResizedRows(const PixelView& source, const Axis& axis, std::size_t kept)
      : source_(source),
        axis_(axis),
        copies_(axis.copies()),
        kept_(kept),
        rowBytes_(axis.first.size() * static_cast<std::size_t>(source.channels)),
        rows_(copies_ ? 0 : kept * rowBytes_) {}

  std::size_t rowBytes() const { return rowBytes_; }

  /// `y` never decreases by `kept` or more.
  const std::uint8_t* row(std::int64_t y) {
    if (copies_) {
      return source_.row(y) + std::int64_t{axis_.first[0]} * source_.channels;
    }
    for (; made_ <= y; ++made_) {
      if (made_ + static_cast<std::int64_t>(kept_) > y) {
        resize(source_.row(made_), place(made_));
      }
    }
    return place(y);
  }

 private:
  std::uint8_t* place(std::int64_t y) {
    return &rows_[static_cast<std::size_t>(y) % kept_ * rowBytes_];
  }

  void resize(const std::uint8_t* row, std::uint8_t* result) const {
    if (source_.channels == 3) {
      resizeRgbRow(row, axis_.first.data(), axis_.count.data(), axis_.weights.data(), axis_.taps,
                   axis_.first.size(), result);
    } else {
      resizeGrayRow(row, axis_, result);
    }
  }

  const PixelView& source_;
  const Axis& axis_;
  bool copies_;
  std::size_t kept_;
  std::size_t rowBytes_;
  std::vector<std::uint8_t> rows_;
  std::int64_t made_ = 0;
};

Image bytesOf(const PixelView& source, const Box& box, const ImageStep& step) {
  Image image{step.window.width, step.window.height, source.channels, {}};
  const auto rowBytes = static_cast<std::size_t>(image.width * image.channels);
  image.pixels.resize(rowBytes * static_cast<std::size_t>(image.height));
  resample(source, box, step, [&](std::int64_t y, const std::uint8_t* row) {
    std::memcpy(&image.pixels[static_cast<std::size_t>(y) * rowBytes], row, rowBytes);
  });
  return image;
}

PixelView viewOf(const Image& image) {
  return {image.pixels.data(),
          {image.width, image.height},
          image.channels,
          image.width * image.channels};
}

}  // namespace

Box boxOf(Size size) {
  return {0, 0, static_cast<double>(size.width), static_cast<double>(size.height)};
}

void resample(const PixelView& source, const Box& box, const ImageStep& step, const RowSink& sink) {
  const Axis columns = makeAxis(source.size.width, box.left, box.right, step.resized.width,
                                step.window.x, step.window.width, step.flip);
  const Axis lines = makeAxis(source.size.height, box.top, box.bottom, step.resized.height,
                              step.window.y, step.window.height, false);
  ResizedRows rows(source, columns, lines.taps);
  std::vector<std::uint8_t> result(rows.rowBytes());
  std::vector<const std::uint8_t*> summed(lines.taps);
  for (std::size_t y = 0; y < lines.first.size(); ++y) {
    const auto count = static_cast<std::size_t>(lines.count[y]);
    for (std::size_t i = 0; i < count; ++i) {
      summed[i] = rows.row(lines.first[y] + static_cast<std::int64_t>(i));
    }
    if (count != 1) {
      sumRows(summed.data(), lines.weightsOf(y), count, result.size(), result.data());
    }
    sink(static_cast<std::int64_t>(y), count == 1 ? summed[0] : result.data());
  }
}

void runPlan(const PixelView& crop, const Box& box, const ImagePlan& plan, const ByteScale& scale,
             float* result) {
  const ImageStep& last = plan.back();
  if (plan.size() > 1) {
    const Image image = runPlan(crop, box, {plan.begin(), plan.end() - 1});
    const PixelView part = viewOf(image).part(last.crop);
    return runPlan(part, boxOf(part.size), {last}, scale, result);
  }
  const auto width = static_cast<std::size_t>(last.window.width);
  const std::size_t plane = width * static_cast<std::size_t>(last.window.height);
  resample(crop, box, last, [&](std::int64_t y, const std::uint8_t* row) {
    float* to = result + static_cast<std::size_t>(y) * width;
    if (crop.channels == 3) {
      scaleRgb(row, width, scale, to, plane);
    } else {
      scaleBytes(row, width, scale.scale[0], scale.offset[0], to);
    }
  });
}

Image runPlan(const PixelView& crop, const Box& box, const ImagePlan& plan) {
  Image image = bytesOf(crop, box, plan[0]);
  for (std::size_t i = 1; i < plan.size(); ++i) {
    const PixelView part = viewOf(image).part(plan[i].crop);
    image = bytesOf(part, boxOf(part.size), plan[i]);
  }
  return image;
}

}  // namespace steptape::detail::train
