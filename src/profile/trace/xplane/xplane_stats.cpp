// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/xplane/xplane_stats.h"

#include <algorithm>
#include <variant>

namespace steptape::detail::profile {

std::int64_t statInteger(const events::XStatValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) {
    return static_cast<std::int64_t>(*number);
  }
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? *number : 0;
}

double statNumber(const events::XStatValue& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr ? *number : static_cast<double>(statInteger(value));
}

const events::XStat* findStat(const std::vector<events::XStat>& stats, std::int64_t id) {
  const auto found = std::find_if(stats.begin(), stats.end(),
                                  [&](const events::XStat& stat) { return stat.id == id; });
  return found != stats.end() ? &*found : nullptr;
}

std::optional<std::int64_t> statInteger(const events::XEvent& event, std::int64_t id) {
  const events::XStat* const stat = findStat(event.stats, id);
  return stat != nullptr ? std::optional(statInteger(stat->value)) : std::nullopt;
}

std::string statText(const events::XPlane& plane, const std::vector<events::XStat>& stats,
                     std::int64_t id) {
  const events::XStat* const stat = findStat(stats, id);
  return stat != nullptr ? std::string(plane.text(*stat)) : "";
}

}  // namespace steptape::detail::profile
