// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/ranks/testing.h"

#include "base/whole_file.h"
#include "events/messages/xplane.h"
#include "profile/trace/xplane/xplane_trace.h"

#include <gtest/gtest.h>

namespace steptape {

/// An event of a profile, with names and texts in place of their numbers.
struct ProfileEvent {
  std::string name;
  std::string displayName;
  std::int64_t start = 0;  ///< In picoseconds.
  std::int64_t end = 0;
  std::map<std::string, detail::events::XStatValue> stats;      ///< Of the event itself.
  std::map<std::string, detail::events::XStatValue> nameStats;  ///< Of all events with its name.

  bool has(const std::string& stat) const { return stats.count(stat) != 0; }
  std::string text(const std::string& stat) const {
    const auto found = stats.find(stat);
    const auto* text = found != stats.end() ? std::get_if<std::string>(&found->second) : nullptr;
    return text != nullptr ? *text : "(none)";
  }
  /// Fails the test if it is missing or unsigned.
  std::int64_t integer(const std::string& stat) const {
    const auto found = stats.find(stat);
    const auto* number = found != stats.end() ? std::get_if<std::int64_t>(&found->second) : nullptr;
    EXPECT_NE(number, nullptr) << name << " has no signed " << stat;
    return number != nullptr ? *number : -1;
  }
};

struct ProfileLine {
  std::int64_t id = 0;
  std::string name;
  std::vector<ProfileEvent> events;

  /// Returns the displayed names.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const ProfileEvent& event : events) {
      names.push_back(event.displayName.empty() ? event.name : event.displayName);
    }
    return names;
  }
};

/// The file that writeXPlane() writes of a trace.
class ProfileFile {
 public:
  explicit ProfileFile(const Trace& trace, const detail::profile::XPlaneOptions& options = {}) {
    const testing::TempDir dir;
    const std::string path = dir.string() + "/host.xplane.pb";
    EXPECT_TRUE(detail::profile::writeXPlane(path, trace, options).ok());
    EXPECT_TRUE(detail::base::readWholeFile(path, bytes_).ok());
    EXPECT_TRUE(detail::events::decodeXSpace(bytes_, &space_).ok());
    for (const detail::events::XPlane& plane : space_.planes) {
      for (const detail::events::XLine& line : plane.lines) {
        lines_[plane.name].push_back(decode(line, plane));
      }
    }
  }

  const detail::events::XSpace& space() const { return space_; }
  const std::string& bytes() const { return bytes_; }

  const std::vector<ProfileLine>& lines(const std::string& plane) const {
    static const std::vector<ProfileLine> kNone;
    const auto found = lines_.find(plane);
    return found != lines_.end() ? found->second : kNone;
  }

  /// Returns the line with this number; an empty one if there is none.
  const ProfileLine& line(std::int64_t id, const std::string& plane = "/host:CPU") const {
    static const ProfileLine kNone;
    for (const ProfileLine& line : lines(plane)) {
      if (line.id == id) {
        return line;
      }
    }
    return kNone;
  }

  /// Returns a stat of a plane as text; "(none)" if it has none.
  std::string planeText(const std::string& planeName, const std::string& stat) const {
    for (const detail::events::XPlane& plane : space_.planes) {
      for (const detail::events::XStat& each : plane.stats) {
        if (plane.name == planeName && plane.statNames.at(each.id) == stat) {
          return textOf(each, plane);
        }
      }
    }
    return "(none)";
  }

 private:
  static std::string textOf(const detail::events::XStat& stat,
                            const detail::events::XPlane& plane) {
    if (const auto* number = std::get_if<std::int64_t>(&stat.value)) {
      return std::to_string(*number);
    }
    if (const auto* number = std::get_if<std::uint64_t>(&stat.value)) {
      return std::to_string(*number) + "u";
    }
    return std::string(plane.text(stat));
  }

  static std::map<std::string, detail::events::XStatValue> decode(
      const std::vector<detail::events::XStat>& stats, const detail::events::XPlane& plane) {
    std::map<std::string, detail::events::XStatValue> named;
    for (const detail::events::XStat& stat : stats) {
      const bool isReference = std::holds_alternative<detail::events::XStatReference>(stat.value);
      named[plane.statNames.at(stat.id)] =
          isReference ? detail::events::XStatValue(std::string(plane.text(stat))) : stat.value;
    }
    return named;
  }

  static ProfileLine decode(const detail::events::XLine& line,
                            const detail::events::XPlane& plane) {
    EXPECT_EQ(line.timestampNanos, 0);
    ProfileLine decoded{line.id, line.name, {}};
    for (const std::string_view bytes : line.events) {
      detail::events::XEvent event;
      EXPECT_TRUE(detail::events::decodeXEvent(bytes, &event).ok());
      const detail::events::XEventName& name = plane.eventNames.at(event.nameId);
      decoded.events.push_back({name.name, name.displayName, event.offsetPicos,
                                event.offsetPicos + event.durationPicos, decode(event.stats, plane),
                                decode(name.stats, plane)});
    }
    return decoded;
  }

  std::string bytes_;
  detail::events::XSpace space_;
  std::map<std::string, std::vector<ProfileLine>> lines_;
};

}  // namespace steptape
