// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>

namespace steptape::detail::libtorch {

/// Returns the number of a call's details: shapes and types of its inputs, operations, bytes,
/// module.
///
/// @param nameId Of the span.
/// @return  0 if there is no memory for new details.
/// @threads Thread-safe.
/// @cost    Some ns per input, for a call that the thread already knows.
std::uint32_t callDetails(const char* name, std::uint16_t nameId,
                          c10::ArrayRef<const c10::IValue> inputs) noexcept;

}  // namespace steptape::detail::libtorch
