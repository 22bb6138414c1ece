// SPDX-License-Identifier: Apache-2.0
#include "events/messages/xplane_encoder.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "steptape/wire/xplane.pb.h"

#include "base/utf8.h"
#include "events/messages/wire_format.h"

namespace steptape::detail::events {
namespace {

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

constexpr std::size_t kKeyBytes = 1;  // of each of these fields
constexpr std::size_t kMaxFieldBytes = kKeyBytes + 10;
// A long line is kept in chunks: growing one string would copy it and take twice the memory.
constexpr std::size_t kChunkBytes = 1 << 18;
// Key and length, if the length is less than 128 bytes.
constexpr std::size_t kEventHeadBytes = 2;
constexpr std::size_t kStatHeadBytes = 2;

/// Negative numbers take ten bytes.
std::uint64_t unsignedOf(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

constexpr char key(std::uint32_t field, WireType type) {
  return static_cast<char>(field << 3 | static_cast<std::uint32_t>(type));
}

char* putVarint(char* out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    *out++ = static_cast<char>(value | 0x80);
  }
  *out++ = static_cast<char>(value);
  return out;
}

char* putVarintField(char* out, std::uint32_t field, std::uint64_t value) {
  *out++ = key(field, WireType::kVarint);
  return putVarint(out, value);
}

/// One overload per alternative of XStatValue.
struct StatEncoder {
  wire::XStat* out;

