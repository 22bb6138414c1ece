// SPDX-License-Identifier: Apache-2.0
#include "writer/writer_core.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "steptape/base/utf8.h"
#include "steptape/summary/tag.h"

#include "writer/backend.h"
#include "writer/wait_for_backend.h"

namespace steptape {
namespace {

// In TagCache the curves of addScalars() are another writer's tags, so that no tag can be taken for
// one.
constexpr std::uint64_t kSubRuns = std::uint64_t{1} << 63;

std::uint64_t nextSerial() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint64_t bitsOf(double wallTime) {
  std::uint64_t bits;
  std::memcpy(&bits, &wallTime, sizeof(bits));
  return bits;
}

/// A NaN here makes TensorBoard's fast data server give up the whole file.
void checkWallTime(double wallTime) {
  if (!std::isfinite(wallTime)) {
    throw Error(ErrorCode::kInvalidArgument,
                "wallTime: got " + std::to_string(wallTime) + ", want finite seconds since 1970");
  }
}

/// Refuses what would leave the run's directory.
void checkSubRunPath(std::string_view path) {
  checkTag(path);
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") {
      throw Error(ErrorCode::kInvalidArgument, "addScalars: \"" + std::string(path) +
                                                   "\" leaves the run's directory; it may not "
                                                   "have a component \"..\"");
    }
    begin = end + 1;
  }
}

}  // namespace

WriterCore::WriterCore(std::string directory, WriterOptions options, OpenFiles* openFiles)
    : serial_(nextSerial()),
      directory_(std::move(directory)),
      options_(std::move(options)),
      openFiles_(openFiles),
      startTime_(wallSeconds()),
      tooFast_(ErrorCode::kResourceExhausted,
               "points of " + directory_ +
                   " are being dropped: they come faster than the disk takes them; "
                   "SummaryWriter::stats() counts them"),
      outOfMemory_(ErrorCode::kResourceExhausted,
                   "points of " + directory_ +
                       " are being dropped: out of memory; SummaryWriter::stats() counts them"),
      detachRequest_(Backend::makeRequest(Backend::Request::kDetach)),
      reporter_(options_.onError),
      budget_(options_) {
  {
    MutexLock lock(mutex_);
    mainStream_ = &streams_.emplace_back(this, directory_, openFiles_);
  }
  updateDetour();
  if (enabled()) {
    mainStream_->create(startTime_).throwIfError();
  }
}

WriterStats WriterCore::stats() const {
  const auto read = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  WriterStats stats;
  stats.scalars = read(counters_.scalars);
  stats.values = read(counters_.values);
  stats.events = read(counters_.events);
  stats.bytesWritten = read(counters_.bytesWritten);
  stats.files = read(counters_.files);
  stats.droppedScalars = read(counters_.droppedScalars);
  stats.droppedValues = read(counters_.droppedValues);
  stats.retries = read(counters_.retries);
  stats.stepRegressions = read(counters_.stepRegressions);
  return stats;
}

std::vector<WriterCore::File> WriterCore::files() const {
  MutexLock lock(mutex_);
  return {files_.begin(), files_.end()};
}

void WriterCore::noteFile(std::list<File> one) noexcept {
  MutexLock lock(mutex_);
  files_.splice(files_.end(), one);
}

std::vector<EventStream*> WriterCore::streams() {
  MutexLock lock(mutex_);
  std::vector<EventStream*> streams;
  streams.reserve(streams_.size());
  for (EventStream& stream : streams_) {
    streams.push_back(&stream);
  }
  return streams;
}

std::string WriterCore::validTag(std::string_view tag) {
  checkTag(tag);
  if (isValidUtf8(tag)) {
    return std::string(tag);
  }
  std::string valid = replaceInvalidUtf8(tag);
  reporter_.reportOnce("the tag \"" + valid +
                       "\" was not UTF-8; what is not was replaced by U+FFFD");
  return valid;
}

