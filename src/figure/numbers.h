// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/summary/tensor_view.h"

namespace steptape::figure {

/// The tensor to keep of one that the caller may change: a copy, or, of elements that are still on
/// their way, the view that owns them.
TensorView keep(const TensorView& view);

/// The elements in row-major order; waits for those that are on their way.
std::vector<double> numbersOf(const TensorView& view);

}  // namespace steptape::figure
