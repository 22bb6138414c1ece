// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>

namespace steptape::detail {

/// Chooses which of a series' points are kept, each with the same probability, and always the last.
/// Gives the same choice as TensorBoard for the same series.
///
/// @source tensorboard/backend/event_processing/reservoir.py at 2.21
class Reservoir {
 public:
  /// REQUIRES: at least 1.
  explicit Reservoir(std::size_t maxPoints);

  /// Makes room for a further point, which the caller then appends.
  ///
  /// @param size The points that are kept now.
  /// @return the one of them to take out first.
  std::optional<std::size_t> makeRoom(std::size_t size);

  /// Notes that of `before` kept points a purge has left `after`.
  void purged(std::size_t before, std::size_t after);

 private:
  std::uint64_t randomUpTo(std::uint64_t last);

  std::size_t maxPoints_;
  std::uint64_t seen_ = 0;
  std::mt19937 random_;
};

}  // namespace steptape::detail
