// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "steptape/base/export.h"
#include "steptape/values/tensor_view.h"

namespace steptape {

namespace detail::log {
class DeferredScalars;
class RunClient;

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

/// Collects scalars of one step, which get one time stamp and are written as one Event.
///
/// SummaryWriter::atStep() makes it. The batch passes its scalars to the writer when it is
/// destroyed, and whenever it holds 64.
///
/// @threads Not thread-safe: only the thread that made it, within the lifetime of its writer.
/// @cost    One clock read and about 30 ns for the batch, plus an 8-byte store per scalar.
class STEPTAPE_EXPORT StepBatch {
 public:
  ~StepBatch();
  StepBatch(const StepBatch&) = delete;
  StepBatch& operator=(const StepBatch&) = delete;

  /// Adds one scalar, stored as IEEE binary32.
  void add(ScalarTag tag, double value) { add(tag.id_, value); }
  /// Adds one scalar, stored as IEEE binary32.
  ///
  /// @throws Error(kInvalidArgument) if `tag` is empty.
  void add(std::string_view tag, double value);
  template <typename T, typename = RequiresScalarTraits<T>>
  void add(ScalarTag tag, const T& value) {
    if (std::optional<TensorView> inFlight = scalarInFlight(value)) {
      addInFlight(tag.id_, std::move(*inFlight));
    } else {
      add(tag, ScalarTraits<T>::value(value));
    }
  }
  template <typename T, typename = RequiresScalarTraits<T>>
  void add(std::string_view tag, const T& value) {
    add(ScalarTag(series(tag)), value);
  }

 private:
  friend class SummaryWriter;
  static constexpr std::size_t kMaxScalars = 64;

  StepBatch(detail::log::RunClient* client, std::int64_t step);
  void add(std::uint32_t series, double value) {
    if (size_ == kMaxScalars) {
      handOver();
    }
    scalars_[size_++] = {series, static_cast<float>(value)};
  }
  std::uint32_t series(std::string_view tag) const;
  void addInFlight(std::uint32_t series, TensorView value);
  void handOver() noexcept;

  detail::log::RunClient* client_;
  std::int64_t step_;
  std::uint64_t ticks_;
  std::uint64_t wallTime_;
  std::size_t size_ = 0;
  detail::log::BatchedScalar scalars_[kMaxScalars];  // only the first size_ are set
};

}  // namespace steptape
