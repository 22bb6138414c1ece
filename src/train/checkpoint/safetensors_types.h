// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "steptape/train/safetensors.h"

#include <c10/core/ScalarType.h>

namespace steptape::detail::train {

/// Returns nothing if this LibTorch has no such type.
std::optional<at::ScalarType> scalarTypeOf(SafetensorsDType dtype);

/// Returns nothing if the format has no such type.
std::optional<SafetensorsDType> safetensorsDTypeOf(at::ScalarType type);

}  // namespace steptape::detail::train
