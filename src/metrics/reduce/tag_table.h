// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace steptape::detail::metrics {

/// Numbers the tags of one writer from 0, in the order in which they were first seen.
class TagTable {
 public:
  /// Fastest for the tag that was first seen after the previous one: programs use their metrics in
  /// the same order at every step.
  std::uint32_t idOf(std::string_view tag) {
    if (next_ >= names_.size()) {
      next_ = 0;
    }
    if (next_ >= names_.size() || names_[next_] != tag) {
      next_ = lookUp(tag);
    }
    return next_++;
  }
  const std::string& nameOf(std::uint32_t id) const { return names_[id]; }

 private:
  std::uint32_t lookUp(std::string_view tag) {
    const auto known = idByName_.find(tag);
    if (known != idByName_.end()) {
      return known->second;
    }
    const auto id = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back(tag);
    try {
      idByName_.emplace(names_.back(), id);
    } catch (...) {
      names_.pop_back();  // a name without an index entry would get a second number
      throw;
    }
    return id;
  }

  std::deque<std::string> names_;  // a deque never moves its strings: the map's keys point to them
  std::unordered_map<std::string_view, std::uint32_t> idByName_;
  std::uint32_t next_ = 0;  // the expected tag
};

}  // namespace steptape::detail::metrics
