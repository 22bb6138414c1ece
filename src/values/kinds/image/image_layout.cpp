// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/image/image_layout.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "values/kinds/image/color_math.h"
#include "values/kinds/reject.h"
#include "values/kinds/tensor/visit_elements.h"

namespace steptape::detail::values {
namespace {

/// Returns whether `format` has every required letter, only required and optional letters, and no
/// letter twice.
bool isFormat(std::string_view format, const ImageFormat& rules) {
  const auto count = [&](char letter) { return std::count(format.begin(), format.end(), letter); };
  const auto isOnce = [&](char letter) { return count(letter) == 1; };
  std::size_t known = 0;
  for (const std::string_view letters : {rules.required, rules.optional}) {
    known += static_cast<std::size_t>(std::count_if(letters.begin(), letters.end(), isOnce));
  }
  return known == format.size() &&
         std::all_of(rules.required.begin(), rules.required.end(), isOnce);
}

Dimension dimensionOf(const TensorView& view, std::string_view format, char letter) {
  const std::size_t i = format.find(letter);
  return i == std::string_view::npos ? Dimension{1, 0}
                                     : Dimension{view.shape()[i], view.strides()[i]};
}

template <typename T>
constexpr bool kIsFloat = std::is_same_v<T, base::Float16> || std::is_same_v<T, base::BFloat16> ||
                          std::is_floating_point_v<T>;

template <typename T>
float colorOf(T element) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<float>(element);
  } else {
    return base::toFloat(element);
  }
}

std::uint8_t toByte(std::uint8_t value) {
  return value;
}
std::uint8_t toByte(base::Bool8 value) {
  return value.byte != 0 ? 255 : 0;
}

template <typename T>
constexpr bool kIsPixel =
    std::is_same_v<T, std::uint8_t> || std::is_same_v<T, base::Bool8> || kIsFloat<T>;

template <typename T>
UnshownElements unshownElements(const T* first, Dimension from) {
  UnshownElements unshown;
  for (std::int64_t i = 0; i < from.size; ++i) {
    unshown.take(colorOf(first[i * from.stride]));
  }
  return unshown;
}

/// Converts elements with stride `from.stride` to bytes with stride `toStride`.
template <typename T>
UnshownElements convertRun(const T* first, Dimension from, std::uint8_t* to,
                           std::int64_t toStride) {
  if constexpr (kIsFloat<T>) {
    std::uint64_t unusual = 0;
    for (std::int64_t i = 0; i < from.size; ++i) {
      const float color = colorOf(first[i * from.stride]);
      unusual += isUsualColor(color) ? 0 : 1;
      to[i * toStride] = colorByte(color);
    }
    // Looks at a row again, while it is in the cache, only if it has such elements.
    return unusual == 0 ? UnshownElements() : unshownElements(first, from);
  } else {
    for (std::int64_t i = 0; i < from.size; ++i) {
      to[i * toStride] = toByte(first[i * from.stride]);
    }
    return {};
  }
}

template <typename T>
UnshownElements convertRow(const T* from, const ImageLayout& layout, std::uint8_t* to) {
  const Dimension& columns = layout.columns;
  const Dimension& channels = layout.channels;
  const bool isInterleaved =
      columns.stride == channels.size && (channels.stride == 1 || channels.size == 1);
  if (isInterleaved) {
    // Constant strides of 1 allow the compiler to vectorize.
    return convertRun(from, {columns.size * channels.size, 1}, to, 1);
  }
  UnshownElements unshown;
  for (std::int64_t c = 0; c < channels.size; ++c) {
    unshown.add(convertRun(from + c * channels.stride, columns, to + c, channels.size));
  }
  return unshown;
}

}  // namespace

ImageLayout imageLayout(const TensorView& view, std::string_view format, const ImageFormat& rules) {
  if (!isFormat(format, rules)) {
    base::reject("dataFormat = " + base::quoted(format),
                 std::string(rules.expected) + " in any order");
  }
  if (view.rank() != format.size()) {
    base::reject(
        "shape " + view.shapeString(),
        std::to_string(format.size()) + " dimensions for dataFormat " + base::quoted(format));
  }
  if (view.numel() == 0) {
    base::reject("shape " + view.shapeString(), "at least one pixel");
  }
  ImageLayout layout;
  layout.images = dimensionOf(view, format, 'N');
  layout.frames = dimensionOf(view, format, 'T');
  layout.rows = dimensionOf(view, format, 'H');
  layout.columns = dimensionOf(view, format, 'W');
  layout.channels = dimensionOf(view, format, 'C');
  const std::int64_t channels = layout.channels.size;
  if (channels != 1 && channels != 3 && channels != 4) {
    base::reject(std::to_string(channels) + " channels in shape " + view.shapeString() +
                     " with dataFormat " + base::quoted(format),
                 "1, 3 or 4");
  }
  visitElements(view, [&](const auto* data) {
    if constexpr (!kIsPixel<std::remove_const_t<std::remove_pointer_t<decltype(data)>>>) {
      // Other integer types have no common scale: a wrong guess shows a white or a black image.

      base::reject("element type " + std::string(dtypeName(view.dtype())),
                   "uint8 (0 to 255), a floating-point type (0 to 1) or bool");
    }
  });
  return layout;
}

UnshownElements copyTiles(const TensorView& view, const ImageLayout& layout, std::int64_t frame,
                          const TileGrid& grid, std::uint8_t* to) {
  const std::int64_t tileBytes = layout.columns.size * layout.channels.size;
  const std::int64_t rowBytes = tileBytes * grid.columns;
  UnshownElements unshown;
  visitElements(view, [&](const auto* data) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(data)>>;
    if constexpr (kIsPixel<T>) {
      for (std::int64_t i = 0; i < layout.images.size; ++i) {
        const T* from = data + i * layout.images.stride + frame * layout.frames.stride;
        std::uint8_t* row =
            to + (i / grid.columns) * layout.rows.size * rowBytes + (i % grid.columns) * tileBytes;
        for (std::int64_t y = 0; y < layout.rows.size; ++y, row += rowBytes) {
          unshown.add(convertRow(from + y * layout.rows.stride, layout, row));
        }
      }
    }
  });
  return unshown;
}

}  // namespace steptape::detail::values
