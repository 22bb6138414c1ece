// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/summary/value_options.h"

namespace steptape {

/// A batch of meshes in the element types that TensorBoard stores.
struct MeshTensors {
  event::Tensor vertices;               ///< (batch, vertices, 3), DT_FLOAT.
  std::optional<event::Tensor> faces;   ///< (batch, faces, 3), DT_INT32.
  std::optional<event::Tensor> colors;  ///< (batch, vertices, 3), DT_UINT8: red, green, blue.
};

/// Checks what can be known without the elements.
///
/// @throws Error(kInvalidArgument) naming the shape or element type that does not fit the others,
///         an empty dimension, a `configJson` that is no JSON object (brackets and strings are
///         looked at, not every value), or the bytes of a mesh that does not fit into a record of 2
///         GiB.
/// @threads Thread-safe.
/// @cost   Reads no element.
STEPTAPE_EXPORT void checkMesh(const TensorView& vertices, const MeshOptions& options = {});

/// Copies the parts of a batch of meshes out.
///
/// @param vertices Coordinates, of any element type; converted to binary32. NaN is kept, though
///                 a browser then shows nothing of that mesh.
/// @param options  `colors` and `faces` are used.
/// @shape   Vertices and colors (batch, vertices, 3), or (vertices, 3) for one; faces (batch,
///          faces, 3), or (faces, 3) for one; any strides.
/// @units   Colors: integers 0..255, or floating point 0..1, converted as addImage() does: times
///          255, clamped and cut, NaN to 0; bool: 0 and 255. Faces: integers below the number of
///          vertices.
/// @throws  Error(kInvalidArgument) as checkMesh(); or naming the first vertex number or integer
///          color out of range, with its index.
/// @threads Thread-safe.
/// @cost    One pass over each part and one allocation, about 1 ns an element.
STEPTAPE_EXPORT MeshTensors meshTensors(const TensorView& vertices,
                                        const MeshOptions& options = {});

/// Makes the values that TensorBoard's mesh page shows: one for each part, `<tag>_VERTEX`,
/// `<tag>_FACE` and `<tag>_COLOR`, which belong into one event. The page takes a tag's shape and
/// settings from its first value in a run, so the batch size of a tag should not change.
///
/// @param configJson As MeshOptions::configJson.
/// @param metadata   Display name and description; plugin, content and data class are set here.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/mesh/metadata.py at 2.21; docs/event_file_format.md.
STEPTAPE_EXPORT std::vector<event::Value> meshValues(const std::string& tag, MeshTensors mesh,
                                                     const std::string& configJson,
                                                     const event::SummaryMetadata& metadata = {});

}  // namespace steptape