std::uint32_t WriterCore::internSeries(std::string_view tag, std::uint64_t hash,
                                       const ScalarOptions* options, Producer* producer) {
  checkTag(tag);
  if (!isActive()) {
    return 0;
  }
  std::string valid = validTag(tag);  // may report, which no lock is held for
  MutexLock lock(mutex_);
  auto known = series_.find(std::string(tag));
  if (known == series_.end()) {
    const ScalarOptions none;
    const ScalarOptions& names = options != nullptr ? *options : none;
    const std::uint32_t id = Backend::instance().addSeries(mainStream_, std::move(valid),
                                                           names.displayName, names.description);
    known = series_.emplace(tag, id).first;
  }
  producer->tags.insert(serial_, known->first, hash, known->second);
  return known->second;
}

EventStream* WriterCore::subRunStream(const std::string& directory) {
  EventStream*& stream = subRuns_[directory];
  if (stream == nullptr) {
    stream = &streams_.emplace_back(this, directory, openFiles_);
  }
  return stream;
}

std::uint32_t WriterCore::subRunSeries(std::string_view mainTag, std::string_view name,
                                       const ScalarOptions& options) {
  // Kept by the thread, so that a known curve allocates nothing.
  static thread_local std::string key;
  key.assign(mainTag);
  key += '\0';
  key += name;
  Producer& producer = Producer::current();
  const std::uint64_t hash = TagCache::hash(key);
  if (const std::uint32_t cached = producer.tags.find(serial_ | kSubRuns, key, hash)) {
    return cached;
  }
  checkSubRunPath(mainTag);
  checkSubRunPath(name);
  if (!isActive()) {
    return 0;
  }
  std::string valid = validTag(mainTag);
  MutexLock lock(mutex_);
  auto known = subRunSeries_.find(key);
  if (known == subRunSeries_.end()) {
    EventStream* const stream =
        subRunStream(directory_ + "/" + std::string(mainTag) + "/" + std::string(name));
    const std::uint32_t id = Backend::instance().addSeries(
        stream, std::move(valid), options.displayName, options.description);
    known = subRunSeries_.emplace(key, id).first;
  }
  producer.tags.insert(serial_ | kSubRuns, known->first, hash, known->second);
  return known->second;
}

std::uint64_t WriterCore::callerWallTime() const {
  return options_.clock ? bitsOf(options_.clock->wallSeconds()) : RingEntry::kNoWallTime;
}

void WriterCore::addScalarAt(std::uint32_t series, double value, std::int64_t step,
                             std::optional<double> wallTime) {
  if (wallTime) {
    checkWallTime(*wallTime);
    addScalarSlowly(series, value, step, bitsOf(*wallTime));
  } else {
    addScalar(series, value, step);
  }
}

void WriterCore::addScalarSlowly(std::uint32_t series, double value, std::int64_t step,
                                 std::uint64_t wallTime) {
  if (series == 0) {
    return;
  }
  if (wallTime == RingEntry::kNoWallTime) {
    wallTime = callerWallTime();
  }
  const BatchedScalar scalar{series, static_cast<float>(value)};
  addBatch(step, readTicks(), wallTime, &scalar, 1);
}

void WriterCore::addBatch(std::int64_t step, std::uint64_t ticks, std::uint64_t wallTime,
                          const BatchedScalar* scalars, std::size_t count) {
  Producer& producer = Producer::current();
  const std::size_t words = ScalarRing::batchWords(count);
  if (detour_.load(std::memory_order_relaxed) || !producer.ring.hasRoom(words)) {
    if (!isActive()) {
      return;
    }
    if (!budget_.waitForRoom() || !makeRoom(&producer, words)) {
      countDropped(count, 0);
      return;
    }
  }
  producer.ring.pushBatch(step, ticks, wallTime, scalars, count);
}

void WriterCore::addScalarInFlight(std::uint32_t series, TensorView value, std::int64_t step,
                                   std::optional<double> wallTime) {
  if (series == 0) {
    return;
  }
  CapturedValue captured;
  captured.step = step;
  captured.wallTime = wallTime;
  captured.bytes = dtypeSize(value.dtype());
  captured.scalars = 1;
  captured.order = CapturedValue::Order::kInPlace;
  captured.run = [id = series, value = std::move(value)](const CapturedValue::Place& place) {
    value.waitForElements();
    ScalarSeries* const known = place.seriesOf(id);
    known->stream->addScalar(known, static_cast<float>(value.element()), place.step, place.wallTime,
                             place.exact);
    return Status();
  };
  handOver(std::move(captured));
}