  void operator()(std::int64_t value) const { out->set_int64_value(value); }
  void operator()(std::uint64_t value) const { out->set_uint64_value(value); }
  void operator()(double value) const { out->set_double_value(value); }
  void operator()(XStatReference value) const { out->set_ref_value(unsignedOf(value.id)); }
  void operator()(const std::string& value) const {
    out->set_str_value(base::replaceInvalidUtf8(value));
  }
  void operator()(const XStatBytes& value) const { out->set_bytes_value(value.bytes); }
};

void encode(const XStat& stat, wire::XStat* out) {
  out->set_metadata_id(stat.id);
  std::visit(StatEncoder{out}, stat.value);
}

}  // namespace

// Omits fields that are 0 or empty, as Protocol Buffers does, except those of a `oneof`.
XLineEncoder::XLineEncoder(std::int64_t id, std::string_view name) {
  if (id != 0) {
    appendVarintField(&chunk_, kLineId, unsignedOf(id));
  }
  if (!name.empty()) {
    appendBytesField(&chunk_, kLineName, base::replaceInvalidUtf8(name));
  }
  used_ = chunk_.size();
}

/// Makes room for up to `bytes` bytes. @return where to write them.
char* XLineEncoder::room(std::size_t bytes) {
  if (chunk_.size() - used_ < bytes) {
    chunk_.resize(std::max(2 * chunk_.size(), used_ + bytes));
  }
  return chunk_.data() + used_;
}

void XLineEncoder::endChunk() {
  chunk_.resize(used_);
  full_.push_back(std::exchange(chunk_, std::string()));
  used_ = 0;
}

void XLineEncoder::beginEvent(std::int64_t nameId, std::int64_t offsetPicos,
                              std::int64_t durationPicos) {
  if (used_ > kChunkBytes) {
    endChunk();
  }
  event_ = used_;
  char* out = room(kEventHeadBytes + 3 * kMaxFieldBytes) + kEventHeadBytes;
  out = putVarintField(out, kEventNameId, unsignedOf(nameId));
  out = putVarintField(out, kEventOffset, unsignedOf(offsetPicos));
  if (durationPicos != 0) {
    out = putVarintField(out, kEventDuration, unsignedOf(durationPicos));
  }
  used_ = static_cast<std::size_t>(out - chunk_.data());
}

void XLineEncoder::addNumber(std::int64_t id, std::uint32_t field, std::uint64_t value) {
  char* const head = room(kStatHeadBytes + 2 * kMaxFieldBytes);
  char* const begin = head + kStatHeadBytes;
  char* end = putVarintField(begin, kStatId, unsignedOf(id));
  end = putVarintField(end, field, value);
  head[0] = key(kEventStats, WireType::kLengthDelimited);
  head[1] = static_cast<char>(end - begin);  // less than 128
  used_ = static_cast<std::size_t>(end - chunk_.data());
}

void XLineEncoder::addStat(std::int64_t id, std::int64_t value) {
  addNumber(id, kStatInteger, unsignedOf(value));
}

void XLineEncoder::addStat(std::int64_t id, std::uint64_t value) {
  addNumber(id, kStatUnsigned, value);
}

void XLineEncoder::addStat(std::int64_t id, XStatReference value) {
  addNumber(id, kStatReference, unsignedOf(value.id));
}

void XLineEncoder::addStat(std::int64_t id, double value) {
  std::string stat;
  appendVarintField(&stat, kStatId, unsignedOf(id));
  appendDoubleField(&stat, kStatDouble, value);
  addWhole(stat);
}

void XLineEncoder::addStat(std::int64_t id, std::string_view value) {
  std::string stat;
  appendVarintField(&stat, kStatId, unsignedOf(id));
  appendBytesField(&stat, kStatText, base::replaceInvalidUtf8(value));
  addWhole(stat);
}

void XLineEncoder::addWhole(std::string_view stat) {
  char* out = room(kMaxFieldBytes + stat.size());
  *out++ = key(kEventStats, WireType::kLengthDelimited);
  out = putVarint(out, stat.size());
  out += stat.copy(out, stat.size());
  used_ = static_cast<std::size_t>(out - chunk_.data());
}

void XLineEncoder::endEvent() {
  const std::size_t begin = event_ + kEventHeadBytes;
  const std::size_t size = used_ - begin;
  // The head has room for a length of one byte, which is sufficient for nearly all events.
  if (const std::size_t more = varintBytes(size) - 1; more != 0) {
    room(more);
    std::memmove(&chunk_[begin + more], &chunk_[begin], size);
    used_ += more;
  }
  chunk_[event_] = key(kLineEvents, WireType::kLengthDelimited);
  putVarint(&chunk_[event_ + 1], size);
}

struct XPlaneEncoder::Names {
  wire::XPlane proto;  // the plane without its lines
  std::unordered_map<std::string, std::int64_t> statIds;
};

XPlaneEncoder::XPlaneEncoder(std::int64_t id, std::string_view name)
    : names_(std::make_unique<Names>()) {
  wire::XPlane head;
  head.set_id(id);
  head.set_name(base::replaceInvalidUtf8(name));
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
  entry->mutable_value()->set_name(base::replaceInvalidUtf8(name.name));
  entry->mutable_value()->set_display_name(base::replaceInvalidUtf8(name.displayName));
  for (const XStat& stat : name.stats) {
    encode(stat, entry->mutable_value()->add_stats());
  }
  return id;
}

std::int64_t XPlaneEncoder::statId(std::string_view name) {
  const std::string text = base::replaceInvalidUtf8(name);
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
  line.endChunk();
  std::size_t size = 0;
  for (const std::string& chunk : line.full_) {
    size += chunk.size();
  }
  std::string begin;
  appendFieldKey(&begin, kPlaneLines, WireType::kLengthDelimited);
  appendVarint(&begin, size);
  lineBytes_ += begin.size() + size;
  lines_.push_back(std::move(begin));
  std::move(line.full_.begin(), line.full_.end(), std::back_inserter(lines_));
}

void XSpaceEncoder::addPlane(XPlaneEncoder plane) {
  std::string names;
  plane.names_->proto.SerializeToString(&names);
  std::string& begin = pieces_.emplace_back();
  appendFieldKey(&begin, kSpacePlanes, WireType::kLengthDelimited);
  appendVarint(&begin, plane.head_.size() + plane.lineBytes_ + names.size());
  begin += plane.head_;
  std::move(plane.lines_.begin(), plane.lines_.end(), std::back_inserter(pieces_));
  pieces_.push_back(std::move(names));
}

void XSpaceEncoder::addWarning(std::string_view text) {
  appendBytesField(&pieces_.emplace_back(), kSpaceWarnings, base::replaceInvalidUtf8(text));
}

void XSpaceEncoder::addHostName(std::string_view name) {
  appendBytesField(&pieces_.emplace_back(), kSpaceHostNames, base::replaceInvalidUtf8(name));
}

}  // namespace steptape::detail::events
