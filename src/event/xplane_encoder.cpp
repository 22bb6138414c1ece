// SPDX-License-Identifier: Apache-2.0
#include "steptape/event/xplane_encoder.h"

#include <unordered_map>
#include <utility>

#include "steptape/base/utf8.h"
#include "steptape/wire/xplane.pb.h"

#include "event/wire_format.h"

namespace steptape {
namespace {

using detail::appendBytesField;
using detail::appendFieldKey;
using detail::appendVarint;
using detail::appendVarintField;
using detail::varintBytes;
using detail::WireType;

// Field numbers of proto/steptape/wire/xplane.proto.
constexpr std::uint32_t kSpacePlanes = 1;
constexpr std::uint32_t kSpaceWarnings = 3;
constexpr std::uint32_t kSpaceHostNames = 4;
constexpr std::uint32_t kPlaneLines = 3;
constexpr std::uint32_t kLineId = 1;
constexpr std::uint32_t kLineName = 2;
constexpr std::uint32_t kLineEvents = 4;
constexpr std::uint32_t kEventNameId = 1;
constexpr std::uint32_t kEventOffset = 2;
constexpr std::uint32_t kEventDuration = 3;
constexpr std::uint32_t kEventStats = 4;
constexpr std::uint32_t kStatId = 1;
constexpr std::uint32_t kStatDouble = 2;
constexpr std::uint32_t kStatUnsigned = 3;
constexpr std::uint32_t kStatInteger = 4;
constexpr std::uint32_t kStatText = 5;
constexpr std::uint32_t kStatReference = 7;

constexpr std::size_t kKeyBytes = 1;  // of all these fields

/// Negative numbers take ten bytes.
std::uint64_t unsignedOf(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

/// Appends what comes before the value of an event's stat, which takes so many bytes with its key.
void appendStatHead(std::string* event, std::int64_t id, std::size_t valueBytes) {
  appendFieldKey(event, kEventStats, WireType::kLengthDelimited);
  appendVarint(event, kKeyBytes + varintBytes(unsignedOf(id)) + valueBytes);
  appendVarintField(event, kStatId, unsignedOf(id));
}

void appendVarintStat(std::string* event, std::int64_t id, std::uint32_t field,
                      std::uint64_t value) {
  appendStatHead(event, id, kKeyBytes + varintBytes(value));
  appendVarintField(event, field, value);
}

/// One overload per alternative of XStatValue.
struct StatEncoder {
  wire::XStat* out;

  void operator()(std::int64_t value) const { out->set_int64_value(value); }
  void operator()(std::uint64_t value) const { out->set_uint64_value(value); }
  void operator()(double value) const { out->set_double_value(value); }
  void operator()(XStatReference value) const { out->set_ref_value(unsignedOf(value.id)); }
  void operator()(const std::string& value) const { out->set_str_value(replaceInvalidUtf8(value)); }
};

void encode(const XStat& stat, wire::XStat* out) {
  out->set_metadata_id(stat.id);
  std::visit(StatEncoder{out}, stat.value);
}

}  // namespace

// As Protocol Buffers do, fields that are 0 or empty are left out, but for those of a `oneof`.
XLineEncoder::XLineEncoder(std::int64_t id, std::string_view name) {
  if (id != 0) {
    appendVarintField(&bytes_, kLineId, unsignedOf(id));
  }
  if (!name.empty()) {
    appendBytesField(&bytes_, kLineName, replaceInvalidUtf8(name));
  }
}

void XLineEncoder::beginEvent(std::int64_t nameId, std::int64_t offsetPicos,
                              std::int64_t durationPicos) {
  event_.clear();
  appendVarintField(&event_, kEventNameId, unsignedOf(nameId));
  appendVarintField(&event_, kEventOffset, unsignedOf(offsetPicos));
  if (durationPicos != 0) {
    appendVarintField(&event_, kEventDuration, unsignedOf(durationPicos));
  }
}

void XLineEncoder::addStat(std::int64_t id, std::int64_t value) {
  appendVarintStat(&event_, id, kStatInteger, unsignedOf(value));
}

void XLineEncoder::addStat(std::int64_t id, std::uint64_t value) {
  appendVarintStat(&event_, id, kStatUnsigned, value);
}

void XLineEncoder::addStat(std::int64_t id, double value) {
  appendStatHead(&event_, id, kKeyBytes + sizeof value);
  detail::appendDoubleField(&event_, kStatDouble, value);
}

void XLineEncoder::addStat(std::int64_t id, XStatReference value) {
  appendVarintStat(&event_, id, kStatReference, unsignedOf(value.id));
}

void XLineEncoder::addStat(std::int64_t id, std::string_view value) {
  const std::string text = replaceInvalidUtf8(value);
  appendStatHead(&event_, id, kKeyBytes + varintBytes(text.size()) + text.size());
  appendBytesField(&event_, kStatText, text);
}

void XLineEncoder::endEvent() {
  appendBytesField(&bytes_, kLineEvents, event_);
}

struct XPlaneEncoder::Names {
  wire::XPlane proto;  // without lines
  std::unordered_map<std::string, std::int64_t> statIds;
};

XPlaneEncoder::XPlaneEncoder(std::int64_t id, std::string_view name)
    : names_(std::make_unique<Names>()) {
  wire::XPlane head;
  head.set_id(id);
  head.set_name(replaceInvalidUtf8(name));
  head.SerializeToString(&head_);
}

XPlaneEncoder::XPlaneEncoder(XPlaneEncoder&&) noexcept = default;
XPlaneEncoder& XPlaneEncoder::operator=(XPlaneEncoder&&) noexcept = default;
XPlaneEncoder::~XPlaneEncoder() = default;

std::int64_t XPlaneEncoder::addEventName(const XEventName& name) {
  const std::int64_t id = names_->proto.event_metadata_size() + 1;
  wire::XPlane::EventMetadataEntry* entry = names_->proto.add_event_metadata();
  entry->set_key(id);
  entry->mutable_value()->set_id(id);
  entry->mutable_value()->set_name(replaceInvalidUtf8(name.name));
  entry->mutable_value()->set_display_name(replaceInvalidUtf8(name.displayName));
  for (const XStat& stat : name.stats) {
    encode(stat, entry->mutable_value()->add_stats());
  }
  return id;
}

std::int64_t XPlaneEncoder::statId(std::string_view name) {
  const std::string text = replaceInvalidUtf8(name);
  const std::int64_t next = names_->proto.stat_metadata_size() + 1;
  const auto [known, isNew] = names_->statIds.emplace(text, next);
  if (isNew) {
    wire::XPlane::StatMetadataEntry* entry = names_->proto.add_stat_metadata();
    entry->set_key(next);
    entry->mutable_value()->set_id(next);
    entry->mutable_value()->set_name(text);
  }
  return known->second;
}

void XPlaneEncoder::addStat(std::string_view name, const XStatValue& value) {
  encode({statId(name), value}, names_->proto.add_stats());
}

void XPlaneEncoder::addLine(XLineEncoder line) {
  lines_.push_back(std::move(line.bytes_));
}

void XSpaceEncoder::addPlane(XPlaneEncoder plane) {
  std::string names;
  plane.names_->proto.SerializeToString(&names);
  std::size_t size = plane.head_.size() + names.size();
  for (const std::string& line : plane.lines_) {
    size += kKeyBytes + varintBytes(line.size()) + line.size();
  }
  std::string begin;
  appendFieldKey(&begin, kSpacePlanes, WireType::kLengthDelimited);
  appendVarint(&begin, size);
  pieces_.push_back(begin + plane.head_);
  for (std::string& line : plane.lines_) {
    std::string lineBegin;
    appendFieldKey(&lineBegin, kPlaneLines, WireType::kLengthDelimited);
    appendVarint(&lineBegin, line.size());
    pieces_.push_back(std::move(lineBegin));
    pieces_.push_back(std::move(line));
  }
  pieces_.push_back(std::move(names));
}

void XSpaceEncoder::addWarning(std::string_view text) {
  appendBytesField(&pieces_.emplace_back(), kSpaceWarnings, replaceInvalidUtf8(text));
}

void XSpaceEncoder::addHostName(std::string_view name) {
  appendBytesField(&pieces_.emplace_back(), kSpaceHostNames, replaceInvalidUtf8(name));
}

}  // namespace steptape