void WriterCore::addScalarAtLastStep(std::uint32_t series, double value,
                                     std::optional<double> wallTime) {
  if (series == 0) {
    return;
  }
  CapturedValue captured;
  captured.step = options_.purgeStep.value_or(0);
  captured.wallTime = wallTime;
  captured.scalars = 1;
  captured.order = CapturedValue::Order::kInPlace;
  captured.run = [id = series, value](const CapturedValue::Place& place) {
    ScalarSeries* const known = place.seriesOf(id);
    known->stream->addScalarAtLastStep(known, static_cast<float>(value), place.step, place.wallTime,
                                       place.exact);
    return Status();
  };
  handOver(std::move(captured));
}

void WriterCore::addDeferredScalars(std::int64_t step, std::size_t count, std::size_t bytes,
                                    std::function<Status(const CapturedValue::Place&)> run) {
  if (count == 0) {
    return;
  }
  CapturedValue captured;
  captured.step = step;
  captured.bytes = bytes;
  captured.scalars = count;
  captured.order = CapturedValue::Order::kInPlace;
  captured.run = std::move(run);
  handOver(std::move(captured));
}

void WriterCore::resume(std::int64_t step) {
  CapturedValue captured;
  captured.step = step;
  captured.order = CapturedValue::Order::kBarrier;
  captured.run = [this](const CapturedValue::Place& place) {
    for (EventStream* stream : streams()) {
      stream->resume(place.step, place.wallTime);
    }
    return Status();
  };
  handOver(std::move(captured));
}

void WriterCore::endSession(SessionStatus status) {
  const std::optional<std::vector<std::string>> promised = session_.end();
  if (!promised) {
    return;
  }
  for (const std::string& tag : *promised) {
    if (!hasSeries(tag)) {
      reporter_.report({ErrorCode::kInvalidArgument, "the metric \"" + tag +
                                                         "\" of addHparams() was never logged in " +
                                                         directory_ + "; its column stays empty"});
    }
  }
  addValue(0, std::nullopt, 0,
           [status, now = wallSeconds()] { return sessionEndValue(status, now); });
}

bool WriterCore::hasSeries(std::string_view tag) const {
  MutexLock lock(mutex_);
  return series_.count(std::string(tag)) > 0;
}

void WriterCore::addEvent(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                          std::function<Event::What()> encode) {
  CapturedValue value;
  value.step = step;
  value.wallTime = wallTime;
  value.bytes = bytes;
  value.run = [encode = std::move(encode)](const CapturedValue::Place& place) {
    place.stream->addEvent(encode(), place.step, place.wallTime, place.exact);
    return Status();
  };
  handOver(std::move(value));
}

void WriterCore::addValue(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                          std::function<Value()> encode) {
  addEvent(step, wallTime, bytes, [encode = std::move(encode)] {
    Summary summary;
    summary.values.push_back(encode());
    return Event::What(std::move(summary));
  });
}

void WriterCore::addValues(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                           std::function<std::vector<Value>()> encode) {
  addEvent(step, wallTime, bytes,
           [encode = std::move(encode)] { return Event::What(Summary{encode()}); });
}

void WriterCore::addFiles(std::size_t bytes, std::function<Status(bool* again)> write) {
  CapturedValue value;
  value.bytes = bytes;
  value.run = [write = std::move(write)](const CapturedValue::Place& place) {
    return write(place.again);
  };
  handOver(std::move(value));
}

void WriterCore::handOver(CapturedValue value) {
  if (value.wallTime) {
    checkWallTime(*value.wallTime);
  }
  if (!isActive()) {
    return;
  }
  value.core = this;
  if (!value.wallTime && options_.clock) {
    value.wallTime = options_.clock->wallSeconds();
  }
  Producer& producer = Producer::current();
  if (!budget_.waitForRoom() || !makeRoom(&producer, ScalarRing::kEntryWords)) {
    countDropped(value.scalars, value.values());
    return;
  }
  auto captured = std::make_unique<CapturedValue>(std::move(value));
  budget_.addCaptured(captured->bytes);
  producer.ring.pushCaptured(captured.release(), readTicks());
}

