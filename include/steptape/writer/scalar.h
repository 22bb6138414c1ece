// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "steptape/summary/tensor_view.h"

namespace steptape {

namespace detail {
class DeferredScalars;

/// One scalar of a batch, as it travels.
struct BatchedScalar {
  std::uint32_t series;
  float value;
};
}  // namespace detail

/// A scalar series of one SummaryWriter, looked up once: the fast way to addScalar().
///
/// Copy it freely. Valid as long as its writer; used on another writer, it still logs to its own.
class ScalarTag {
 public:
  /// Names no series; adding to it does nothing.
  ScalarTag() = default;

 private:
  friend class detail::DeferredScalars;
  friend class StepBatch;
  friend class SummaryWriter;
  explicit ScalarTag(std::uint32_t id) : id_(id) {}

  std::uint32_t id_ = 0;
};

template <typename T>
struct ScalarTraits;

namespace detail {
template <typename T, typename = void>
inline constexpr bool kHasInFlight = false;
template <typename T>
inline constexpr bool
    kHasInFlight<T, std::void_t<decltype(ScalarTraits<T>::inFlight(std::declval<const T&>()))>> =
        true;
}  // namespace detail

/// Specialize for a type of another library that holds one number to let addScalar() take it:
/// `static double value(const T&)`. <steptape/torch.h> does so for at::Tensor.
///
/// Where a number may lie on a device, whose queue the caller should not wait for, add
/// `static std::optional<TensorView> inFlight(const T&)`: a view of one element on its way to main
/// memory, or nothing where value() need not wait.
template <typename T>
struct ScalarTraits;

/// ScalarTraits<T>::inFlight(scalar), or nothing if the traits have no such function.
template <typename T>
std::optional<TensorView> scalarInFlight(const T& scalar) {
  if constexpr (detail::kHasInFlight<T>) {
    return ScalarTraits<T>::inFlight(scalar);
  } else {
    return std::nullopt;
  }
}

/// Removes an overload unless `T` has ScalarTraits.
template <typename T>
using RequiresScalarTraits = decltype(ScalarTraits<T>::value(std::declval<const T&>()));

/// A number, or any type with ScalarTraits, such as at::Tensor once <steptape/torch.h> is included.
/// A value on a device is copied in the background: the caller does not wait for the device.
class ScalarValue {
 public:
  ScalarValue(double value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  /// @throws as ScalarTraits<T>.
  template <typename T, typename = RequiresScalarTraits<T>>
  ScalarValue(const T& scalar)  // NOLINT(google-explicit-constructor)
      : inFlight_(scalarInFlight(scalar)), value_(inFlight_ ? 0 : ScalarTraits<T>::value(scalar)) {}

  /// The number on its way from a device; nothing if number() is known.
  const std::optional<TensorView>& inFlight() const { return inFlight_; }
  double number() const { return value_; }

 private:
  std::optional<TensorView> inFlight_;
  double value_ = 0;
};

}  // namespace steptape
