// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/train/gradient_sync.h"

#include "train/replicas/model/tensor_schema.h"

namespace steptape::detail::train {

/// @throws Error(kInvalidArgument) with the option that is out of range.
void checkOptions(const GradientSyncOptions& options);

/// Returns the options that must be equal on all ranks, one per line.
TensorSchema schemaOf(const GradientSyncOptions& options);

}  // namespace steptape::detail::train
