// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "steptape/base/export.h"
#include "steptape/process/zone.h"

namespace steptape::detail::process {

/// A thread's own copy of the name table, so that looking up a known name takes no lock.
///
/// @threads Not thread-safe: one thread at a time.
class NameCache {
 public:
  /// Returns the number of the name, or 0 if there is no memory for a new name.
  std::uint16_t idOf(SpanKind kind, const char* text) noexcept {
    // Most names are literals or belong to an operator's schema, so their address identifies them.
    // Names made at run time reuse addresses; the texts are therefore compared as well.
    const Slot& slot = slots_[(reinterpret_cast<std::uintptr_t>(text) >> 3) % kSlots];
    if (slot.address == text && slot.kind == kind && std::strcmp(slot.text, text) == 0) {
      return slot.id;
    }
    return find(kind, text);
  }

 private:
  static constexpr std::size_t kSlots = 1024;
  struct Slot {
    const char* address = nullptr;
    const char* text = nullptr;  // the name table's copy, which is permanent
    std::uint16_t id = 0;
    SpanKind kind = SpanKind::kZone;
  };

  STEPTAPE_EXPORT std::uint16_t find(SpanKind kind, const char* text) noexcept;

  std::array<Slot, kSlots> slots_;
  std::array<std::unordered_map<std::string_view, std::uint16_t>, kSpanKinds> ids_;
};

class StatePage;

/// Adds the names that `page` does not have; internSpanName() adds later ones.
void copySpanNamesTo(StatePage* page);

/// Returns the zone's color as 0xRRGGBB, or 0 if it has none.
STEPTAPE_EXPORT std::uint32_t spanColor(std::uint16_t nameId);
/// Sets the zone's color.
/// @param rgb 0 leaves the color unchanged.
void setSpanColor(std::uint16_t nameId, std::uint32_t rgb) noexcept;

}  // namespace steptape::detail::process
