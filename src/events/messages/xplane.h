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

namespace steptape::detail::events {

// A profile for XProf, TensorBoard's profile page, as plain structs:
//
//     XSpace ── XPlane ─┬─ XLine ── XEvent ── XStat
//     a file    a clock │  a row    a span    an argument
//               domain  └─ names of events and stats, referred to by number
//
// xplane_encoder.h writes profiles. These structs do not depend on how XProf interprets names and
// numbers.

/// A text that is the name of the stat with this number. It saves bytes if many events repeat a
/// text.
struct XStatReference {
  std::int64_t id = 0;
};
inline bool operator==(XStatReference a, XStatReference b) noexcept {
  return a.id == b.id;
}

/// Bytes that are no text, such as an encoded message.
struct XStatBytes {
  std::string bytes;
};
inline bool operator==(const XStatBytes& a, const XStatBytes& b) noexcept {
  return a.bytes == b.bytes;
}

/// Readers distinguish the two integer types.
using XStatValue =
    std::variant<std::int64_t, std::uint64_t, double, XStatReference, std::string, XStatBytes>;

struct XStat {
  std::int64_t id = 0;  ///< Key in XPlane::statNames.
  XStatValue value;
};

struct XEvent {
  std::int64_t nameId = 0;       ///< Key in XPlane::eventNames.
  std::int64_t offsetPicos = 0;  ///< Relative to XLine::timestampNanos.
  std::int64_t durationPicos = 0;
  std::vector<XStat> stats;
};

struct XEventName {
  std::string name;
  std::string displayName = {};   ///< For display; empty: use `name`.
  std::vector<XStat> stats = {};  ///< For every event of this name.
};

struct XLine {
  std::int64_t id = 0;
  std::string name;
  std::int64_t timestampNanos = 0;
  /// Encoded; see decodeXEvent(). Views of the bytes that were decoded.
  std::vector<std::string_view> events;
};

struct STEPTAPE_EXPORT XPlane {
  std::int64_t id = 0;
  std::string name;
  std::vector<XLine> lines;
  std::map<std::int64_t, XEventName> eventNames;
  std::map<std::int64_t, std::string> statNames;
  std::vector<XStat> stats;  ///< Stats of the plane itself.

  /// Returns the text of a stat: its own, or the text that it refers to; empty if it has none,
  /// also if it has bytes.
  std::string_view text(const XStat& stat) const;
};

struct XSpace {
  std::vector<XPlane> planes;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
  std::vector<std::string> hostNames;
};

/// Decodes a file, except its events.
///
/// @param bytes Must outlive `*space`.
/// @return  kDataLoss if `bytes` is not such a message; `*space` is then unspecified.
/// @threads Thread-safe.
/// @cost    16 bytes per event in addition to `bytes`.
/// @source  tsl/profiler/protobuf/xplane.proto of OpenXLA
STEPTAPE_EXPORT Status decodeXSpace(std::string_view bytes, XSpace* space);

/// Decodes one of XLine::events. An event with a number of occurrences instead of a time has offset
/// 0.
///
/// @return  kDataLoss if it is not such a message; `*event` is then unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeXEvent(std::string_view bytes, XEvent* event);

}  // namespace steptape::detail::events
