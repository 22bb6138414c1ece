// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape::event {

// Names of TensorBoard's plugins in SummaryMetadata::pluginName.
// @source tensorboard/plugins/*/metadata.py at 2.21
inline constexpr char kScalarsPlugin[] = "scalars";
inline constexpr char kHistogramsPlugin[] = "histograms";
inline constexpr char kImagesPlugin[] = "images";
inline constexpr char kTextPlugin[] = "text";
inline constexpr char kAudioPlugin[] = "audio";
inline constexpr char kPrCurvesPlugin[] = "pr_curves";
inline constexpr char kMeshPlugin[] = "mesh";
inline constexpr char kCustomScalarsPlugin[] = "custom_scalars";
inline constexpr char kHparamsPlugin[] = "hparams";
inline constexpr char kTensorPlugin[] = "tensor";  // shown on no page; for readers

// The serialized messages of plugins in SummaryMetadata::pluginContent. Other plugins store
// nothing, or only version 0, which has no bytes.
// @source tensorboard/plugins/{audio,mesh,pr_curve}/plugin_data.proto at 2.21

/// Encodes the content of plugin `audio` for WAV files, which TensorBoard serves as `audio/wav`.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string audioPluginContent();

/// Decodes the content of plugin `audio` of any writer.
///
/// @param isWav Set to whether the files are declared as WAV files; false if nothing is declared.
/// @return kDataLoss if `bytes` is not such a record; `*isWav` is then unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeAudioPluginContent(std::string_view bytes, bool* isWav);

/// Encodes the content of plugin `pr_curves`.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string prCurvePluginContent(std::uint32_t numThresholds);

/// The part of a mesh that a tensor holds, with TensorBoard's numbers.
enum class MeshPart : std::int32_t { kVertex = 1, kFace = 2, kColor = 3 };

/// The content of plugin `mesh`, which stores a mesh as up to three series, one for each part.
struct MeshPluginData {
  std::string name;  ///< The tag of the mesh; tags of series consist of it and the part.
  MeshPart part = MeshPart::kVertex;
  std::vector<MeshPart> parts = {};      ///< All parts of the mesh, including `part`.
  std::vector<std::int32_t> shape = {};  ///< Shape of this part: (batch, rows, 3).
  std::string jsonConfig = "{}";         ///< THREE.js settings, a JSON object.
};

/// Encodes the content of plugin `mesh`.
///
/// @param data REQUIRES: `name` and `jsonConfig` are UTF-8; else TensorBoard's mesh page fails.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string meshPluginContent(const MeshPluginData& data);

/// Decodes the content of plugin `mesh` of any writer. A record that does not list the parts of the
/// mesh means all three, as in TensorBoard.
///
/// @return kDataLoss if `bytes` is not such a record, or names an unknown part; `*data` is then
///         unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeMeshPluginContent(std::string_view bytes, MeshPluginData* data);

}  // namespace steptape::event
