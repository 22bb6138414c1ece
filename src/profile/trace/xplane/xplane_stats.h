// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "events/messages/xplane.h"

namespace steptape::detail::profile {

/// Numbers of the stats of a plane by their names.
class StatIds {
 public:
  explicit StatIds(const events::XPlane& plane) {
    for (const auto& [id, name] : plane.statNames) {
      byName_.emplace(name, id);
    }
  }
  /// Returns -1 if the plane has no such stat.
  std::int64_t of(const char* name) const {
    const auto found = byName_.find(name);
    return found != byName_.end() ? found->second : -1;
  }

 private:
  std::map<std::string, std::int64_t, std::less<>> byName_;
};

/// Returns the value as an integer; 0 if it is none.
std::int64_t statInteger(const events::XStatValue& value);
double statNumber(const events::XStatValue& value);

/// Returns the stat with this number, or null.
const events::XStat* findStat(const std::vector<events::XStat>& stats, std::int64_t id);
/// Returns nothing if there is no such stat.
std::optional<std::int64_t> statInteger(const events::XEvent& event, std::int64_t id);
/// Returns "" if there is no such stat, or if it has no text.
std::string statText(const events::XPlane& plane, const std::vector<events::XStat>& stats,
                     std::int64_t id);

}  // namespace steptape::detail::profile
