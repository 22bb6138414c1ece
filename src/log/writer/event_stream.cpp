// SPDX-License-Identifier: Apache-2.0
#include "log/writer/event_stream.h"

#include <algorithm>
#include <limits>
#include <list>
#include <system_error>
#include <utility>
#include <variant>

#include "base/little_endian.h"
#include "events/framing/record_format.h"
#include "events/messages/event_codec.h"
#include "events/messages/scalar_event_view.h"
#include "log/writer/file_head.h"

namespace steptape::detail::log {
namespace {

constexpr auto kFirstRetry = std::chrono::milliseconds(100);
constexpr auto kLastRetry = std::chrono::milliseconds(5000);

/// Whether an event holds nothing but scalars, and how many values it counts as.
bool countsAsScalars(std::string_view payload, std::uint64_t* values) {
  events::ScalarEventView event(payload);
  events::ScalarView scalar;
  while (event.next(&scalar)) {
    ++*values;
  }
  const bool isScalars = event.isWhole();
  *values = std::max<std::uint64_t>(*values, 1);
  return isScalars;
}

}  // namespace

EventStream::EventStream(RunContext* context, std::string directory, OpenFiles* openFiles,
                         KillProofLog* log)
    : context_(context),
      directory_(std::move(directory)),
      openFiles_(openFiles),
      log_(log),
      number_(log->nextStream()),
      purgeFrom_(context->options().purgeStep),
      tags_(context, directory_),
      event_(std::chrono::duration<double>(context->options().coalesceWindow).count()) {}

Status EventStream::create(double wallTime) {
  if (!file_.created()) {
    if (Status claimed = context_->claim(); !claimed.ok()) {
      return claimed;
    }
    Status made = file_.create(directory_, wallTime, context_->options().filenameSuffix);
    if (!made.ok()) {
      return made;
    }
    head_.clear();
  }
  // A file without a complete first record is not readable.
  try {
    Status status = writeHead(wallTime);
    if (!status.ok()) {
      file_.finish();  // if it fails, the next call continues with this file
    }
    return status;
  } catch (...) {
    file_.finish();
    throw;
  }
}

Status EventStream::writeHead(double wallTime) {
  if (head_.empty()) {
    const std::int64_t purgeFrom =
        purgeFrom_.value_or(file_.followsOthers() ? std::numeric_limits<std::int64_t>::max() : 0);
    head_ = fileHead(wallTime, purgeFrom);
  }
  std::list<RunContext::File> made;
  made.push_back({file_.path(), directory_});
  Status status = file_.append(head_);
  if (!status.ok()) {
    return status;
  }
  // Only once: a file that continues this one must not purge what this process has logged.
  purgeFrom_.reset();
  fileBegan_ = std::chrono::steady_clock::now();
  ++fileSerial_;
  context_->noteFile(std::move(made));
  context_->counters().files.add(1);
  context_->counters().events.add(kHeadRecords);
  context_->counters().bytesWritten.add(head_.size());
  head_.clear();
  return {};
}

void EventStream::beginEvent(std::int64_t step, double wallTime, bool exact) {
  finishEvent();
  event_.begin(step, wallTime, exact);
}

void EventStream::describe(ScalarSeries* series) {
  tags_.noteScalars(series->tag);
  series->describedInFile = fileSerial_;
  if (series->bytes.hasMetadata()) {
    described_.emplace(series->tag, series->metadata);
  }
}

void EventStream::addEvent(event::Event::What what, std::int64_t step, double wallTime,
                           bool exact) {
  finishEvent();
  event::Event event;
  event.wallTime = exact ? wallTime : event_.monotonic(wallTime);
  event.step = step;
  event.what = std::move(what);
  auto* const summary = std::get_if<event::Summary>(&event.what);
  const std::size_t values = summary != nullptr ? summary->values.size() : 1;
  const bool isFirst = pendingBytes() == 0;
  tags_.noteValues(event);
  try {
    if (summary != nullptr) {
      for (event::Value& value : summary->values) {
        describeOnce(&value);
      }
    }
    appendRecord(event, &buffer_);
  } catch (...) {
    forgetDescriptions(summary);
    throw;
  }
  noteAppended(isFirst);
  bufferValues_ += values;
  context_->counters().values.add(values);
}

void EventStream::addScalarAtLastStep(ScalarSeries* series, float value, std::int64_t step,
                                      double wallTime, bool exact) {
  const bool isFirst = series->lastStep == ScalarSeries::kNoStep;
  // Skips a repeated point: tensorboard-reducer rejects two points at one step, and the curve would
  // get a knee.
  if (isFirst || !isSameValue(value, series->lastValue)) {
    // The curve shall end with this value, so that readers may overwrite its last point.
    const std::int64_t last = std::exchange(series->lastStep, ScalarSeries::kNoStep);
    addScalar(series, value, isFirst ? step : last, wallTime, exact);
  }
}

/// Marks the descriptions of an event as not written; the next values of its tags will contain
/// them.
void EventStream::forgetDescriptions(const event::Summary* summary) noexcept {
  if (summary == nullptr) {
    return;
  }
  for (const event::Value& value : summary->values) {
    if (value.metadata) {
      described_.erase(value.tag);
    }
  }
}

void EventStream::loseScalar(ScalarSeries* series, const std::exception& error) noexcept {
  series->describedInFile = 0;  // the description may be lost with the event
  context_->losses().countLost(error, 1, 0);
}

void EventStream::describeOnce(event::Value* value) {
  if (value->metadata && !described_.emplace(value->tag, *value->metadata).second) {
    value->metadata.reset();
  }
}

void EventStream::resume(std::int64_t step, double wallTime) {
  tags_.noteResume();
  if (!file_.created() && pendingBytes() == 0 && event_.size() == 0) {
    purgeFrom_ = step;
    return;
  }
  addEvent(event::SessionLog{event::SessionLog::Status::kStart, "", ""}, step, wallTime, false);
}

void EventStream::finishAged(double now) {
  if (event_.isAged(now)) {
    finishEvent();
  }
}

void EventStream::finishEvent() {
  const std::size_t scalars = event_.size();
  if (scalars == 0) {
    return;
  }
  const bool isFirst = pendingBytes() == 0;
  event_.finish(&buffer_);
  noteAppended(isFirst);
  bufferScalars_ += scalars;
  context_->counters().scalars.add(scalars);
}

void EventStream::noteAppended(bool isFirst) {
  if (isFirst) {
    oldest_ = std::chrono::steady_clock::now();
  }
  context_->counters().events.add(1);
}

void EventStream::sealBuffer() {
  if (buffer_.bytes().empty()) {
    return;
  }
  Chunk& chunk = chunks_.emplace_back();
  chunk = {buffer_.take(), std::exchange(bufferScalars_, 0), std::exchange(bufferValues_, 0)};
  chunkBytes_ += chunk.bytes.size();
}

void EventStream::writeIfDue(TimePoint now) {
  if (failures_ > 0 && now < retryAt_) {
    if (buffer_.bytes().size() >= kChunkBytes) {
      sealBuffer();
    }
    updateBacklog();
    return;
  }
  const bool any = pendingBytes() > 0 || event_.size() > 0;
  const bool due =
      pendingBytes() >= kChunkBytes || now - oldest_ >= context_->options().flushPeriod;
  if (any && due) {
    // The failure is reported and the next attempt is scheduled.
    static_cast<void>(writeAll(now));
  }
}

Status EventStream::writeAll(TimePoint now) {
  finishEvent();
  if (pendingBytes() == 0) {
    return {};
  }
  if (failures_ > 0) {
    context_->counters().retries.add(1);
  }
  Status status = ensureFile();
  if (status.ok()) {
    if (mustDescribeAgain_) {
      describeAgain();
    }
    status = writePending();
  }
  if (status.ok()) {
    failures_ = 0;
    if (rotationDue(now)) {
      file_.finish();
    }
  } else {
    noteFailure(status, now);
  }
  updateBacklog();
  return status;
}

bool EventStream::rotationDue(TimePoint now) const {
  const WriterOptions& options = context_->options();
  const bool large =
      options.maxFileBytes > 0 && file_.size() >= static_cast<std::uint64_t>(options.maxFileBytes);
  const bool old = options.maxFileAge.count() > 0 && now - fileBegan_ >= options.maxFileAge;
  return large || old;
}

Status EventStream::ensureFile() {
  file_.keepWithin(openFiles_);
  if (mustFinish_) {
    Status finished = finishClosed();
    if (!finished.ok()) {
      return finished;
    }
  }
  const bool deleted = file_.created() && file_.deleted();
  if (file_.created() && head_.empty() && !deleted) {
    return {};
  }
  if (deleted) {
    context_->reporter().report(
        {ErrorCode::kIoError, file_.path() +
                                  " was deleted while the run was being written; its data is "
                                  "lost, and the run continues in a new file"});
    file_.abandon();
  }
  Status status = create(context_->wallSeconds());
  if (status.ok()) {
    mustDescribeAgain_ = true;
  }
  return status;
}

Status EventStream::writePending() {
  const bool isAnnounced = std::exchange(announcedEnd_, 0) == pendingBegin() + pendingBytes() &&
                           !mustLogAgain_ && logged_.path == file_.path();
  if (log_->isOpen() && !isAnnounced && !isLogged()) {
    logNow();
  }
  while (!chunks_.empty()) {
    Status status = file_.append(chunks_.front().bytes);
    if (!status.ok()) {
      return status;
    }
    context_->counters().bytesWritten.add(chunks_.front().bytes.size());
    chunkBytes_ -= chunks_.front().bytes.size();
    chunks_.pop_front();
  }
  Status status = file_.append(buffer_.bytes());
  if (status.ok()) {
    context_->counters().bytesWritten.add(buffer_.bytes().size());
    buffer_.clear();
    bufferScalars_ = 0;
    bufferValues_ = 0;
    logged_.bufferScalars = 0;
  }
  return status;
}

void EventStream::noteFailure(const Status& status, TimePoint now) {
  const bool isFirst = failures_ == 0;
  const int doublings = std::min(failures_, 6);
  retryAt_ = now + std::min<std::chrono::milliseconds>(kFirstRetry * (1 << doublings), kLastRetry);
  ++failures_;
  if (isFirst) {
    context_->reporter().report(status);
  }
}

void EventStream::updateBacklog() {
  while (failures_ > 0 && context_->options().overflow == OverflowPolicy::kDropOldest &&
         pendingBytes() > static_cast<std::size_t>(context_->options().queueBytes) &&
         !chunks_.empty()) {
    dropOldestChunk();
  }
  if (mustDescribeAgain_) {
    describeAgain();
  }
  const std::size_t backlog = failures_ > 0 ? pendingBytes() : 0;
  context_->changeBacklog(knownBacklog_, backlog);
  knownBacklog_ = backlog;
}

void EventStream::dropOldestChunk() {
  // If a chunk is partly in the file and cannot be removed, it must be completed, or the file is
  // damaged.
  const auto oldest = chunks_.begin() + (file_.hasPartialAppend() ? 1 : 0);
  if (oldest == chunks_.end()) {
    sealBuffer();
    return;
  }
  mustLogAgain_ = true;
  context_->losses().countDropped(oldest->scalars, oldest->values);
  chunkBytes_ -= oldest->bytes.size();
  chunks_.erase(oldest);
  mustDescribeAgain_ = true;
}

/// Adds metadata of tags to the waiting events again, because the events that contained it are
/// lost: readers need it with the first value in a file. Call it again if it throws.
void EventStream::describeAgain() {
  finishEvent();
  sealBuffer();
  mustLogAgain_ = true;
  ++fileSerial_;
  Metadata metadata;
  metadata.swap(described_);
  try {
    for (std::size_t i = file_.hasPartialAppend() ? 1 : 0; i < chunks_.size(); ++i) {
      std::string bytes = described(chunks_[i].bytes, metadata);
      chunkBytes_ += bytes.size() - chunks_[i].bytes.size();
      chunks_[i].bytes = std::move(bytes);
    }
  } catch (...) {
    described_.swap(metadata);
    throw;
  }
  mustDescribeAgain_ = false;
}

/// Returns `records` with the elements of `metadata` that are not yet in described_, and adds them
/// to it.
std::string EventStream::described(std::string_view records, const Metadata& metadata) {
  events::RecordBuffer result;
  while (!records.empty()) {
    const std::uint64_t length = base::loadLittleEndian64(records.data());
    event::Event event;
    // Cannot fail: this object encoded the bytes.
    if (events::decodeEvent(records.substr(events::kHeaderBytes, length), &event).ok()) {
      if (auto* const summary = std::get_if<event::Summary>(&event.what)) {
        for (event::Value& value : summary->values) {
          const auto known = metadata.find(value.tag);
          if (known != metadata.end() && described_.insert(*known).second) {
            value.metadata = known->second;
          }
        }
      }
      appendRecord(event, &result);
    }
    records.remove_prefix(events::kFramingBytes + length);
  }
  return result.take();
}

/// Keeps the complete records of a failed append that cannot be removed from the file.
void EventStream::keepWholeRecords() {
  if (!head_.empty() || mustFinish_ || file_.cutBack() == 0) {
    return;
  }
  sealBuffer();
  Chunk& chunk = chunks_.front();
  std::string_view rest(chunk.bytes);
  while (rest.size() >= events::kFramingBytes) {
    const std::uint64_t length = base::loadLittleEndian64(rest.data());
    if (file_.partialBytes() < events::kFramingBytes + length) {
      return;
    }
    std::uint64_t values = 0;
    std::uint64_t& counter = countsAsScalars(rest.substr(events::kHeaderBytes, length), &values)
                                 ? chunk.scalars
                                 : chunk.values;
    counter -= std::min(counter, values);
    file_.keepPartial(events::kFramingBytes + length);
    rest.remove_prefix(events::kFramingBytes + length);
  }
}

/// Tries a few times to finish a file that close() could not finish, before the next file is
/// created.
Status EventStream::finishClosed() {
  constexpr int kTries = 8;
  const int error = file_.finish();
  if (error != 0 && ++finishTries_ < kTries) {
    return {ErrorCode::kIoError, "cannot remove the incomplete record at the end of " +
                                     file_.path() + ": " + std::generic_category().message(error)};
  }
  file_.abandon();
  mustFinish_ = false;
  finishTries_ = 0;
  return {};
}

/// Drops the data that writeAll() could not write.
void EventStream::close() {
  finishEvent();
  keepWholeRecords();
  for (const Chunk& chunk : chunks_) {
    context_->losses().countDropped(chunk.scalars, chunk.values);
  }
  context_->losses().countDropped(std::exchange(bufferScalars_, 0),
                                  std::exchange(bufferValues_, 0));
  buffer_.clear();
  chunks_.clear();
  chunkBytes_ = 0;
  failures_ = 0;
  mustDescribeAgain_ = false;
  updateBacklog();
  mustFinish_ = file_.finish() != 0;
  head_.clear();
  tags_.reportStepsBack();
}

void EventStream::addUpdate(bool everything, LogRecordBuilder* record) {
  const std::uint64_t begin = pendingBegin();
  const std::uint64_t end = begin + pendingBytes();
  const std::size_t scalars = event_.size();
  const bool again = mustLogAgain_ || logged_.path != file_.path();
  const bool isAsLogged = scalars == 0 ? end == logged_.end || end == logged_.through
                                       : end == logged_.end && event_.serial() == logged_.event &&
                                             scalars == logged_.scalars;
  updateThrough_ = logged_.through;
  if (everything ? end == 0 && scalars == 0 : !again && isAsLogged) {
    return;
  }
  const std::uint64_t from = everything || again ? begin : std::max(begin, logged_.end);
  const std::string_view path = file_.path();
  record->beginStream(number_, path.substr(path.rfind('/') + 1), from);
  appendPending(from - begin, record->bytes());
  updateThrough_ = end;
  if (scalars > 0) {
    events::RecordBuffer event;
    event_.appendTo(&event);
    record->bytes()->append(event.bytes());
    updateThrough_ += event.bytes().size();
  }
  record->endStream();
}

void EventStream::appendPending(std::uint64_t skip, std::string* out) const {
  const auto append = [&](std::string_view bytes) {
    const std::size_t skipped = std::min<std::size_t>(skip, bytes.size());
    out->append(bytes.substr(skipped));
    skip -= skipped;
  };
  for (const Chunk& chunk : chunks_) {
    append(chunk.bytes);
  }
  append(buffer_.bytes());
}

void EventStream::noteLogged() {
  logged_.path = file_.path();
  logged_.end = pendingBegin() + pendingBytes();
  logged_.through = std::max(updateThrough_, logged_.end);
  logged_.event = event_.serial();
  logged_.scalars = event_.size();
  logged_.bufferScalars = bufferScalars_;
  mustLogAgain_ = false;
}

bool EventStream::canAnnounce() const {
  return wantsWrite() && chunks_.empty() && file_.created() && head_.empty() && !mustFinish_ &&
         !mustDescribeAgain_ && !mustLogAgain_ && logged_.path == file_.path();
}

void EventStream::noteAnnounced() {
  announcedEnd_ = pendingBegin() + pendingBytes();
}

void EventStream::announce(LogRecordBuilder* record) {
  finishEvent();
  const std::uint64_t from = std::max(pendingBegin(), logged_.end);
  const std::string_view path = file_.path();
  record->addWrite({number_, std::string(path.substr(path.rfind('/') + 1)), from,
                    pendingBegin() + pendingBytes() - from,
                    bufferScalars_ - logged_.bufferScalars});
}

bool EventStream::isLogged() const {
  return !mustLogAgain_ && logged_.path == file_.path() &&
         pendingBegin() + pendingBytes() <= logged_.through;
}

void EventStream::logNow() {
  LogRecordBuilder record(log_->times());
  addUpdate(false, &record);
  log_->append(record.finish());
  noteLogged();
}

}  // namespace steptape::detail::log
