// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/embedding/sprite.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "values/kinds/embedding/embedding.h"
#include "values/kinds/reject.h"

namespace steptape {
namespace {

// Graphics drivers of some browsers do not support larger textures.
constexpr std::int64_t kMaxSide = 8192;

std::int64_t ceilSqrt(std::int64_t value) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(value)));
  while (root * root < value) {
    ++root;
  }
  return root;
}

/// Returns the `i`-th image of a batch.
TensorView imageAt(const TensorView& images, std::int64_t i) {
  const auto* const first = static_cast<const std::byte*>(images.data());
  const auto offset =
      i * images.strides()[0] * static_cast<std::int64_t>(dtypeSize(images.dtype()));
  return {first + offset,
          images.dtype(),
          {images.shape().begin() + 1, images.shape().end()},
          {images.strides().begin() + 1, images.strides().end()}};
}

}  // namespace

namespace detail::values {

SpriteGrid spriteGrid(const TensorView& images) {
  if (images.rank() != 4 || images.numel() == 0) {
    detail::base::reject("labelImages of shape " + images.shapeString(),
                         "(N, C, H, W), none of them 0");
  }
  const std::int64_t channels = images.shape()[1];
  if (channels != 1 && channels != 3 && channels != 4) {
    detail::base::reject("labelImages of shape " + images.shapeString() + " with " +
                             std::to_string(channels) + " channels",
                         "(N, C, H, W) with 1, 3 or 4 channels");
  }
  const DType dtype = images.dtype();
  if (dtype != DType::kUInt8 && dtype != DType::kBool && dtype != DType::kFloat16 &&
      dtype != DType::kBFloat16 && dtype != DType::kFloat32 && dtype != DType::kFloat64) {
    detail::base::reject("labelImages of element type " + std::string(dtypeName(dtype)),
                         "uint8 (0 to 255), a floating-point type (0 to 1) or bool");
  }
  SpriteGrid grid{};
  grid.images = images.shape()[0];
  grid.cell = std::max(images.shape()[2], images.shape()[3]);
  grid.imagesPerRow = ceilSqrt(grid.images);
  if (grid.cell > kMaxSide / grid.imagesPerRow) {
    detail::base::reject(
        "labelImages of shape " + images.shapeString() + ", " + std::to_string(grid.imagesPerRow) +
            " squares of " + std::to_string(grid.cell) + " pixels to a side",
        "at most the 8192 pixels that the projector loads; give fewer or smaller images");
  }
  return grid;
}

}  // namespace detail::values

detail::values::Pixels detail::values::spritePixels(const TensorView& images) {
  const detail::values::SpriteGrid grid = detail::values::spriteGrid(images);
  detail::values::Pixels sprite;
  sprite.width = static_cast<int>(grid.side());
  sprite.height = sprite.width;
  sprite.channels = static_cast<int>(images.shape()[1]);
  const std::int64_t rowBytes = grid.side() * sprite.channels;
  sprite.data.resize(static_cast<std::size_t>(rowBytes * grid.side()));

  const std::int64_t top = (grid.cell - images.shape()[2]) / 2;
  const std::int64_t left = (grid.cell - images.shape()[3]) / 2;
  for (std::int64_t i = 0; i < grid.images; ++i) {
    const detail::values::Pixels image = detail::values::imagePixels(imageAt(images, i), "CHW");
    sprite.unshown.add(image.unshown);
    const std::int64_t y = i / grid.imagesPerRow * grid.cell + top;
    const std::int64_t x = i % grid.imagesPerRow * grid.cell + left;
    const std::int64_t imageRowBytes = std::int64_t{image.width} * image.channels;
    for (std::int64_t row = 0; row < image.height; ++row) {
      std::copy_n(image.data.begin() + row * imageRowBytes, imageRowBytes,
                  sprite.data.begin() + (y + row) * rowBytes + x * sprite.channels);
    }
  }
  return sprite;
}

}  // namespace steptape
