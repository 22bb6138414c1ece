// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

}  // namespace steptape
