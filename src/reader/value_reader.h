// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/event/event.h"
#include "steptape/reader/tag_series.h"

namespace steptape::detail {

/// Reads a value back from the file `path`; as RunReader::value().
///
/// Opens the file for each value: whoever reads many runs has too many files to keep them open.
///
/// @threads Thread-safe.
/// @cost    Opening the file, one read of the value's record alone, and decoding its event.
STEPTAPE_EXPORT Status readValue(const std::string& path, const ValueLocation& location,
                                 event::Value* value);

}  // namespace steptape::detail
