// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "steptape/profile/record.h"

namespace steptape::detail {

/// A thread's own copy of the name table, so that a known name costs no lock.
///
/// @threads Not thread-safe: one thread at a time.
class NameCache {
 public:
  std::uint32_t idOf(ProfileKind kind, const char* text) {
    // Most names are literals or belong to an operator's schema: the address finds them. It proves
    // nothing, since names made at run time reuse addresses, so the text is compared as well.
    Slot& slot = slots_[(reinterpret_cast<std::uintptr_t>(text) >> 3) % kSlots];
    if (slot.address == text && slot.kind == kind && std::strcmp(slot.text, text) == 0) {
      return slot.id;
    }
    slot = find(kind, text);
    return slot.id;
  }

 private:
  static constexpr std::size_t kSlots = 1024;
  struct Slot {
    const char* address = nullptr;
    const char* text = nullptr;  // the name table's copy, which stays
    std::uint32_t id = 0;
    ProfileKind kind = ProfileKind::kZone;
  };

  Slot find(ProfileKind kind, const char* text) {
    auto& ids = ids_[static_cast<std::size_t>(kind)];
    const auto known = ids.find(text);
    if (known != ids.end()) {
      return {text, known->first.data(), known->second, kind};
    }
    const std::uint32_t id = internProfileName(kind, text);
    const std::string& name = profileName(id);
    if (name == text) {  // not so once the table is full, when many texts share a name
      ids.emplace(name, id);
    }
    return {text, name.c_str(), id, kind};
  }

  std::array<Slot, kSlots> slots_;
  std::array<std::unordered_map<std::string_view, std::uint32_t>, kProfileKinds> ids_;
};

}  // namespace steptape::detail
