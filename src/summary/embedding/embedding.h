// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/summary/value_options.h"

#include "summary/image/image.h"

namespace steptape {

/// Checks that an embedding's tag can name its directory.
///
/// @throws Error(kInvalidArgument) if it is empty, or too long for a directory's name.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkEmbeddingTag(std::string_view tag, std::int64_t step);

/// Checks an embedding by shapes, types and texts; reads no element.
///
/// @param matrix (points, dimensions) of any type, neither of them 0: TensorBoard's projector would
///               show no embedding of any run.
/// @throws Error(kInvalidArgument) if the matrix has another rank or is empty; naming both numbers
///         if there is not one row of metadata or one image per point; the first row whose cells
///         are not as many as the first one's; a title that is missing, empty or there twice; or as
///         spritePixels().
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkEmbedding(const TensorView& matrix, const EmbeddingOptions& options);

/// Arranges thumbnails on one square image, row by row, ceil(sqrt(N)) to a row; the rest is black,
/// or transparent where there is an alpha channel. Each has a square of max(H, W) pixels to a side.
///
/// @param images (N, C, H, W); channels, units and types are those of imagePixels().
/// @throws  Error(kInvalidArgument) naming what does not fit; also if a side would be longer than
///          8192 pixels, the most that the projector's page can load.
/// @threads Thread-safe.
/// @cost    As imagePixels().
/// @source  tensorboardX/embedding.py, make_sprite(), which takes square images only.
STEPTAPE_EXPORT Pixels spritePixels(const TensorView& images);

}  // namespace steptape
