// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace steptape::tools {

/// A curve of at most `columns` characters, one height each: "▁▂▃▄▅▆▇█", or ".:-=+*#" without
/// `utf8`.
///
/// With more values than columns, a column shows the mean of its values, except that the columns of
/// the minimum and the maximum show these, so that no peak is lost. NaN and infinities are left
/// out; a column without other values is blank. A constant is drawn at half height.
std::string sparkline(const std::vector<double>& values, std::size_t columns, bool utf8);

}  // namespace steptape::tools
