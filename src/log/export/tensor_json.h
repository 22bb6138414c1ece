// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/events/event.h"

#include "log/export/export_run.h"

namespace steptape::detail::log {

/// Returns numpy's name, such as "float32"; "unknown" for a type that Steptape does not know.
const char* typeName(event::TensorType type);

/// Appends the elements of a tensor in row-major order as a list; for rank 0, the only element;
/// `null` for a type that Steptape does not know. REQUIRES: as many elements as the shape says.
void appendJsonElements(const event::Tensor& tensor, ExportText* out);

}  // namespace steptape::detail::log
