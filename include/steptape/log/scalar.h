// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "steptape/values/tensor_view.h"

namespace steptape {

namespace detail::log {
class DeferredScalars;

/// One scalar of a batch.
struct BatchedScalar {
  std::uint32_t series;
  float value;
};
}  // namespace detail::log

/// A handle of a scalar series of one SummaryWriter, for the fastest addScalar().
///
/// Cheap to copy. Valid during the lifetime of its writer. Passed to another writer, it still logs
/// to its own series.
class ScalarTag {
 public:
  /// A handle of no series: adding a value to it does nothing.
  ScalarTag() = default;

 private:
  friend class detail::log::DeferredScalars;
  friend class StepBatch;
  friend class SummaryWriter;
  explicit ScalarTag(std::uint32_t id) : id_(id) {}

  std::uint32_t id_ = 0;
};

template <typename T>
struct ScalarTraits;

namespace detail::log {
template <typename T, typename = void>
inline constexpr bool kHasInFlight = false;
template <typename T>
inline constexpr bool
    kHasInFlight<T, std::void_t<decltype(ScalarTraits<T>::inFlight(std::declval<const T&>()))>> =
        true;
}  // namespace detail::log

/// Lets addScalar() take a type that holds one number: specialize it with
/// `static double value(const T&)`. `<steptape/torch.h>` does so for at::Tensor.
///
/// For numbers that may be on a device, add
/// `static std::optional<TensorView> inFlight(const T&)`, so that the caller does not wait for the
/// device. It returns a view of one element that is being copied to main memory, or std::nullopt
/// if value() does not wait.
template <typename T>
struct ScalarTraits;

/// Returns `ScalarTraits<T>::inFlight(scalar)`, or std::nullopt if there is no such function.
template <typename T>
std::optional<TensorView> scalarInFlight(const T& scalar) {
  if constexpr (detail::log::kHasInFlight<T>) {
    return ScalarTraits<T>::inFlight(scalar);
  } else {
    return std::nullopt;
  }
}

/// Disables an overload unless `T` has ScalarTraits.
template <typename T>
using RequiresScalarTraits = decltype(ScalarTraits<T>::value(std::declval<const T&>()));

/// A number, or a value of any type with ScalarTraits, such as at::Tensor with
/// `<steptape/torch.h>`. A number on a device is copied in the background: the caller does not
/// wait.
class ScalarValue {
 public:
  ScalarValue(double value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  /// Takes a number from `scalar`. Throws what ScalarTraits throws.
  template <typename T, typename = RequiresScalarTraits<T>>
  ScalarValue(const T& scalar)  // NOLINT(google-explicit-constructor)
      : inFlight_(scalarInFlight(scalar)), value_(inFlight_ ? 0 : ScalarTraits<T>::value(scalar)) {}

  /// Returns the number that is being copied from a device; std::nullopt if number() is known.
  const std::optional<TensorView>& inFlight() const { return inFlight_; }
  double number() const { return value_; }

 private:
  std::optional<TensorView> inFlight_;
  double value_ = 0;
};

}  // namespace steptape
