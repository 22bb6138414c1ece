// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace steptape::tools {

/// Draws a curve of at most `columns` characters, one height each: "▁▂▃▄▅▆▇█", or ".:-=+*#" without
/// `utf8`.
///
/// With more values than columns, a column shows the mean of its values. The columns of the minimum
/// and the maximum show these instead, so that no peak is lost. NaN and infinities are omitted; a
/// column without other values is blank. A constant is drawn at half height.
std::string sparkline(const std::vector<double>& values, std::size_t columns, bool utf8);

}  // namespace steptape::tools
