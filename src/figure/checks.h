// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "steptape/summary/tensor_view.h"

namespace steptape::figure {

// What plots ask of their arguments. `where` begins the message, such as "figure: line".

[[noreturn]] void reject(const std::string& where, const std::string& what);

/// @throws Error(kInvalidArgument) unless `view`, called `name`, has rank 1.
void checkRank1(const TensorView& view, const std::string& name, const std::string& where);
/// @throws Error(kInvalidArgument) unless both are equally long.
void checkEqualLengths(const TensorView& a, const std::string& aName, const TensorView& b,
                       const std::string& bName, const std::string& where);
/// @throws Error(kInvalidArgument) unless the list `name` is empty or has `wanted` entries, one per
///         `what`.
void checkCount(std::size_t count, std::int64_t wanted, const std::string& name,
                const std::string& what, const std::string& where);

}  // namespace steptape::figure
