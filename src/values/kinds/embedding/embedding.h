// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/values/tensor_view.h"
#include "steptape/values/value_options.h"

#include "values/kinds/image/image.h"

namespace steptape::detail::values {

/// Checks that an embedding's tag can name its directory.
///
/// @throws  Error(kInvalidArgument) if it is empty, or too long for a directory's name.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkEmbeddingTag(std::string_view tag, std::int64_t step);

/// Checks the shapes, types and texts of an embedding; reads no element.
///
/// @param matrix (points, dimensions) of any type. Neither may be 0: otherwise TensorBoard's
///               projector would show no embedding of any run.
/// @throws  Error(kInvalidArgument) if the matrix has another rank or is empty; with both numbers
///          if the rows of metadata or the images are not as many as the points; with the first row
///          that has another number of cells than the first row; if a title is missing, empty or
///          repeated; or as spritePixels().
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkEmbedding(const TensorView& matrix, const EmbeddingOptions& options);

/// Arranges thumbnails on one square image, in rows of ceil(sqrt(N)). The rest is black, or
/// transparent if there is an alpha channel. Each thumbnail has a square of max(H, W) pixels per
/// side.
///
/// @param images (N, C, H, W); channels, units and types as for imagePixels().
/// @throws  Error(kInvalidArgument) for an invalid argument; also if a side would be longer than
///          8192 pixels, the maximum that the projector's page can load.
/// @threads Thread-safe.
/// @cost    As imagePixels().
/// @source  tensorboardX/embedding.py, make_sprite(), which accepts only square images.
STEPTAPE_EXPORT Pixels spritePixels(const TensorView& images);

}  // namespace steptape::detail::values
