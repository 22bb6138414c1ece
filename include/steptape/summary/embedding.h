// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/summary/tensor_view.h"

namespace steptape {

/// Options of addEmbedding().
struct EmbeddingOptions {
  /// One row of cells per row of the matrix, or none.
  std::vector<std::vector<std::string>> metadata = {};
  std::vector<std::string> metadataHeader = {};  ///< A title per column; needed for several.
  std::optional<TensorView> labelImages = std::nullopt;  ///< NCHW: a thumbnail per row.
  std::int64_t step = 0;
  std::string tag = "default";
};

}  // namespace steptape
