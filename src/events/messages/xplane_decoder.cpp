// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <utility>

#include "steptape/wire/xplane.pb.h"

#include "base/got_expected.h"
#include "events/messages/parse_message.h"
#include "events/messages/wire_fields.h"
#include "events/messages/xplane.h"

namespace steptape {
namespace {

// Numbers of the repeated fields of proto/steptape/wire/xplane.proto that hold most of a file.
constexpr std::uint64_t kPlanesField = 1;
constexpr std::uint64_t kLinesField = 3;
constexpr std::uint64_t kEventsField = 4;

/// Parses a message except one repeated field that holds most of its bytes; that field is not
/// copied.
///
/// @return false if `bytes` is not such a message.
template <typename Message>
bool parseAllBut(std::uint64_t field, std::string_view bytes, Message* message,
                 std::vector<std::string_view>* found) {
  std::string rest;
  std::size_t size = 0;
  detail::events::forEachField(bytes, [&](const detail::events::WireField& each) {
    size += each.whole.size();
    if (each.number == field && each.hasData) {
      found->push_back(each.data);
    } else {
      rest.append(each.whole);
    }
  });
  return size == bytes.size() && detail::events::parseMessage(rest, message);
}

Status refusal(const char* message, std::string_view bytes) {
  return Status(
      ErrorCode::kDataLoss,
      "xplane: " + detail::base::gotExpected(std::to_string(bytes.size()) + " other bytes",
                                             std::string("a message ") + message));
}

detail::events::XStat decode(const wire::XStat& proto) {
  detail::events::XStat stat;
  stat.id = proto.metadata_id();
  switch (proto.value_case()) {
    case wire::XStat::kDoubleValue:
      stat.value = proto.double_value();
      break;
    case wire::XStat::kUint64Value:
      stat.value = std::uint64_t{proto.uint64_value()};
      break;
    case wire::XStat::kStrValue:
      stat.value = proto.str_value();
      break;
    case wire::XStat::kBytesValue:
      stat.value = detail::events::XStatBytes{proto.bytes_value()};
      break;
    case wire::XStat::kRefValue:
      stat.value = detail::events::XStatReference{static_cast<std::int64_t>(proto.ref_value())};
      break;
    case wire::XStat::kInt64Value:
    case wire::XStat::VALUE_NOT_SET:
      stat.value = std::int64_t{proto.int64_value()};
      break;
  }
  return stat;
}

template <typename Protos>
std::vector<detail::events::XStat> decodeStats(const Protos& protos) {
  std::vector<detail::events::XStat> stats;
  stats.reserve(static_cast<std::size_t>(protos.size()));
  for (const wire::XStat& proto : protos) {
    stats.push_back(decode(proto));
  }
  return stats;
}

bool decodeLine(std::string_view bytes, detail::events::XLine* line) {
  wire::XLine proto;
  if (!parseAllBut(kEventsField, bytes, &proto, &line->events)) {
    return false;
  }
  line->id = proto.id();
  line->name = proto.name();
  line->timestampNanos = proto.timestamp_ns();
  return true;
}

bool decodePlane(std::string_view bytes, detail::events::XPlane* plane) {
  wire::XPlane proto;
  std::vector<std::string_view> lines;
  if (!parseAllBut(kLinesField, bytes, &proto, &lines)) {
    return false;
  }
  plane->id = proto.id();
  plane->name = proto.name();
  for (const wire::XPlane::EventMetadataEntry& entry : proto.event_metadata()) {
    plane->eventNames[entry.key()] = {entry.value().name(), entry.value().display_name(),
                                      decodeStats(entry.value().stats())};
  }
  for (const wire::XPlane::StatMetadataEntry& entry : proto.stat_metadata()) {
    plane->statNames[entry.key()] = entry.value().name();
  }
  plane->stats = decodeStats(proto.stats());
  for (const std::string_view line : lines) {
    if (!decodeLine(line, &plane->lines.emplace_back())) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string_view detail::events::XPlane::text(const detail::events::XStat& stat) const {
  if (const auto* own = std::get_if<std::string>(&stat.value)) {
    return *own;
  }
  if (const auto* reference = std::get_if<detail::events::XStatReference>(&stat.value)) {
    const auto found = statNames.find(reference->id);
    return found != statNames.end() ? std::string_view(found->second) : "";
  }
  return {};
}

Status detail::events::decodeXSpace(std::string_view bytes, detail::events::XSpace* space) {
  wire::XSpace proto;
  std::vector<std::string_view> planes;
  *space = {};
  if (!parseAllBut(kPlanesField, bytes, &proto, &planes)) {
    return refusal("XSpace", bytes);
  }
  space->errors = {proto.errors().begin(), proto.errors().end()};
  space->warnings = {proto.warnings().begin(), proto.warnings().end()};
  space->hostNames = {proto.hostnames().begin(), proto.hostnames().end()};
  for (const std::string_view plane : planes) {
    if (!decodePlane(plane, &space->planes.emplace_back())) {
      return refusal("XPlane", plane);
    }
  }
  return Status();
}

Status detail::events::decodeXEvent(std::string_view bytes, detail::events::XEvent* event) {
  wire::XEvent proto;
  if (!detail::events::parseMessage(bytes, &proto)) {
    return refusal("XEvent", bytes);
  }
  event->nameId = proto.metadata_id();
  event->offsetPicos = proto.offset_ps();
  event->durationPicos = proto.duration_ps();
  event->stats = decodeStats(proto.stats());
  return Status();
}

}  // namespace steptape
