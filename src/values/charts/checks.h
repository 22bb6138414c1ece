// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "steptape/values/tensor_view.h"

namespace steptape::figure {

// Checks of arguments of plots. Error messages start with `where`, such as "Figure::line".

/// @throws Error(kInvalidArgument) unless `view`, named `name`, has rank 1.
void checkRank1(const TensorView& view, const std::string& name, const std::string& where);
/// @throws Error(kInvalidArgument) unless both have rank 1 and the same length.
void checkEqualLengths(const TensorView& a, const std::string& aName, const TensorView& b,
                       const std::string& bName, const std::string& where);
/// @throws Error(kInvalidArgument) unless the list `name` is empty or has `expected` entries, one
///         per `what`.
void checkCount(std::size_t count, std::int64_t expected, const std::string& name,
                const std::string& what, const std::string& where);

}  // namespace steptape::figure
