// SPDX-License-Identifier: Apache-2.0
#include "steptape/summary/image.h"

#include <algorithm>
#include <utility>

#include "steptape/event/plugin_data.h"

#include "summary/image_layout.h"
#include "summary/png_chunks.h"

namespace steptape {
namespace {

using detail::ImageLayout;
using detail::TileGrid;

constexpr detail::ImageFormat kImageFormat = {"image", "HW", "C",
                                              "the letters of \"CHW\" or \"HW\""};
constexpr detail::ImageFormat kGridFormat = {"image", "NHW", "C",
                                             "the letters of \"NCHW\" or \"NHW\""};

TileGrid gridOf(const ImageLayout& layout) {
  constexpr std::int64_t kMaxColumns = 8;
  const std::int64_t columns = std::min(layout.images.size, kMaxColumns);
  return {columns, (layout.images.size + columns - 1) / columns};
}

/// The layout of a batch whose grid is an image that encodePng() takes.
ImageLayout checkedLayout(const TensorView& view, std::string_view dataFormat,
                          const detail::ImageFormat& rules) {
  const ImageLayout layout = detail::imageLayout(view, dataFormat, rules);
  const TileGrid grid = gridOf(layout);
  detail::checkPngSize(layout.columns.size * grid.columns, layout.rows.size * grid.rows,
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
  pixels.nanCount = detail::copyTiles(view, layout, 0, grid, pixels.data.data());
  return pixels;
}

}  // namespace

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

Value imageValue(std::string tag, int width, int height, std::string png,
                 SummaryMetadata metadata) {
  std::vector<std::string> pngs;
  pngs.push_back(std::move(png));
  return imageValue(std::move(tag), width, height, std::move(pngs), std::move(metadata));
}

Value imageValue(std::string tag, int width, int height, std::vector<std::string> pngs,
                 SummaryMetadata metadata) {
  metadata.pluginName = kImagesPlugin;
  // An ImagePluginData of version 0 that was not converted from the legacy form: all defaults.
  metadata.pluginContent.clear();
  metadata.dataClass = DataClass::kBlobSequence;
  Tensor tensor;
  tensor.type = TensorType::kString;
  tensor.shape = {static_cast<std::int64_t>(pngs.size() + 2)};
  tensor.strings = {std::to_string(width), std::to_string(height)};
  std::move(pngs.begin(), pngs.end(), std::back_inserter(tensor.strings));
  return {std::move(tag), std::move(tensor), std::move(metadata)};
}

}  // namespace steptape
