// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/events/event.h"
#include "steptape/events/record_reader.h"
#include "steptape/log/run_reader.h"

namespace steptape::detail::log {

/// Reads a value from the file `path`, like RunReader::value().
///
/// Opens the file for each value, because many runs have too many files to keep them open.
///
/// @threads Thread-safe.
/// @cost    Opening the file, reading only the value's record, and decoding its event.
STEPTAPE_EXPORT Status readValue(const std::string& path, const ValueLocation& location,
                                 event::Value* value);

/// As above, from an open file: for many values of one file.
///
/// @param file Named in errors.
/// @throws std::bad_alloc
STEPTAPE_EXPORT Status readValue(const ByteSource& file, const ValueLocation& location,
                                 event::Value* value);

}  // namespace steptape::detail::log
