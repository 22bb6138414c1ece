// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/summary/image.h"
#include "steptape/summary/tensor_view.h"

namespace steptape {

/// Options of addEmbedding().
///
/// There is no wall time: the projector's files hold none.
struct EmbeddingOptions {
  /// One row of cells per row of the matrix, all of one length, or none. Tabs and line ends within
  /// a cell become spaces; what is not UTF-8 becomes U+FFFD.
  std::vector<std::vector<std::string>> metadata = {};
  /// A title per column: needed for several columns. One column has no title in the file, because
  /// the projector would take it for the first point's label.
  std::vector<std::string> metadataHeader = {};
  /// A thumbnail per row of the matrix: (N, C, H, W) with 1, 3 or 4 channels, as addImages() takes
  /// them. Where H and W differ, the images are centred on squares.
  std::optional<TensorView> labelImages = std::nullopt;
  /// The projector offers every tag and step as a data set of its own, `<tag>:<step>`.
  std::int64_t step = 0;
  std::string tag = "default";
};

/// Checks an embedding by shapes, types and texts; reads no element.
///
/// @param matrix (points, dimensions) of any type, neither of them 0: TensorBoard's projector would
///               show no embedding of any run.
/// @throws Error(kInvalidArgument) if the matrix has another rank or is empty; naming both numbers
///         if there is not one row of metadata or one image per point; the first row whose cells
///         are not as many as the first one's; a title that is missing, empty or there twice; a tag
///         that is empty or too long for a directory's name; or as spritePixels().
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
