// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/values/tensor_view.h"

namespace steptape::figure {

/// Returns a tensor that outlives changes by the caller: a copy, or, if the elements are in flight,
/// the view that owns them.
TensorView keep(const TensorView& view);

/// Returns the elements in row-major order; waits for elements in flight.
std::vector<double> numbersOf(const TensorView& view);

}  // namespace steptape::figure
