// SPDX-License-Identifier: Apache-2.0
#include "log/writer/stream_log.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "events/framing/record_buffer.h"

namespace steptape::detail::log {

void StreamLog::addUpdate(bool everything, LogRecordBuilder* record) {
  const std::uint64_t begin = pendingBegin();
  const std::uint64_t end = pendingEnd();
  const std::size_t scalars = event_.size();
  const bool isAsLogged = scalars == 0 ? end == logged_.end || end == logged_.through
                                       : end == logged_.end && event_.serial() == logged_.event &&
                                             scalars == logged_.scalars;
  updateThrough_ = logged_.through;
  if (everything ? end == 0 && scalars == 0 : isFileLogged() && isAsLogged) {
    return;
  }
  const std::uint64_t from = everything || !isFileLogged() ? begin : std::max(begin, logged_.end);
  record->beginStream(number_, fileName(), from);
  pending_.copyTo(record->bytes(), from - begin);
  updateThrough_ = end;
  if (scalars > 0) {
    events::RecordBuffer event;
    event_.appendTo(&event);
    record->bytes()->append(event.bytes());
    updateThrough_ += event.bytes().size();
  }
  record->endStream();
}

void StreamLog::noteLogged() {
  logged_.path = file_.path();
  logged_.end = pendingEnd();
  logged_.through = std::max(updateThrough_, logged_.end);
  logged_.event = event_.serial();
  logged_.scalars = event_.size();
  logged_.addedScalars = pending_.addedScalars();
  mustLogAgain_ = false;
}

void StreamLog::announce(LogRecordBuilder* record) const {
  const std::uint64_t from = std::max(pendingBegin(), logged_.end);
  // The event that followed the logged records may be in the file by now, with its scalars.
  const std::uint64_t scalars = pendingBegin() < logged_.end
                                    ? pending_.addedScalars() - logged_.addedScalars
                                    : pending_.scalars();
  record->addWrite({number_, std::string(fileName()), from, pendingEnd() - from, scalars});
}

std::string_view StreamLog::fileName() const {
  const std::string_view path = file_.path();
  return path.substr(path.rfind('/') + 1);
}

void StreamLog::catchUp() {
  const std::uint64_t end = pendingEnd();
  const bool isAnnounced = std::exchange(announcedEnd_, 0) == end;
  if (!log_.isOpen() || (isFileLogged() && (isAnnounced || end <= logged_.through))) {
    return;
  }
  LogRecordBuilder record(log_.times());
  addUpdate(false, &record);
  log_.append(record.finish());
  noteLogged();
}

}  // namespace steptape::detail::log
