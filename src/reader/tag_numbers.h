// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace steptape::detail {

/// Numbers tags from 0 in the order of their first appearance.
///
/// @threads Not thread-safe: one thread at a time.
class TagNumbers {
 public:
  /// @return the number of `tag`; size() grows if it is new.
  /// @cost   No hashing where tags come in the order in which they came before.
  std::uint32_t find(std::string_view tag) {
    // Programs log the same tags in the same order at every step.
    if (!successor_.empty()) {
      const std::uint32_t expected = successor_[last_];
      if (names_[expected] == tag) {
        return last_ = expected;
      }
    }
    const std::uint32_t number = look(tag);
    successor_[last_] = number;
    return last_ = number;
  }

  std::size_t size() const { return names_.size(); }
  const std::string& name(std::uint32_t number) const { return names_[number]; }

 private:
  std::uint32_t look(std::string_view tag) {
    if (const auto known = numberOf_.find(tag); known != numberOf_.end()) {
      return known->second;
    }
    const auto number = static_cast<std::uint32_t>(names_.size());
    numberOf_.emplace(names_.emplace_back(tag), number);
    successor_.push_back(0);
    return number;
  }

  std::deque<std::string> names_;  // whose elements stay where they are
  std::unordered_map<std::string_view, std::uint32_t> numberOf_;
  std::vector<std::uint32_t> successor_;  // of each tag: that which followed it last
  std::uint32_t last_ = 0;
};

}  // namespace steptape::detail
