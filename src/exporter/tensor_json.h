// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/event/event.h"

#include "exporter/export_run.h"

namespace steptape::detail {

/// Such as "float32", numpy's names; "unknown" for a type that Steptape does not know.
const char* typeName(event::TensorType type);

/// Appends the elements of a tensor in row-major order as one list, or the only one of a tensor of
/// rank 0; `null` for a type that Steptape does not know.
/// REQUIRES: as many elements as its shape says.
void appendJsonElements(const event::Tensor& tensor, ExportText* out);

}  // namespace steptape::detail
