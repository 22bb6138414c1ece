// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "steptape/base/export.h"
#include "steptape/span/span_record.h"

namespace steptape::detail {

/// A thread's own copy of the name table, so that a known name costs no lock.
///
/// @threads Not thread-safe: one thread at a time.
class NameCache {
 public:
  /// @return 0 if there is no memory for a new name.
  std::uint16_t idOf(SpanKind kind, const char* text) noexcept {
    // Most names are literals or belong to an operator's schema: the address finds them. It proves
    // nothing, since names made at run time reuse addresses, so the text is compared as well.
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
    const char* text = nullptr;  // the name table's copy, which stays
    std::uint16_t id = 0;
    SpanKind kind = SpanKind::kZone;
  };

  STEPTAPE_EXPORT std::uint16_t find(SpanKind kind, const char* text) noexcept;

  std::array<Slot, kSlots> slots_;
  std::array<std::unordered_map<std::string_view, std::uint16_t>, kSpanKinds> ids_;
};

/// The color that a zone was given, as 0xRRGGBB; 0: none.
STEPTAPE_EXPORT std::uint32_t spanColor(std::uint16_t nameId);
/// @param rgb 0: leaves it as it is.
void setSpanColor(std::uint16_t nameId, std::uint32_t rgb) noexcept;

}  // namespace steptape::detail
