// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape::event {

// Names that TensorBoard's plugins look for in SummaryMetadata::pluginName.
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
inline constexpr char kTensorPlugin[] = "tensor";  // no page shows it; readers find it

// What a plugin keeps in SummaryMetadata::pluginContent: its own serialized message. Plugins that
// are not here keep nothing, or nothing but a version 0, which is no byte.
// @source tensorboard/plugins/{audio,mesh,pr_curve}/plugin_data.proto at 2.21

/// Of plugin `audio`: the blobs are WAV files, which TensorBoard then serves as `audio/wav`.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string audioPluginContent();

/// Reads what audioPluginContent() or another writer wrote.
///
/// @param isWav Whether the blobs are said to be WAV files; false too where nothing is said.
/// @return kDataLoss if `bytes` is no such record; `*isWav` is then unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeAudioPluginContent(std::string_view bytes, bool* isWav);

/// Of plugin `pr_curves`.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string prCurvePluginContent(std::uint32_t numThresholds);

/// Which part of a mesh a tensor holds, with TensorBoard's numbers.
enum class MeshPart : std::int32_t { kVertex = 1, kFace = 2, kColor = 3 };

/// Of plugin `mesh`, which keeps a mesh as up to three series, one for each part.
struct MeshPluginData {
  std::string name;  ///< The mesh's tag; the series' tags are made of it and the part.
  MeshPart part = MeshPart::kVertex;
  std::vector<MeshPart> parts = {};      ///< All parts that the mesh has, `part` among them.
  std::vector<std::int32_t> shape = {};  ///< Of this part: (batch, rows, 3).
  std::string jsonConfig = "{}";         ///< THREE.js settings, a JSON object.
};

/// @param data REQUIRES: `name` and `jsonConfig` are UTF-8, or TensorBoard's mesh page fails.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string meshPluginContent(const MeshPluginData& data);

/// Reads what meshPluginContent() or another writer wrote. A record that does not say which parts
/// the mesh has stands for all three, as in TensorBoard.
///
/// @return kDataLoss if `bytes` is no such record or of an unknown part; `*data` is then
///         unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeMeshPluginContent(std::string_view bytes, MeshPluginData* data);

}  // namespace steptape::event
