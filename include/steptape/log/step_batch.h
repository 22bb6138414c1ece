// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "steptape/base/export.h"
#include "steptape/log/scalar.h"

namespace steptape {

namespace detail::log {
class WriterCore;
}

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

  StepBatch(detail::log::WriterCore* core, std::int64_t step);
  void add(std::uint32_t series, double value) {
    if (size_ == kMaxScalars) {
      handOver();
    }
    scalars_[size_++] = {series, static_cast<float>(value)};
  }
  std::uint32_t series(std::string_view tag) const;
  void addInFlight(std::uint32_t series, TensorView value);
  void handOver() noexcept;

  detail::log::WriterCore* core_;
  std::int64_t step_;
  std::uint64_t ticks_;
  std::uint64_t wallTime_;
  std::size_t size_ = 0;
  detail::log::BatchedScalar scalars_[kMaxScalars];  // only the first size_ are set
};

}  // namespace steptape
