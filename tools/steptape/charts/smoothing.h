// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace steptape::tools {

/// The exponential moving average that TensorBoard draws: its start is corrected for the missing
/// past, NaN and infinities stay what they are and are passed over, and a constant series is left
/// alone.
///
/// @param weight Of the past; 0 changes nothing, 1 leaves nothing of the values: all 0. Cut to
///               these limits.
/// @source TensorBoard 2.21, tensorboard/webapp/widgets/line_chart_v2/data_transformer.ts,
///         classicSmoothing()
std::vector<double> smoothed(const std::vector<double>& values, double weight);

}  // namespace steptape::tools
