// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace steptape::detail::process {

/// How far a counter went since it was read before.
class CounterRate {
 public:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  /// @param count Unset: not known now.
  /// @return NaN if the count is not known now or was not known before, or went backward, as
  ///         counters of a device do that was reset.
  double difference(std::optional<std::uint64_t> count) {
    const std::optional<std::uint64_t> before = before_;
    before_ = count;
    return count && before && *count >= *before ? static_cast<double>(*count - *before) : kUnknown;
  }

  /// @param seconds Since the call before.
  double perSecond(std::optional<std::uint64_t> count, double seconds) {
    const double by = difference(count);
    return seconds > 0 ? by / seconds : kUnknown;
  }

 private:
  std::optional<std::uint64_t> before_;
};

}  // namespace steptape::detail::process
