// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "values/kinds/image/png_filter.h"

namespace steptape::detail::values {

/// Filters and compresses rows, and appends the data of IDAT chunks to `out`.
///
/// A sample of the rows selects zlib's strategy.
void compressPngRows(const PngRows& rows, std::string* out);

}  // namespace steptape::detail::values
