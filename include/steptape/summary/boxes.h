// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/summary/image.h"
#include "steptape/summary/tensor_view.h"

namespace steptape {

/// Options of addImageWithBoxes().
struct BoxOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  std::string dataFormat = "CHW";
  std::vector<std::string> labels = {};  ///< One per box, or none.
  double rescale = 1;                    ///< Scales the image, and the boxes with it.
  /// RGB per box, or per distinct label in order of appearance; empty: red for all.
  std::vector<std::array<std::uint8_t, 3>> colors = {};
};

}  // namespace steptape
