// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape {

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

}  // namespace steptape
