// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/value_notes.h"

#include "process/blackbox/state_words.h"

namespace steptape::detail::process {

std::uint32_t ValueNotes::add(std::string_view tag, std::string_view directory) noexcept {
  for (std::uint32_t i = 0; i < state_.values.size(); ++i) {
    state_layout::Value& value = state_.values[i];
    if (value.tag[0] == '\0') {
      const SharedStore store(value.sequence);
      storeText(value.directory, directory);
      storeText(value.tag, tag);
      return i;
    }
  }
  __atomic_add_fetch(&state_.counters.valuesWithoutRoom, 1, __ATOMIC_RELAXED);
  return kNoPlace;
}

void ValueNotes::replace(std::uint32_t number, std::string_view tag,
                         std::string_view directory) noexcept {
  state_layout::Value& value = state_.values[number];
  if (const SharedStore store{value.sequence}) {
    storeText(value.directory, directory);
    storeText(value.tag, tag);
    storeWord(value.flags, 0);
    storeWord(value.wall, 0);
  }
}

void ValueNotes::note(std::uint32_t number, const TagValues& values) noexcept {
  if (number >= state_.values.size()) {
    return;
  }
  state_layout::Value& value = state_.values[number];
  if (const SharedStore store{value.sequence}) {
    storeSigned(value.step, values.step);
    storeFloat(value.value, values.value);
    storeDouble(value.wall, values.wall);
    storeWord(value.flags, (values.hasFinite ? state_layout::kHasFinite : 0) |
                               (values.hasNonFinite ? state_layout::kHasNonFinite : 0));
    storeSigned(value.finiteStep, values.finiteStep);
    storeFloat(value.finiteValue, values.finiteValue);
    storeSigned(value.firstNonFiniteStep, values.firstNonFiniteStep);
  }
}

}  // namespace steptape::detail::process
