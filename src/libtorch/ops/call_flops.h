// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>

namespace steptape::detail::libtorch {

/// Returns the floating-point operations of one call of matrix products, convolutions and
/// attention, forward and backward. A multiplication and an addition are two operations. Returns 0
/// for other operators, including those that call one of these, which is counted itself.
///
/// @threads Thread-safe.
/// @source  The number of multiplications in each operator's definition.
double callFlops(std::string_view name, c10::ArrayRef<const c10::IValue> inputs);

}  // namespace steptape::detail::libtorch
