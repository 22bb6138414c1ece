// SPDX-License-Identifier: Apache-2.0
#include "writer/event_stream.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <system_error>
#include <utility>
#include <variant>

#include "steptape/event/event_codec.h"
#include "steptape/record/record_format.h"

#include "base/little_endian.h"
#include "event/scalar_event_view.h"
#include "record/open_record.h"
#include "writer/writer_core.h"

namespace steptape {
namespace {

// Large enough that a write(2) costs little per byte, small enough to stay in the second-level
// cache.
constexpr std::size_t kChunkBytes = std::size_t{64} << 10;
constexpr auto kFirstRetry = std::chrono::milliseconds(100);
constexpr auto kLastRetry = std::chrono::milliseconds(5000);

Event versionEvent(double wallTime) {
  Event event;
  event.wallTime = wallTime;
  event.what = FileVersion{"brain.Event:2"};
  event.sourceWriter = "steptape";
  return event;
}

constexpr std::uint64_t kHeadRecords = 2;

/// Whether an event holds nothing but scalars, and how many values it counts as.
bool countsAsScalars(std::string_view payload, std::uint64_t* values) {
  detail::ScalarEventView event(payload);
  detail::ScalarView scalar;
  while (event.next(&scalar)) {
    ++*values;
  }
  const bool isScalars = event.isWhole();
  *values = std::max<std::uint64_t>(*values, 1);
  return isScalars;
}

/// @throws std::bad_alloc, and has appended nothing then.
void appendRecord(const Event& event, RecordBuffer* records) {
  detail::OpenRecord record(records);
  encodeEvent(event, record.payload());
  record.end();
}

/// TensorBoard's Python loader lets the first START of a run only arm it, and purges at later ones:
/// so every file has one, and where nothing is to be purged its step lies beyond all steps.
Event startEvent(double wallTime, std::int64_t purgeFrom) {
  Event event;
  event.wallTime = wallTime;
  event.step = purgeFrom;
  event.what = SessionLog{SessionLog::Status::kStart, "", ""};
  return event;
}

}  // namespace

EventStream::EventStream(WriterCore* core, std::string directory, OpenFiles* openFiles)
    : core_(core),
      directory_(std::move(directory)),
      openFiles_(openFiles),
      coalesceSeconds_(std::chrono::duration<double>(core->options().coalesceWindow).count()),
      purgeFrom_(core->options().purgeStep) {}

Status EventStream::create(double wallTime) {
  if (!file_.created()) {
    Status made = file_.create(directory_, wallTime, core_->options().filenameSuffix);
    if (!made.ok()) {
      return made;
    }
    head_.clear();
  }
  // A file whose head is not whole is none: nobody could read it.
  try {
    Status status = writeHead(wallTime);
    if (!status.ok()) {
      file_.finish();  // where it cannot, the next call goes on with this file
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
    RecordBuffer head;
    for (const Event& event : {versionEvent(wallTime), startEvent(wallTime, purgeFrom)}) {
      appendRecord(event, &head);
    }
    head_ = head.take();
  }
  std::list<WriterCore::File> made;
  made.push_back({file_.path(), directory_});
  Status status = file_.append(head_);
  if (!status.ok()) {
    return status;
  }
  // Once: a file that only continues this one must not purge what this process has logged.
  purgeFrom_.reset();
  fileBegan_ = std::chrono::steady_clock::now();
  ++fileSerial_;
  core_->noteFile(std::move(made));
  core_->count(&WriterCore::Counters::files, 1);
  core_->count(&WriterCore::Counters::events, kHeadRecords);
  core_->count(&WriterCore::Counters::bytesWritten, head_.size());
  head_.clear();
  return {};
}

void EventStream::beginEvent(std::int64_t step, double wallTime, bool exact) {
  finishEvent();
  eventStep_ = step;
  eventWallTime_ = wallTime;
  eventEnd_ = wallTime + (exact ? 0.0 : coalesceSeconds_);
  eventExact_ = exact;
  encoder_.begin(wallTime, step);
}

void EventStream::describe(ScalarSeries* series) {
  series->describedInFile = fileSerial_;
  if (series->bytes.hasMetadata()) {
    described_.emplace(series->tag, series->metadata);
  }
}

void EventStream::addEvent(Event::What what, std::int64_t step, double wallTime, bool exact) {
  finishEvent();
  Event event;
  event.wallTime = exact ? wallTime : monotonic(wallTime);
  event.step = step;
  event.what = std::move(what);
  auto* const summary = std::get_if<Summary>(&event.what);
  const std::size_t values = summary != nullptr ? summary->values.size() : 1;
  const bool isFirst = pendingBytes() == 0;
  try {
    if (summary != nullptr) {
      for (Value& value : summary->values) {
        describeOnce(&value);
        noteStep(value.tag, step);
      }
    }
    appendRecord(event, &buffer_);
  } catch (...) {
    forgetDescriptions(summary);
    throw;
  }
  noteAppended(isFirst);
  bufferValues_ += values;
  core_->count(&WriterCore::Counters::values, values);
}

void EventStream::addScalarAtLastStep(ScalarSeries* series, float value, std::int64_t step,
                                      double wallTime, bool exact) {
  const bool isFirst = series->lastStep == ScalarSeries::kNoStep;
  // The point that is there already: two at one step are an error to tensorboard-reducer, and a
  // knee in a curve.
  const float last = series->lastValue;
  const bool isThere = !isFirst && (value == last || (std::isnan(value) && std::isnan(last)));
  if (!isThere) {
    addScalar(series, value, isFirst ? step : series->lastStep, wallTime, exact);
  }
}

/// The descriptions that an event carries are not in the file: the tags' next values bring them.
void EventStream::forgetDescriptions(const Summary* summary) noexcept {
  if (summary == nullptr) {
    return;
  }
  for (const Value& value : summary->values) {
    if (value.metadata) {
      described_.erase(value.tag);
    }
  }
}

void EventStream::loseScalar(ScalarSeries* series, const std::exception& error) noexcept {
  series->describedInFile = 0;  // its description may be lost with it
  core_->noteLost(error, 1, 0);
}

void EventStream::describeOnce(Value* value) {
  if (value->metadata && !described_.emplace(value->tag, *value->metadata).second) {
    value->metadata.reset();
  }
}

void EventStream::noteStep(const std::string& tag, std::int64_t step) {
  const auto [known, isFirst] = lastSteps_.emplace(tag, step);
  if (!isFirst && step < known->second) {
    noteStepBack(tag, known->second, step);
  }
  known->second = step;
}

void EventStream::noteStepBack(ScalarSeries* series, std::int64_t step) {
  if (std::exchange(series->resumes, resumes_) == resumes_) {
    noteStepBack(series->tag, series->lastStep, step);
  }
}

void EventStream::noteStepBack(const std::string& tag, std::int64_t last, std::int64_t step) {
  core_->count(&WriterCore::Counters::stepRegressions, 1);
  if (++stepsBack_[tag] == 1) {
    core_->reporter().report(
        {ErrorCode::kInvalidArgument,
         "\"" + tag + "\" in " + directory_ + ": step " + std::to_string(step) +
             " came after step " + std::to_string(last) +
             "; TensorBoard drops what it overtakes. SummaryWriter::resume() says that a "
             "run goes on from an earlier step"});
  }
}

void EventStream::reportStepsBack() {
  while (!stepsBack_.empty()) {
    const auto& [tag, count] = *stepsBack_.begin();
    if (count > 1) {
      core_->reporter().report({ErrorCode::kInvalidArgument, "\"" + tag + "\" in " + directory_ +
                                                                 ": steps went back " +
                                                                 std::to_string(count) + " times"});
    }
    stepsBack_.erase(stepsBack_.begin());
  }
}

void EventStream::resume(std::int64_t step, double wallTime) {
  ++resumes_;
  lastSteps_.clear();
  if (!file_.created() && pendingBytes() == 0 && encoder_.size() == 0) {
    purgeFrom_ = step;
    return;
  }
  addEvent(SessionLog{SessionLog::Status::kStart, "", ""}, step, wallTime, false);
}

void EventStream::finishAged(double now) {
  if (now - eventWallTime_ > coalesceSeconds_) {
    finishEvent();
  }
}

void EventStream::finishEvent() {
  if (encoder_.size() == 0) {
    return;
  }
  const bool isFirst = pendingBytes() == 0;
  const std::size_t scalars = encoder_.size();
  {
    detail::OpenRecord record(&buffer_);
    encoder_.appendTo(record.payload());
    record.end();
  }
  encoder_.clear();
  noteAppended(isFirst);
  bufferScalars_ += scalars;
  core_->count(&WriterCore::Counters::scalars, scalars);
  ++eventSerial_;
  eventEnd_ = eventWallTime_ - 1;
  if (buffer_.bytes().size() >= kChunkBytes && failures_ == 0) {
    writeWhileCached();
  }
}

/// Writes a full buffer while its bytes are in the cache; a failure is reported and scheduled like
/// any other.
void EventStream::writeWhileCached() noexcept {
  try {
    writeAll(std::chrono::steady_clock::now());
  } catch (const std::exception&) {
    // Out of memory: writeIfDue() tries again.
  }
}

void EventStream::noteAppended(bool isFirst) {
  if (isFirst) {
    oldest_ = std::chrono::steady_clock::now();
  }
  core_->count(&WriterCore::Counters::events, 1);
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
  const bool any = pendingBytes() > 0 || encoder_.size() > 0;
  const bool due = pendingBytes() >= kChunkBytes || now - oldest_ >= core_->options().flushPeriod;
  if (any && due) {
    // The failure has been reported, and the next try is scheduled.
    writeAll(now);
  }
}

Status EventStream::writeAll(TimePoint now) {
  finishEvent();
  if (pendingBytes() == 0) {
    return {};
  }
  if (failures_ > 0) {
    core_->count(&WriterCore::Counters::retries, 1);
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
  const WriterOptions& options = core_->options();
  const bool large = options.maxFileBytes > 0 && file_.size() >= options.maxFileBytes;
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
    core_->reporter().report(
        {ErrorCode::kIoError, file_.path() +
                                  " was deleted while the run was being written; what it held is "
                                  "lost, the run goes on in a new file"});
    file_.abandon();
  }
  Status status = create(core_->wallSeconds());
  if (status.ok()) {
    mustDescribeAgain_ = true;
  }
  return status;
}

Status EventStream::writePending() {
  while (!chunks_.empty()) {
    Status status = file_.append(chunks_.front().bytes);
    if (!status.ok()) {
      return status;
    }
    core_->count(&WriterCore::Counters::bytesWritten, chunks_.front().bytes.size());
    chunkBytes_ -= chunks_.front().bytes.size();
    chunks_.pop_front();
  }
  Status status = file_.append(buffer_.bytes());
  if (status.ok()) {
    core_->count(&WriterCore::Counters::bytesWritten, buffer_.bytes().size());
    buffer_.clear();
    bufferScalars_ = 0;
    bufferValues_ = 0;
  }
  return status;
}

void EventStream::noteFailure(const Status& status, TimePoint now) {
  const bool isFirst = failures_ == 0;
  const int doublings = std::min(failures_, 6);
  retryAt_ = now + std::min<std::chrono::milliseconds>(kFirstRetry * (1 << doublings), kLastRetry);
  ++failures_;
  if (isFirst) {
    core_->reporter().report(status);
  }
}

void EventStream::updateBacklog() {
  while (failures_ > 0 && core_->options().overflow == OverflowPolicy::kDropOldest &&
         pendingBytes() > core_->options().queueBytes && !chunks_.empty()) {
    dropOldestChunk();
  }
  if (mustDescribeAgain_) {
    describeAgain();
  }
  const std::size_t backlog = failures_ > 0 ? pendingBytes() : 0;
  core_->changeBacklog(knownBacklog_, backlog);
  knownBacklog_ = backlog;
}

void EventStream::dropOldestChunk() {
  // A chunk of which a part is in the file for good has to be finished, or the file is damaged.
  const auto oldest = chunks_.begin() + (file_.hasPartialAppend() ? 1 : 0);
  if (oldest == chunks_.end()) {
    sealBuffer();
    return;
  }
  core_->countDropped(oldest->scalars, oldest->values);
  chunkBytes_ -= oldest->bytes.size();
  chunks_.erase(oldest);
  mustDescribeAgain_ = true;
}

/// Readers need a tag's metadata with its first value in a file. What waits was encoded behind
/// values that are gone: puts it in again. Once more, if it throws.
void EventStream::describeAgain() {
  finishEvent();
  sealBuffer();
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

/// `records`, with those of `metadata` that are not in described_ yet, which then are.
std::string EventStream::described(std::string_view records, const Metadata& metadata) {
  RecordBuffer result;
  while (!records.empty()) {
    const std::uint64_t length = detail::loadLittleEndian64(records.data());
    Event event;
    // Cannot fail: these bytes are our own.
    if (decodeEvent(records.substr(kHeaderBytes, length), &event).ok()) {
      if (auto* const summary = std::get_if<Summary>(&event.what)) {
        for (Value& value : summary->values) {
          const auto known = metadata.find(value.tag);
          if (known != metadata.end() && described_.insert(*known).second) {
            value.metadata = known->second;
          }
        }
      }
      appendRecord(event, &result);
    }
    records.remove_prefix(kFramingBytes + length);
  }
  return result.take();
}

/// Where a part of a failed append cannot be cut off, the whole records in it are not dropped.
void EventStream::keepWholeRecords() {
  if (!head_.empty() || mustFinish_ || file_.cutBack() == 0) {
    return;
  }
  sealBuffer();
  Chunk& chunk = chunks_.front();
  std::string_view rest(chunk.bytes);
  while (rest.size() >= kFramingBytes) {
    const std::uint64_t length = detail::loadLittleEndian64(rest.data());
    if (file_.partialBytes() < kFramingBytes + length) {
      return;
    }
    std::uint64_t values = 0;
    std::uint64_t& counter =
        countsAsScalars(rest.substr(kHeaderBytes, length), &values) ? chunk.scalars : chunk.values;
    counter -= std::min(counter, values);
    file_.keepPartial(kFramingBytes + length);
    rest.remove_prefix(kFramingBytes + length);
  }
}

/// A file that close() could not make whole comes before the next one is begun, a few times.
Status EventStream::finishClosed() {
  constexpr int kTries = 8;
  const int error = file_.finish();
  if (error != 0 && ++finishTries_ < kTries) {
    return {ErrorCode::kIoError, "cannot cut half a record off " + file_.path() + ": " +
                                     std::generic_category().message(error)};
  }
  file_.abandon();
  mustFinish_ = false;
  finishTries_ = 0;
  return {};
}

/// What is left when writeAll() has returned.
void EventStream::close() {
  finishEvent();
  keepWholeRecords();
  for (const Chunk& chunk : chunks_) {
    core_->countDropped(chunk.scalars, chunk.values);
  }
  core_->countDropped(std::exchange(bufferScalars_, 0), std::exchange(bufferValues_, 0));
  buffer_.clear();
  chunks_.clear();
  chunkBytes_ = 0;
  failures_ = 0;
  mustDescribeAgain_ = false;
  updateBacklog();
  mustFinish_ = file_.finish() != 0;
  head_.clear();
  reportStepsBack();
}

}  // namespace steptape
