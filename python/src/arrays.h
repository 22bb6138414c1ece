// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <utility>
#include <vector>

namespace steptape::python {

namespace nb = nanobind;

/// Returns a read-only numpy array over `count` elements that `owner` keeps alive.
///
/// @param stride From one element to the next. @units Elements.
/// @cost  No copy.
template <typename T, typename Owner>
nb::object arrayOf(const T* data, std::size_t count, std::shared_ptr<Owner> owner,
                   std::int64_t stride = 1) {
  using Keeper = std::shared_ptr<Owner>;
  const nb::capsule keep(new Keeper(std::move(owner)),
                         [](void* keeper) noexcept { delete static_cast<Keeper*>(keeper); });
  return nb::cast(nb::ndarray<nb::numpy, const T>(data, {count}, keep, {stride}));
}

/// Returns a read-only numpy array that owns `numbers`.
template <typename T>
nb::object arrayOf(std::vector<T> numbers) {
  const auto owner = std::make_shared<const std::vector<T>>(std::move(numbers));
  return arrayOf(owner->data(), owner->size(), owner);
}

}  // namespace steptape::python
