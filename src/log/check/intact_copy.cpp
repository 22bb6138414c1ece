// SPDX-License-Identifier: Apache-2.0
#include "log/check/intact_copy.h"

#include <cmath>
#include <cstring>
#include <utility>
#include <variant>

#include "base/little_endian.h"
#include "events/messages/event_codec.h"
#include "events/messages/scalar_event_view.h"
#include "events/messages/summary_event.h"
#include "log/check/event_text.h"

namespace steptape::detail::log {
namespace {

constexpr std::size_t kWriteBytes = 1 << 20;

/// Decodes an event that both readers accept.
Status decodeIntact(std::string_view payload, event::Event* event) {
  Status status = events::decodeEvent(payload, event);
  if (status.ok() && findIllFormedText(*event) != nullptr) {
    return Status(ErrorCode::kDataLoss, "text that is not UTF-8");
  }
  return status;
}

/// Returns the first valid wall time in the file, or 0 if there is none.
double firstWallTime(const ByteSource& source) {
  RecordWalk walk(&source);
  while (walk.nextRecord()) {
    event::Event event;
    if (decodeIntact(walk.payload(), &event).ok() && std::isfinite(event.wallTime)) {
      return event.wallTime;
    }
  }
  return 0;
}

/// Sets the event's wall time by appending a field: if a field occurs twice, the last one counts.
void setWallTime(double wallTime, std::string* event) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &wallTime, sizeof bits);
  char number[sizeof bits];
  base::storeLittleEndian64(number, bits);
  *event += static_cast<char>(events::kWallTimeKey);
  event->append(number, sizeof number);
}

}  // namespace

Status IntactCopy::run() {
  RecordWalk walk(source_);
  for (;;) {
    switch (walk.next()) {
      case RecordWalk::Stretch::kRecord:
        takeRecord(walk);
        break;
      case RecordWalk::Stretch::kDamage:
      case RecordWalk::Stretch::kTail:
        leaveOut(walk, walk.problem());
        break;
      case RecordWalk::Stretch::kIoError:
        return walk.status();
      case RecordWalk::Stretch::kEnd:
        return flush();
    }
    if (pending_.bytes().size() >= kWriteBytes) {
      if (Status status = flush(); !status.ok()) {
        return status;
      }
    }
    progress_.reach(walk.offset() + walk.bytes());
  }
}

void IntactCopy::takeRecord(const RecordWalk& walk) {
  const std::string_view payload = walk.payload();
  if (isScalarsOfKnownTags(payload)) {
    latestWallTime_ = events::ScalarEventView(payload).wallTime();
    keep(payload, walk);
    return;
  }
  event::Event event;
  if (Status status = decodeIntact(payload, &event); !status.ok()) {
    leaveOut(walk, status.message());
  } else {
    takeEvent(event, walk);
  }
}

/// Returns whether an event has only scalars, of tags that need no more checks.
bool IntactCopy::isScalarsOfKnownTags(std::string_view payload) const {
  events::ScalarEventView event(payload);
  events::ScalarView scalar;
  while (event.next(&scalar)) {
    if (scalar.hasMetadata || tags_.count(scalar.tag) == 0) {
      return false;
    }
  }
  return event.isWhole() && std::isfinite(event.wallTime());
}

void IntactCopy::takeEvent(const event::Event& event, const RecordWalk& walk) {
  const events::MetadataByTag restored = restoredMetadata(event, walk);
  const bool hasTime = std::isfinite(event.wallTime);
  if (restored.empty() && hasTime) {
    latestWallTime_ = event.wallTime;
    keep(walk.payload(), walk);
    return;
  }
  std::string mended = events::addMetadata(walk.payload(), restored);
  if (hasTime) {
    latestWallTime_ = event.wallTime;
  } else {
    const double wallTime = replacementTime();
    setWallTime(wallTime, &mended);
    addStep(RepairStep::Kind::kTimeSet, walk, {},
            "wall time " + std::to_string(event.wallTime) + " set to " + std::to_string(wallTime));
  }
  keep(mended, walk);
}

/// Returns the metadata of those tags whose first value is in the event, and whose metadata may
/// have been in earlier damage.
events::MetadataByTag IntactCopy::restoredMetadata(const event::Event& event,
                                                   const RecordWalk& walk) {
  events::MetadataByTag restored;
  const auto* summary = std::get_if<event::Summary>(&event.what);
  if (summary == nullptr) {
    return restored;
  }
  for (const event::Value& value : summary->values) {
    const bool isFirst = tags_.insert(value.tag).second;
    if (!isFirst || report_->bytesLeftOut == 0 || !lacksMetadata(value)) {
      continue;
    }
    std::optional<LostMetadata::Found> found = lostMetadata_.find(value);
    if (!found) {
      report_->tagsWithoutMetadata.push_back(value.tag);
      continue;
    }
    addStep(RepairStep::Kind::kMetadataSet, walk, value.tag,
            "metadata of '" + value.tag + "' restored: plugin " + found->metadata.pluginName +
                (found->isGuess ? ", as the form of its values says"
                                : ", as another value of the tag says"));
    ++report_->tagsRestored;
    restored.emplace(value.tag, std::move(found->metadata));
  }
  return restored;
}

double IntactCopy::replacementTime() {
  if (!latestWallTime_) {
    latestWallTime_ = firstWallTime(*source_);
  }
  return *latestWallTime_;
}

void IntactCopy::keep(std::string_view payload, const RecordWalk& walk) {
  pending_.append(payload);
  ++report_->recordsKept;
  report_->bytesKept += walk.bytes();
}

void IntactCopy::leaveOut(const RecordWalk& walk, const std::string& why) {
  report_->bytesLeftOut += walk.bytes();
  addStep(RepairStep::Kind::kLeftOut, walk, {}, why);
}

void IntactCopy::addStep(RepairStep::Kind kind, const RecordWalk& walk, std::string tag,
                         std::string why) {
  if (report_->steps.size() >= static_cast<std::size_t>(options_->maxSteps)) {
    ++report_->moreSteps;
    return;
  }
  report_->steps.push_back({kind, walk.offset(), walk.bytes(), std::move(tag), std::move(why)});
}

Status IntactCopy::flush() {
  output_->write(pending_.bytes());
  Status status = output_->status();
  pending_.clear();
  return status;
}

}  // namespace steptape::detail::log
