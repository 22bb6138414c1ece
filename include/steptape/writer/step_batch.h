// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/writer/scalar_tag.h"
#include "steptape/writer/scalar_traits.h"

namespace steptape {

class WriterCore;

/// The scalars of one step, with one time stamp and in one Event. Made by SummaryWriter::atStep();
/// what was added is handed over when the batch is destroyed.
///
/// @threads Not thread-safe: the thread that made it, and shorter-lived than its writer.
/// @cost    One clock read for the batch, then a 32-byte store per scalar.
class STEPTAPE_EXPORT StepBatch {
 public:
  ~StepBatch();
  StepBatch(const StepBatch&) = delete;
  StepBatch& operator=(const StepBatch&) = delete;

  void add(ScalarTag tag, double value);
  /// @throws Error(kInvalidArgument) if `tag` is empty.
  void add(std::string_view tag, double value);
  template <typename T, typename = RequiresScalarTraits<T>>
  void add(ScalarTag tag, const T& value) {
    add(tag, ScalarTraits<T>::value(value));
  }
  template <typename T, typename = RequiresScalarTraits<T>>
  void add(std::string_view tag, const T& value) {
    add(tag, ScalarTraits<T>::value(value));
  }

 private:
  friend class SummaryWriter;
  StepBatch(WriterCore* core, std::int64_t step);

  WriterCore* core_;
  std::int64_t step_;
  std::uint64_t ticks_;
  std::uint64_t wallTime_;
};

}  // namespace steptape
