// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "steptape/base/status.h"

#include "process/blackbox/state_layout.h"

namespace steptape::detail::process {

/// The sections of a file `.state`, of which nothing is trusted.
class StateSections {
 public:
  explicit StateSections(std::string_view bytes) : StateSections(bytes, bytes.size()) {}
  /// For the first bytes of a file that has `fileBytes`.
  StateSections(std::string_view bytes, std::size_t fileBytes)
      : bytes_(bytes), fileBytes_(fileBytes) {}

  /// Reads the table. Call it first.
  /// @return kDataLoss with what was got and expected.
  Status find();

  std::size_t entries(state_layout::SectionId id) const {
    const state_layout::Table::Section* const section = sectionOf(id);
    return section == nullptr ? 0 : static_cast<std::size_t>(section->entries);
  }

  /// Returns an entry; what the bytes lack of it is 0.
  template <typename Entry>
  Entry at(state_layout::SectionId id, std::size_t index = 0) const {
    Entry entry{};
    const state_layout::Table::Section* const section = sectionOf(id);
    if (section != nullptr && index < section->entries) {
      const std::string_view from = bytes_.substr(
          std::min<std::size_t>(section->offset + index * section->entryBytes, bytes_.size()));
      std::memcpy(&entry, from.data(),
                  std::min({std::size_t{section->entryBytes}, sizeof(entry), from.size()}));
    }
    return entry;
  }

  /// Calls `visit` with the offset and the bytes of each entry that is under a sequence lock.
  template <typename Visit>
  void visitLocked(const Visit& visit) const {
    for (const state_layout::Table::Section& section : found_) {
      if (section.id == state_layout::kCounters || section.id == state_layout::kNames) {
        continue;
      }
      for (std::size_t i = 0; i < section.entries; ++i) {
        visit(static_cast<std::size_t>(section.offset) + i * section.entryBytes,
              std::size_t{section.entryBytes});
      }
    }
  }

  const state_layout::Table::Section* sectionOf(state_layout::SectionId id) const {
    for (const state_layout::Table::Section& section : found_) {
      if (section.id == id) {
        return &section;
      }
    }
    return nullptr;
  }

 private:
  std::string_view bytes_;
  std::size_t fileBytes_;
  std::vector<state_layout::Table::Section> found_;
};

}  // namespace steptape::detail::process
