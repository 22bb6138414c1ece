// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "summary/image/png_filter.h"

namespace steptape::detail {

/// Filters and compresses rows onto the end of `out`: the data of IDAT chunks.
///
/// How zlib is to look for repetitions is decided by a sample of the rows.
void compressPngRows(const PngRows& rows, std::string* out);

}  // namespace steptape::detail
