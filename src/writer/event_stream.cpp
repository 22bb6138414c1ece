// SPDX-License-Identifier: Apache-2.0
#include "writer/event_stream.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "steptape/event/event_codec.h"
#include "steptape/record/record_reader.h"

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
  const WriterOptions& options = core_->options();
  Status status = file_.create(directory_, wallTime, options.filenameSuffix);
  if (!status.ok()) {
    return status;
  }
  const std::int64_t purgeFrom =
      purgeFrom_.value_or(file_.followsOthers() ? std::numeric_limits<std::int64_t>::max() : 0);
  RecordBuffer head;
  for (const Event& event : {versionEvent(wallTime), startEvent(wallTime, purgeFrom)}) {
    encodeEvent(event, head.beginRecord());
    head.endRecord();
  }
  status = file_.append(head.bytes());
  if (!status.ok()) {
    file_.finish();
    return status;
  }
  // Once: a file that only continues this one must not purge what this process has logged.
  purgeFrom_.reset();
  fileBegan_ = std::chrono::steady_clock::now();
  ++fileSerial_;
  described_.clear();
  core_->noteFile(file_.path(), directory_);
  core_->count(&WriterCore::Counters::files, 1);
  core_->count(&WriterCore::Counters::events, head.records());
  core_->count(&WriterCore::Counters::bytesWritten, head.bytes().size());
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
  described_.emplace(series->tag, series->metadata);
}

void EventStream::addEvent(Event::What what, std::int64_t step, double wallTime, bool exact) {
  finishEvent();
  Event event;
  event.wallTime = exact ? wallTime : monotonic(wallTime);
  event.step = step;
  event.what = std::move(what);
  std::size_t values = 1;
  if (auto* const summary = std::get_if<Summary>(&event.what)) {
    values = summary->values.size();
    for (Value& value : summary->values) {
      describeOnce(&value);
      noteStep(value.tag, step);
    }
  }
  appended();
  encodeEvent(event, buffer_.beginRecord());
  buffer_.endRecord();
  bufferValues_ += values;
  core_->count(&WriterCore::Counters::values, values);
}

void EventStream::addScalarAtLastStep(ScalarSeries* series, float value, std::int64_t step,
                                      double wallTime, bool exact) {
  const bool isFirst = series->lastStep == ScalarSeries::kNoStep;
  addScalar(series, value, isFirst ? step : series->lastStep, wallTime, exact);
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
  for (const auto& [tag, count] : stepsBack_) {
    if (count > 1) {
      core_->reporter().report({ErrorCode::kInvalidArgument, "\"" + tag + "\" in " + directory_ +
                                                                 ": steps went back " +
                                                                 std::to_string(count) + " times"});
    }
  }
  stepsBack_.clear();
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
  appended();
  bufferScalars_ += encoder_.size();
  core_->count(&WriterCore::Counters::scalars, encoder_.size());
  encoder_.finish(buffer_.beginRecord());
  buffer_.endRecord();
  ++eventSerial_;
  eventEnd_ = eventWallTime_ - 1;
  if (buffer_.bytes().size() >= kChunkBytes && failures_ == 0) {
    // Now, while the bytes are in the cache; a failure is reported and scheduled like any other.
    writeAll(std::chrono::steady_clock::now());
  }
}

void EventStream::appended() {
  if (pendingBytes() == 0) {
    oldest_ = std::chrono::steady_clock::now();
  }
  core_->count(&WriterCore::Counters::events, 1);
}

void EventStream::sealBuffer() {
  if (buffer_.bytes().empty()) {
    return;
  }
  Chunk chunk{buffer_.take(), std::exchange(bufferScalars_, 0), std::exchange(bufferValues_, 0)};
  chunkBytes_ += chunk.bytes.size();
  chunks_.push_back(std::move(chunk));
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
  const bool deleted = file_.created() && file_.deleted();
  if (file_.created() && !deleted) {
    return {};
  }
  if (deleted) {
    core_->reporter().report(
        {ErrorCode::kIoError, file_.path() +
                                  " was deleted while the run was being written; what it held is "
                                  "lost, the run goes on in a new file"});
    file_.finish();
  }
  std::unordered_map<std::string, SummaryMetadata> before;
  before.swap(described_);
  Status status = create(core_->wallSeconds());
  described_ = std::move(before);
  if (status.ok()) {
    describeAgain();
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
  if (failures_ == 0) {
    core_->reporter().report(status);
  }
  const int doublings = std::min(failures_, 6);
  retryAt_ = now + std::min<std::chrono::milliseconds>(kFirstRetry * (1 << doublings), kLastRetry);
  ++failures_;
}

void EventStream::updateBacklog() {
  while (failures_ > 0 && core_->options().overflow == OverflowPolicy::kDropOldest &&
         pendingBytes() > core_->options().queueBytes && !chunks_.empty()) {
    dropOldestChunk();
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
  describeAgain();
}

void EventStream::describeAgain() {
  // Readers need a tag's metadata with its first value in a file. What waits was encoded behind
  // values that are gone: put it in again.
  finishEvent();
  ++fileSerial_;
  std::unordered_map<std::string, SummaryMetadata> metadata;
  metadata.swap(described_);
  const std::size_t kept = file_.hasPartialAppend() ? 1 : 0;
  sealBuffer();
  for (std::size_t i = kept; i < chunks_.size(); ++i) {
    RecordReader records(std::make_unique<MemoryByteSource>(std::move(chunks_[i].bytes)));
    RecordBuffer described;
    std::string_view payload;
    while (records.next(&payload) == ReadOutcome::kRecord) {
      Event event;
      if (!decodeEvent(payload, &event).ok()) {
        continue;  // cannot be: these bytes are our own
      }
      if (auto* const summary = std::get_if<Summary>(&event.what)) {
        for (Value& value : summary->values) {
          const auto known = metadata.find(value.tag);
          if (known != metadata.end() && described_.insert(*known).second) {
            value.metadata = known->second;
          }
        }
      }
      encodeEvent(event, described.beginRecord());
      described.endRecord();
    }
    chunkBytes_ -= records.offset();
    chunks_[i].bytes = described.take();
    chunkBytes_ += chunks_[i].bytes.size();
  }
}

void EventStream::close() {
  finishEvent();
  sealBuffer();
  for (const Chunk& chunk : chunks_) {
    core_->countDropped(chunk.scalars, chunk.values);
  }
  chunks_.clear();
  chunkBytes_ = 0;
  failures_ = 0;
  updateBacklog();
  file_.finish();
  reportStepsBack();
}

}  // namespace steptape
