// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "arrow_c_data.h"
#include "table.h"

namespace steptape::python {

/// Streams a table as Arrow record batches: run and tag as dictionaries of UTF-8 strings, with
/// 32-bit indices, step as int64, wall_time and value as float64; none of them nullable.
///
/// @param stream The caller calls its `release`. It and its batches may be used on any thread,
///               without the GIL, and may outlive the table.
/// @cost  A batch has up to a million rows, which are copied on request: 32 bytes per row.
/// @source https://arrow.apache.org/docs/format/CStreamInterface.html
void exportStream(std::shared_ptr<const Table> table, ArrowArrayStream* stream);

}  // namespace steptape::python
