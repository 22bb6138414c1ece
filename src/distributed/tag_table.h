// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace steptape::detail {

/// Numbers the tags of one writer from 0, in the order in which they were first seen.
class TagTable {
 public:
  std::uint32_t idOf(std::string_view tag) {
    const auto known = idByName_.find(tag);
    if (known != idByName_.end()) {
      return known->second;
    }
    const auto id = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back(tag);
    idByName_.emplace(names_.back(), id);
    return id;
  }
  const std::string& nameOf(std::uint32_t id) const { return names_[id]; }

 private:
  std::deque<std::string> names_;  // A deque never moves its strings: the map's keys point to them.
  std::unordered_map<std::string_view, std::uint32_t> idByName_;
};

}  // namespace steptape::detail
