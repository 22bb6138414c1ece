// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/xplane/xplane_environment.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "base/json_text.h"
#include "profile/trace/chrome/json_check.h"
#include "profile/trace/xplane/xplane_clock.h"
#include "profile/trace/xplane/xplane_stats.h"
#include "profile/trace/xplane/xprof_names.h"

namespace steptape::detail::profile {
namespace {

/// Returns bytes as text, in the form that messages in JSON have them.
/// @source RFC 4648, section 4
std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

/// Returns a stat as JSON. The texts of our own files are JSON, those of others any text.
std::string jsonOf(const events::XPlane& plane, const events::XStat& stat, bool isOurs) {
  if (const auto* bytes = std::get_if<events::XStatBytes>(&stat.value)) {
    return base::jsonString(base64(bytes->bytes));
  }
  if (const auto* number = std::get_if<std::uint64_t>(&stat.value)) {
    return std::to_string(*number);
  }
  if (const auto* number = std::get_if<std::int64_t>(&stat.value)) {
    return std::to_string(*number);
  }
  if (const auto* number = std::get_if<double>(&stat.value)) {
    return base::jsonNumber(*number);
  }
  const std::string_view text = plane.text(stat);
  return isOurs ? validJson(text) : base::jsonString(text);
}

}  // namespace

StatedXPlaneTimes readXPlaneEnvironment(const events::XPlane& plane, Trace* trace) {
  StatedXPlaneTimes times;
  const bool isOurs = StatIds(plane).of(kWindowStartStat) >= 0;
  const auto timeOf = [](std::int64_t number) {
    return std::clamp<std::int64_t>(number, 0, kMaxUnixNanos);
  };
  for (const events::XStat& stat : plane.stats) {
    const auto found = plane.statNames.find(stat.id);
    const std::string name = found != plane.statNames.end() ? found->second : "";
    const std::int64_t number = statInteger(stat.value);
    if (name == kProfileStartStat) {
      times.profileStart = timeOf(number);
    } else if (name == kWindowStartStat) {
      times.windowStart = timeOf(number);
    } else if (name == kProfileStopStat) {
      times.profileStop = timeOf(number);
    } else if (name == kRankStat) {
      trace->rank = static_cast<int>(number);
    } else if (name == kWorldSizeStat) {
      trace->worldSize = static_cast<int>(number);
    } else if (name == kProcessIdStat) {
      trace->processId = number;
    } else if (name == kProcessNameStat) {
      trace->processName = plane.text(stat);
    } else if (name == kDroppedStat) {
      trace->dropped += static_cast<std::uint64_t>(number);
    } else {
      trace->metadata.emplace_back(name, jsonOf(plane, stat, isOurs));
    }
  }
  return times;
}

}  // namespace steptape::detail::profile