bool WriterCore::waitForRing(Producer* producer, std::size_t words) {
  if (producer->stalledAt == producer->ring.head()) {
    return false;
  }
  const bool room = waitForBackend([producer, words] { return producer->ring.hasRoom(words); },
                                   options_.blockTimeout);
  producer->stalledAt = room ? ~std::uint64_t{0} : producer->ring.head();
  return room;
}

bool WriterCore::makeRoom(Producer* producer, std::size_t words) {
  if (producer->ring.hasRoom(words)) {
    return true;
  }
  switch (options_.overflow) {
    case OverflowPolicy::kDropNewest:
      return false;
    case OverflowPolicy::kBlock:
      return waitForRing(producer, words);
    case OverflowPolicy::kDropOldest:
      break;
  }
  std::vector<RingEntry> discarded;
  producer->ring.discardOldest(ScalarRing::kWords / 8, &discarded);
  std::uint64_t scalars = 0;
  for (const RingEntry& entry : discarded) {
    if (entry.isScalar()) {
      ++scalars;
      continue;
    }
    const std::unique_ptr<CapturedValue> captured(entry.capturedValue());
    captured->core->releaseCaptured(captured->bytes);
    captured->core->countDropped(captured->scalars, captured->values());
  }
  countDropped(scalars, 0);
  return producer->ring.hasRoom(words);
}

void WriterCore::countDropped(std::uint64_t scalars, std::uint64_t values) noexcept {
  if (scalars + values == 0) {
    return;
  }
  count(&Counters::droppedScalars, scalars);
  count(&Counters::droppedValues, values);
  if (!dropReported_.exchange(true, std::memory_order_relaxed)) {
    reporter_.report(tooFast_);
  }
}

void WriterCore::noteLost(const std::exception& error, std::uint64_t scalars,
                          std::uint64_t values) noexcept {
  count(&Counters::droppedScalars, scalars);
  count(&Counters::droppedValues, values);
  if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) {
    try {
      reporter_.report({ErrorCode::kResourceExhausted,
                        std::string("a value could not be encoded and is lost: ") + error.what()});
      return;
    } catch (const std::bad_alloc&) {
      // Then that is what is reported.
    }
  }
  if (!memoryReported_.exchange(true, std::memory_order_relaxed)) {
    reporter_.report(outOfMemory_);
  }
}

void WriterCore::changeBacklog(std::size_t from, std::size_t to) {
  if (from == to) {
    return;
  }
  budget_.changeBacklog(from, to);
  updateDetour();
}

void WriterCore::updateDetour() {
  detour_.store(!isActive() || budget_.isBacklogOver() || options_.clock != nullptr,
                std::memory_order_relaxed);
}

Status WriterCore::flush() {
  if (!enabled()) {
    return {};
  }
  if (disowned_.load(std::memory_order_relaxed)) {
    return {ErrorCode::kFailedPrecondition,
            "this process was forked: the run " + directory_ + " belongs to its parent"};
  }
  Status status = request(Backend::Request::kFlush);
  dropReported_.store(false, std::memory_order_relaxed);
  memoryReported_.store(false, std::memory_order_relaxed);
  return status;
}

Status WriterCore::close() {
  return isActive() ? request(Backend::Request::kClose) : Status();
}

void WriterCore::detach() noexcept {
  if (!isActive()) {
    return;
  }
  try {
    Backend::instance().request(std::move(detachRequest_), shared_from_this(),
                                options_.flushTimeout);
  } catch (const std::bad_alloc&) {
    // Only for the words of the result, which nobody reads: it is asked for.
  }
}

Status WriterCore::request(Backend::Request what) {
  try {
    return Backend::instance().request(Backend::makeRequest(what), shared_from_this(),
                                       options_.flushTimeout);
  } catch (const std::bad_alloc&) {
    return outOfMemory_;
  }
}

void WriterCore::disown() {
  disowned_.store(true, std::memory_order_relaxed);
  updateDetour();
}

}  // namespace steptape
