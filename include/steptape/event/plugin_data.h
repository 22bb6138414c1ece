// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape {

// Names that TensorBoard's plugins look for in SummaryMetadata::pluginName.
// @source tensorboard/plugins/*/metadata.py at 2.21
inline constexpr char kScalarsPlugin[] = "scalars";
inline constexpr char kHistogramsPlugin[] = "histograms";
inline constexpr char kImagesPlugin[] = "images";
inline constexpr char kTextPlugin[] = "text";

}  // namespace steptape
