// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/image/image.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "steptape/events/plugin_content.h"

#include "base/text.h"
#include "events/messages/value_metadata.h"
#include "values/kinds/image/color_math.h"
#include "values/kinds/image/image_layout.h"
#include "values/kinds/image/png_chunks.h"

namespace steptape::detail::values {
namespace {

constexpr ImageFormat kImageFormat = {"HW", "C", "the letters of \"CHW\" or \"HW\""};
constexpr ImageFormat kGridFormat = {"NHW", "C", "the letters of \"NCHW\" or \"NHW\""};

TileGrid gridOf(const ImageLayout& layout) {
  constexpr std::int64_t kMaxColumns = 8;
  const std::int64_t columns = std::min(layout.images.size, kMaxColumns);
  return {columns, (layout.images.size + columns - 1) / columns};
}

/// Returns the layout of a batch, after checking that encodePng() accepts its grid.
ImageLayout checkedLayout(const TensorView& view, std::string_view dataFormat,
                          const ImageFormat& rules) {
  const ImageLayout layout = imageLayout(view, dataFormat, rules);
  const TileGrid grid = gridOf(layout);
  checkPngSize(layout.columns.size * grid.columns, layout.rows.size * grid.rows,
               layout.channels.size);
  return layout;
}

Pixels tile(const TensorView& view, const ImageLayout& layout) {
  const TileGrid grid = gridOf(layout);
  Pixels pixels;
  pixels.width = static_cast<int>(layout.columns.size * grid.columns);
  pixels.height = static_cast<int>(layout.rows.size * grid.rows);
  pixels.channels = static_cast<int>(layout.channels.size);
  pixels.data.resize(static_cast<std::size_t>(pixels.width) * pixels.height * pixels.channels);
  pixels.unshown = copyTiles(view, layout, 0, grid, pixels.data.data());
  return pixels;
}

/// Returns TensorFlow's number for the color space of a PNG. Other files are regarded as RGB.
std::int32_t colorspaceOf(std::string_view file) {
  constexpr std::int32_t kGray = 1;
  constexpr std::int32_t kGrayAlpha = 2;
  constexpr std::int32_t kRgb = 3;
  constexpr std::int32_t kRgba = 4;
  constexpr std::size_t kColorType = 25;  // in the header chunk, which is first
  const bool isPng = base::startsWith(file, "\x89PNG") && file.size() > kColorType;
  switch (isPng ? file[kColorType] : 2) {
    case 0:
      return kGray;
    case 4:
      return kGrayAlpha;
    case 6:
      return kRgba;
    default:
      return kRgb;
  }
}

}  // namespace

void UnshownElements::take(float element) {
  if (std::isnan(element)) {
    ++nans;
  } else if (!isUsualColor(element)) {
    lowest = std::min(lowest, element);
    highest = std::max(highest, element);
  }
}

void checkImage(const TensorView& image, std::string_view dataFormat) {
  checkedLayout(image, dataFormat, kImageFormat);
}

Pixels imagePixels(const TensorView& image, std::string_view dataFormat) {
  return tile(image, checkedLayout(image, dataFormat, kImageFormat));
}

void checkImageGrid(const TensorView& images, std::string_view dataFormat) {
  checkedLayout(images, dataFormat, kGridFormat);
}

Pixels imageGrid(const TensorView& images, std::string_view dataFormat) {
  return tile(images, checkedLayout(images, dataFormat, kGridFormat));
}

event::Value imageValue(std::string tag, int width, int height, std::string png,
                        event::SummaryMetadata metadata, ValueForm form) {
  std::vector<std::string> pngs;
  pngs.push_back(std::move(png));
  return imageValue(std::move(tag), width, height, std::move(pngs), std::move(metadata), form);
}

event::Value imageValue(std::string tag, int width, int height, std::vector<std::string> pngs,
                        event::SummaryMetadata metadata, ValueForm form) {
  metadata.pluginName = event::kImagesPlugin;
  // Default values: an ImagePluginData of version 0 that was not converted from the compatible
  // form.
  metadata.pluginContent.clear();
  metadata.dataClass = event::DataClass::kBlobSequence;
  if (form == ValueForm::kCompatible && pngs.size() == 1) {
    event::SummaryImage image;
    image.height = height;
    image.width = width;
    image.colorspace = colorspaceOf(pngs.front());
    image.encoded = std::move(pngs.front());
    return {std::move(tag), std::move(image), events::metadataIfNamed(std::move(metadata))};
  }
  event::Tensor tensor;
  tensor.type = event::TensorType::kString;
  tensor.shape = {static_cast<std::int64_t>(pngs.size() + 2)};
  tensor.strings = {std::to_string(width), std::to_string(height)};
  std::move(pngs.begin(), pngs.end(), std::back_inserter(tensor.strings));
  return {std::move(tag), std::move(tensor), std::move(metadata)};
}

}  // namespace steptape::detail::values
