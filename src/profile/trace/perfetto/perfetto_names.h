// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace steptape::detail::profile {

/// Numbers for the texts of one sequence of packets: a text is written once, and its number after
/// that.
///
/// @threads Not thread-safe: one thread at a time.
class PerfettoNames {
 public:
  /// @param field Of InternedData.
  std::uint64_t numberOf(std::uint32_t field, std::string_view text);

  /// Returns the texts that have been given a number since the last call, as fields of
  /// InternedData.
  std::string takeNew() { return std::exchange(new_, {}); }
  bool hasNew() const { return !new_.empty(); }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;  // by the field's character and the text
  std::uint64_t last_ = 0;
  std::size_t bytes_ = 0;  // of numbers_
  std::string new_;
};

}  // namespace steptape::detail::profile
