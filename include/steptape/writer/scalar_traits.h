// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

namespace steptape {

/// Specialise for a type of another library that holds one number to let addScalar() take it:
/// `static double value(const T&)`. <steptape/torch.h> does so for at::Tensor.
template <typename T>
struct ScalarTraits;

/// Removes an overload unless `T` has ScalarTraits.
template <typename T>
using RequiresScalarTraits = decltype(ScalarTraits<T>::value(std::declval<const T&>()));

}  // namespace steptape
