// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace steptape::tools {

/// A curve of at most `columns` characters, one height each: "▁▂▃▄▅▆▇█", or ".:-=+*#" without
/// `utf8`.
///
/// Where there are more values than columns a column shows the mean of its values, but the columns
/// of the least and the largest value show these, so that no peak is lost. NaN and infinities are
/// left out; a column of nothing else is blank. A curve that never changes is drawn at half height.
std::string sparkline(const std::vector<double>& values, std::size_t columns, bool utf8);

}  // namespace steptape::tools
