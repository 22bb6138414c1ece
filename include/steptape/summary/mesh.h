// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"
#include "steptape/summary/tensor_view.h"

namespace steptape {

/// Options of addMesh().
struct MeshOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  std::optional<TensorView> colors = std::nullopt;  ///< As the vertices; bytes, or floats 0..1.
  std::optional<TensorView> faces = std::nullopt;   ///< (batch, faces, 3) vertex numbers.
  std::string configJson = {};                      ///< THREE.js settings, a JSON object.
};

}  // namespace steptape
