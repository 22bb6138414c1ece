// SPDX-License-Identifier: Apache-2.0
#include "log/writer/file_head.h"

#include "events/framing/open_record.h"
#include "events/messages/event_codec.h"

namespace steptape::detail::log {
namespace {

event::Event versionEvent(double wallTime) {
  event::Event event;
  event.wallTime = wallTime;
  event.what = event::FileVersion{"brain.Event:2"};
  event.sourceWriter = "steptape";
  return event;
}

event::Event startEvent(double wallTime, std::int64_t purgeFrom) {
  event::Event event;
  event.wallTime = wallTime;
  event.step = purgeFrom;
  event.what = event::SessionLog{event::SessionLog::Status::kStart, "", ""};
  return event;
}

}  // namespace

void appendRecord(const event::Event& event, events::RecordBuffer* records) {
  events::OpenRecord record(records);
  events::encodeEvent(event, record.payload());
  record.end();
}

std::string fileHead(double wallTime, std::int64_t purgeFrom) {
  events::RecordBuffer head;
  appendRecord(versionEvent(wallTime), &head);
  appendRecord(startEvent(wallTime, purgeFrom), &head);
  return head.take();
}

}  // namespace steptape::detail::log
