// SPDX-License-Identifier: Apache-2.0
#include "log/writer/log_updates.h"

#include <utility>

namespace steptape::detail::log {

LogUpdates::LogUpdates(KillProofLog* log, RingMerge* rings, CapturedQueue* captured, Runs runs)
    : log_(*log),
      rings_(*rings),
      captured_(*captured),
      runs_(std::move(runs)),
      record_(TickTimes()) {}

void LogUpdates::secure() {
  if (log_.isOpen()) {
    log_.setTimes(rings_.times());
    record_.begin(log_.times());
    rings_.addCursors(&record_);
    logChanges(false);
  }
  rings_.secure();
  captured_.forgetEncoded();
  if (log_.shouldReplaceLog()) {
    // Without cursors: each ring now says itself up to where it is safe.
    record_.begin(log_.times());
    logChanges(true);
  }
}

bool LogUpdates::announceWrites() {
  if (!log_.isOpen() || captured_.hasEncoded()) {
    return false;
  }
  log_.setTimes(rings_.times());
  record_.begin(log_.times());
  if (!rings_.addAnnounced(&record_)) {
    return false;
  }
  const std::vector<std::shared_ptr<RunStreams>> runs = runs_();
  std::vector<EventStream*> announced;
  std::vector<EventStream*> logged;
  for (const std::shared_ptr<RunStreams>& run : runs) {
    for (EventStream* const stream : run->streams()) {
      (stream->canAnnounce() ? announced : logged).push_back(stream);
    }
  }
  if (announced.empty()) {
    return false;
  }
  for (EventStream* const stream : announced) {
    stream->announce(&record_);
  }
  for (EventStream* const stream : logged) {
    stream->log().addUpdate(false, &record_);
  }
  log_.append(record_.finish());
  for (EventStream* const stream : announced) {
    stream->log().noteAnnounced();
  }
  for (EventStream* const stream : logged) {
    stream->log().noteLogged();
  }
  return true;
}

/// Adds the streams to the record and writes it, as all of the log if it says `everything`.
void LogUpdates::logChanges(bool everything) {
  const std::vector<std::shared_ptr<RunStreams>> runs = runs_();
  std::vector<EventStream*> streams;
  for (const std::shared_ptr<RunStreams>& run : runs) {
    for (EventStream* const stream : run->streams()) {
      stream->log().addUpdate(everything, &record_);
      streams.push_back(stream);
    }
  }
  if (everything) {
    log_.replaceLog(record_.finish());
  } else if (!record_.isEmpty()) {
    log_.append(record_.finish());
  }
  for (EventStream* const stream : streams) {
    stream->log().noteLogged();
  }
}

}  // namespace steptape::detail::log
