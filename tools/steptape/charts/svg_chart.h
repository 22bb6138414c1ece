// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/charts/chart.h"

namespace steptape::tools {

/// Draws `charts`, one below the other, as an SVG image for a white page.
///
/// @source W3C, "Scalable Vector Graphics (SVG) 1.1"
std::string svgOf(const std::vector<Chart>& charts);

}  // namespace steptape::tools
