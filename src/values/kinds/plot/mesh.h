// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/event.h"
#include "steptape/values/tensor_view.h"
#include "steptape/values/value_options.h"

#include "values/kinds/image/image.h"

namespace steptape::detail::values {

/// A batch of meshes in the element types that TensorBoard stores.
struct MeshTensors {
  event::Tensor vertices;               ///< (batch, vertices, 3), DT_FLOAT.
  std::optional<event::Tensor> faces;   ///< (batch, faces, 3), DT_INT32.
  std::optional<event::Tensor> colors;  ///< (batch, vertices, 3), DT_UINT8: red, green, blue.
  std::uint64_t notFinite = 0;          ///< Coordinates that are NaN or infinite.
  UnshownElements unshown = {};         ///< Of the colors.
};

/// Checks everything that does not depend on the elements' values.
///
/// @throws  Error(kInvalidArgument) with a shape or element type that does not fit the others, an
///          empty dimension, a `configJson` that is not a JSON object (checks only brackets and
///          strings), or the size of a mesh that does not fit into a record of 2 GiB.
/// @threads Thread-safe.
/// @cost    Reads no element.
STEPTAPE_EXPORT void checkMesh(const TensorView& vertices, const MeshOptions& options = {});

/// Copies the parts of a batch of meshes.
///
/// @param vertices Coordinates of any element type; converted to binary32. NaN is kept and counted,
///                 because a browser then does not show the mesh.
/// @param options  Uses `colors` and `faces`.
/// @shape   Vertices and colors (batch, vertices, 3), or (vertices, 3) for one mesh; faces (batch,
///          faces, 3), or (faces, 3) for one mesh; any strides.
/// @units   Colors: integers 0..255, or floating point 0..1, converted as by addImage(): times 255,
///          clamped and truncated, NaN to 0; bool: 0 and 255. Faces: integers below the number of
///          vertices.
/// @throws  Error(kInvalidArgument) as checkMesh(); or with the first vertex number or integer
///          color that is out of range, and its index.
/// @threads Thread-safe.
/// @cost    One pass over each part and one allocation, about 1 ns per element.
STEPTAPE_EXPORT MeshTensors meshTensors(const TensorView& vertices,
                                        const MeshOptions& options = {});

/// Makes the values that TensorBoard's mesh page shows, one per part: `<tag>_VERTEX`, `<tag>_FACE`
/// and `<tag>_COLOR`. Write them in one event. The page takes a tag's shape and settings from its
/// first value in a run, so the batch size of a tag should not change.
///
/// @param configJson As MeshOptions::configJson.
/// @param metadata   Display name and description; this function sets plugin, content and data
///                   class.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/mesh/metadata.py at 2.21; docs/event_file_format.md.
STEPTAPE_EXPORT std::vector<event::Value> meshValues(const std::string& tag, MeshTensors mesh,
                                                     const std::string& configJson,
                                                     const event::SummaryMetadata& metadata = {});

}  // namespace steptape::detail::values
