// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>

namespace steptape::detail::log {

/// Chooses which points of a series to keep, each with the same probability, and always the last
/// one. Chooses the same points as TensorBoard for the same series.
///
/// @source tensorboard/backend/event_processing/reservoir.py at 2.21
class Reservoir {
 public:
  /// REQUIRES: at least 1.
  explicit Reservoir(std::size_t maxPoints);

  /// Makes room for one more point, which the caller then appends.
  ///
  /// @param size The number of points that are kept now.
  /// @return the index of the point to remove first, if any.
  std::optional<std::size_t> makeRoom(std::size_t size);

  /// Records that a purge has left `after` of `before` kept points.
  void purged(std::size_t before, std::size_t after);

 private:
  std::uint64_t randomUpTo(std::uint64_t last);

  std::size_t maxPoints_;
  std::uint64_t seen_ = 0;
  std::mt19937 random_;
};

}  // namespace steptape::detail::log
