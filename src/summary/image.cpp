// SPDX-License-Identifier: Apache-2.0
#include "steptape/summary/image.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "steptape/base/error.h"
#include "steptape/event/plugin_data.h"

#include "summary/element.h"
#include "summary/strided.h"

namespace steptape {
namespace {

using detail::Dimension;

/// A batch of images whatever the order of its dimensions.
struct Layout {
  Dimension images{1, 0};
  Dimension rows{1, 0};
  Dimension columns{1, 0};
  Dimension channels{1, 0};
};

[[noreturn]] void reject(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "image: " + what);
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

/// Whether `format` is made of the letters H, W, perhaps C, and N exactly where `hasN`.
bool isFormat(std::string_view format, bool hasN) {
  std::string letters(format);
  std::sort(letters.begin(), letters.end());
  return hasN ? letters == "CHNW" || letters == "HNW" : letters == "CHW" || letters == "HW";
}

Dimension dimensionOf(const TensorView& view, std::string_view format, char letter) {
  const std::size_t i = format.find(letter);
  return i == std::string_view::npos ? Dimension{1, 0}
                                     : Dimension{view.shape()[i], view.strides()[i]};
}

Layout layoutOf(const TensorView& view, std::string_view format, bool hasN) {
  if (!isFormat(format, hasN)) {
    reject("dataFormat is " + quoted(format) + ", wanted " +
           (hasN ? "the letters of \"NCHW\" or \"NHW\"" : "the letters of \"CHW\" or \"HW\"") +
           " in any order");
  }
  if (view.rank() != format.size()) {
    reject("shape " + view.shapeString() + " has " + std::to_string(view.rank()) +
           " dimensions, wanted " + std::to_string(format.size()) + " for dataFormat " +
           quoted(format));
  }
  if (view.numel() == 0) {
    reject("shape " + view.shapeString() + " has no pixels");
  }
  Layout layout;
  layout.images = dimensionOf(view, format, 'N');
  layout.rows = dimensionOf(view, format, 'H');
  layout.columns = dimensionOf(view, format, 'W');
  layout.channels = dimensionOf(view, format, 'C');
  const std::int64_t channels = layout.channels.size;
  if (channels != 1 && channels != 3 && channels != 4) {
    reject("shape " + view.shapeString() + " has " + std::to_string(channels) +
           " channels in dataFormat " + quoted(format) + ", wanted 1, 3 or 4");
  }
  return layout;
}

std::uint8_t toByte(std::uint8_t value) {
  return value;
}

std::uint8_t toByte(detail::Bool8 value) {
  return value.byte != 0 ? 255 : 0;
}

std::uint8_t toByte(float value) {
  const float scaled = value * 255.0F;
  // Written so that NaN fails the first comparison.
  return scaled > 0 ? static_cast<std::uint8_t>(std::min(scaled, 255.0F)) : std::uint8_t{0};
}

std::uint8_t toByte(double value) {
  return toByte(static_cast<float>(value));
}
std::uint8_t toByte(detail::Float16 value) {
  return toByte(detail::toFloat(value));
}
std::uint8_t toByte(detail::BFloat16 value) {
  return toByte(detail::toFloat(value));
}

template <typename T>
constexpr bool kIsPixel = std::is_same_v<T, std::uint8_t> || std::is_same_v<T, detail::Bool8> ||
                          std::is_same_v<T, detail::Float16> ||
                          std::is_same_v<T, detail::BFloat16> || std::is_floating_point_v<T>;

/// Copies one image to `to`, whose rows lie `rowBytes` apart.
template <typename T>
void copyTile(const T* from, const Layout& layout, std::uint8_t* to, std::size_t rowBytes) {
  for (std::int64_t y = 0; y < layout.rows.size; ++y, to += rowBytes) {
    std::uint8_t* pixel = to;
    for (std::int64_t x = 0; x < layout.columns.size; ++x) {
      const T* channel = from + y * layout.rows.stride + x * layout.columns.stride;
      for (std::int64_t c = 0; c < layout.channels.size; ++c, channel += layout.channels.stride) {
        *pixel++ = toByte(*channel);
      }
    }
  }
}

int checkedSide(std::int64_t tiles, std::int64_t size) {
  std::int64_t side = 0;
  if (__builtin_mul_overflow(tiles, size, &side) || side > std::numeric_limits<int>::max()) {
    reject("a side of " + std::to_string(tiles) + " tiles of " + std::to_string(size) +
           " pixels, wanted less than 2^31 pixels");
  }
  return static_cast<int>(side);
}

Pixels tile(const TensorView& view, const Layout& layout) {
  constexpr std::int64_t kMaxColumns = 8;
  const std::int64_t images = layout.images.size;
  const std::int64_t tileColumns = std::min(images, kMaxColumns);
  const std::int64_t tileRows = (images + tileColumns - 1) / tileColumns;

  Pixels pixels;
  pixels.width = checkedSide(tileColumns, layout.columns.size);
  pixels.height = checkedSide(tileRows, layout.rows.size);
  pixels.channels = static_cast<int>(layout.channels.size);
  const std::size_t tileBytes = static_cast<std::size_t>(layout.columns.size) * pixels.channels;
  const std::size_t rowBytes = tileBytes * tileColumns;
  pixels.data.resize(rowBytes * pixels.height);

  detail::visitElements(view, [&](const auto* data) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(data)>>;
    if constexpr (kIsPixel<T>) {
      for (std::int64_t i = 0; i < images; ++i) {
        std::uint8_t* const corner = pixels.data.data() +
                                     (i / tileColumns) * layout.rows.size * rowBytes +
                                     (i % tileColumns) * tileBytes;
        copyTile(data + i * layout.images.stride, layout, corner, rowBytes);
      }
    } else {
      // An integer of unknown scale: any guess would show some people a white or a black image.
      reject("element type " + std::string(dtypeName(view.dtype())) +
             ", wanted uint8 (0 to 255), a floating-point type (0 to 1) or bool");
    }
  });
  return pixels;
}

}  // namespace

Pixels imagePixels(const TensorView& image, std::string_view dataFormat) {
  return tile(image, layoutOf(image, dataFormat, false));
}

Pixels imageGrid(const TensorView& images, std::string_view dataFormat) {
  return tile(images, layoutOf(images, dataFormat, true));
}

Value imageValue(std::string tag, int width, int height, std::string png,
                 SummaryMetadata metadata) {
  metadata.pluginName = kImagesPlugin;
  // An ImagePluginData of version 0 that was not converted from the legacy form: all defaults.
  metadata.pluginContent.clear();
  metadata.dataClass = DataClass::kBlobSequence;
  Tensor tensor;
  tensor.type = TensorType::kString;
  tensor.shape = {3};
  tensor.strings = {std::to_string(width), std::to_string(height), std::move(png)};
  return {std::move(tag), std::move(tensor), std::move(metadata)};
}

}  // namespace steptape
