// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace steptape::tools {

/// Returns the exponential moving average that TensorBoard draws: its start is debiased, NaN and
/// infinities are kept and skipped, and a constant series does not change.
///
/// @param weight Weight of the past, clamped to [0, 1]; 0 changes nothing, 1 gives 0 everywhere.
/// @source TensorBoard 2.21, tensorboard/webapp/widgets/line_chart_v2/data_transformer.ts,
///         classicSmoothing()
std::vector<double> smoothed(const std::vector<double>& values, double weight);

}  // namespace steptape::tools
