// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/parallel/gradient_sync.h"

#include "parallel/model/tensor_schema.h"

namespace steptape::detail {

/// @throws Error(kInvalidArgument) naming the option that is out of range.
void checkOptions(const GradientSyncOptions& options);

/// What must be the same on all ranks, a line each.
TensorSchema schemaOf(const GradientSyncOptions& options);

}  // namespace steptape::detail
