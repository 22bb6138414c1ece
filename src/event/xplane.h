// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape {

// A profile in the form of XProf, TensorBoard's profile page, as plain structs:
//
//     XSpace ── XPlane ─┬─ XLine ── XEvent ── XStat
//     a file    a clock │  a row    a span    an argument
//               domain  └─ names of events and stats, which the others refer to by number
//
// For writing there is xplane_encoder.h. What XProf makes of names and numbers is not known here.

/// A text, by the number of the stat whose name it is: what many events repeat takes few bytes.
struct XStatReference {
  std::int64_t id = 0;
};
inline bool operator==(XStatReference a, XStatReference b) noexcept {
  return a.id == b.id;
}

/// Readers tell the two kinds of integers apart.
using XStatValue = std::variant<std::int64_t, std::uint64_t, double, XStatReference, std::string>;

struct XStat {
  std::int64_t id = 0;  ///< Of XPlane::statNames.
  XStatValue value;
};

struct XEvent {
  std::int64_t nameId = 0;       ///< Of XPlane::eventNames.
  std::int64_t offsetPicos = 0;  ///< From XLine::timestampNanos.
  std::int64_t durationPicos = 0;
  std::vector<XStat> stats;
};

struct XEventName {
  std::string name;
  std::string displayName = {};   ///< For people; empty: as `name`.
  std::vector<XStat> stats = {};  ///< Of each event of this name.
};

struct XLine {
  std::int64_t id = 0;
  std::string name;
  std::int64_t timestampNanos = 0;
  /// Encoded; see decodeXEvent(). Lie in the bytes that were decoded.
  std::vector<std::string_view> events;
};

struct STEPTAPE_EXPORT XPlane {
  std::int64_t id = 0;
  std::string name;
  std::vector<XLine> lines;
  std::map<std::int64_t, XEventName> eventNames;
  std::map<std::int64_t, std::string> statNames;
  std::vector<XStat> stats;  ///< Of the plane itself.

  /// The text of a stat: its own, or the one that it refers to; empty if it has none.
  std::string_view text(const XStat& stat) const;
};

struct XSpace {
  std::vector<XPlane> planes;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
  std::vector<std::string> hostNames;
};

/// Decodes a file, all but its events.
///
/// @param bytes Must outlive `*space`.
/// @return kDataLoss if `bytes` is not such a message; `*space` is then unspecified.
/// @threads Thread-safe.
/// @cost    16 bytes an event beside the bytes.
/// @source  tsl/profiler/protobuf/xplane.proto of OpenXLA
STEPTAPE_EXPORT Status decodeXSpace(std::string_view bytes, XSpace* space);

/// Decodes one of XLine::events. An event that says how often something happened instead of when
/// has the offset 0.
///
/// @return kDataLoss if it is not such a message; `*event` is then unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeXEvent(std::string_view bytes, XEvent* event);

}  // namespace steptape
