// SPDX-License-Identifier: Apache-2.0
#include "log/writer/run_client.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "base/got_expected.h"
#include "base/text.h"
#include "events/framing/event_file_name.h"
#include "log/writer/directory_place.h"
#include "log/writer/recovery.h"
#include "log/writer/run_checks.h"
#include "log/writer/run_claim.h"
#include "log/writer/wait_check.h"
#include "process/blackbox/state_page.h"

namespace steptape::detail::log {
namespace {

std::uint64_t bitsOf(double wallTime) {
  std::uint64_t bits;
  std::memcpy(&bits, &wallTime, sizeof(bits));
  return bits;
}

event::Event::What eventOf(event::Value value) {
  event::Summary summary;
  summary.values.push_back(std::move(value));
  return summary;
}

/// Returns a time of which a clock does not overflow.
std::chrono::milliseconds bounded(std::chrono::milliseconds time) {
  constexpr std::chrono::hours kCentury{100 * 8766};
  return std::min<std::chrono::milliseconds>(time, kCentury);
}

/// @throws Error if a mirror cannot work here.
void checkMirror(const WriterOptions& options) {
  if (options.mirror.empty()) {
    return;
  }
  static_cast<void>(storage::parseBucketUrl(options.mirror, "SummaryWriter: mirror"));
  if (options.mirrorPeriod.count() <= 0) {
    base::reject(std::to_string(options.mirrorPeriod.count()) + " ms", "more than 0",
                 "SummaryWriter: mirrorPeriod");
  }
  storage::DirectoryMirror::checkLibrary();
}

}  // namespace

std::shared_ptr<RunClient> RunClient::create(std::string directory, WriterOptions options) {
  // Before the new event file: what is recovered must come before it in the order of names.
  RecoveryReport recovered;
  std::string place;
  RunClaim claim;  // before the run has one of its own
  if (options.enabled) {
    checkIsPath(directory, "SummaryWriter: log directory",
                ", and the URL as WriterOptions::mirror");
    checkMirror(options);
    claim = chooseRun(&directory, &options);
    if (claim.isOccupied()) {
      claim.status.throwIfError();
    }
    recovered = recoverRuns({directory});
    place = placeOf(directory).directory;
  }
  auto client = std::make_shared<RunClient>(std::move(directory), std::move(options));
  for (const RecoveryReport::Process& process : recovered.processes) {
    for (const std::string& problem : process.problems) {
      client->context().reporter().report(
          {ErrorCode::kDataLoss, "SummaryWriter: recovering what process " +
                                     std::to_string(process.pid) + " has left: " + problem});
    }
  }
  if (!claim.status.ok()) {
    client->context().reporter().report(claim.status);
  }
  if (client->context().options().enabled) {
    process::StatePage::keep();
    if (process::StatePage* const page = process::StatePage::current()) {
      page->noteLogDirectory(place);
    }
    Backend::instance().attach(
        client->sharedRun(), [self = client.get()] { self->endSession(SessionStatus::kFailure); });
    client->startMirror();
    const bool isResumed = client->run_.mainStream()->followsOthers();
    client->context().tell(isResumed ? "resumed" : "started",
                           isResumed ? "the run goes on" : "the run has begun", {},
                           /*isRare=*/true);
  }
  return client;
}

RunClient::RunClient(std::string directory, WriterOptions options)
    : detachRequest_(Backend::makeRequest(Backend::Request::kDetach)),
      run_(std::move(directory), std::move(options), Backend::instance().openFiles(),
           Backend::instance().log()),
      series_(&run_),
      overflow_(&run_.context()) {}

std::uint64_t RunClient::batchWallTime() const {
  const auto& clock = context().options().clock;
  return clock ? bitsOf(clock->wallSeconds()) : RingEntry::kNoWallTime;
}

void RunClient::addScalarAt(std::uint32_t series, double value, std::int64_t step,
                            std::optional<double> wallTime) {
  if (wallTime) {
    checkWallTime(*wallTime);
    addScalarSlowly(series, value, step, bitsOf(*wallTime));
  } else {
    addScalar(series, value, step);
  }
}

void RunClient::addScalarSlowly(std::uint32_t series, double value, std::int64_t step,
                                std::uint64_t wallTime) {
  if (series == 0) {
    return;
  }
  if (wallTime == RingEntry::kNoWallTime) {
    wallTime = batchWallTime();
  }
  const BatchedScalar scalar{series, static_cast<float>(value)};
  addBatch(step, readTicks(), wallTime, &scalar, 1);
}

void RunClient::addBatch(std::int64_t step, std::uint64_t ticks, std::uint64_t wallTime,
                         const BatchedScalar* scalars, std::size_t count) {
  Producer& producer = Backend::producer();
  const std::size_t words = ScalarRing::batchWords(count);
  if (context().needsDetour() || !producer.ring.hasRoom(words)) {
    if (!isActive()) {
      return;
    }
    if (!overflow_.makeRoom(&producer, words)) {
      context().losses().countDropped(count, 0);
      return;
    }
  }
  producer.ring.pushBatch(step, ticks, wallTime, scalars, count);
}

void RunClient::addScalarInFlight(std::uint32_t series, TensorView value, std::int64_t step,
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
  captured.work = [id = series, value = std::move(value)](const CapturedValue::Place& place) {
    value.waitForElements();
    place.seriesOf(id)->add(static_cast<float>(value.element()), place.step, place.wallTime,
                            place.exact);
    return Status();
  };
  handOver(std::move(captured));
}

void RunClient::addEvent(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                         std::function<event::Event::What()> encode) {
  CapturedValue captured;
  captured.step = step;
  captured.wallTime = wallTime;
  captured.bytes = bytes;
  captured.work = [encode = std::move(encode)](const CapturedValue::Place& place) {
    place.stream->addEvent(encode(), place.step, place.wallTime, place.exact);
    return Status();
  };
  handOver(std::move(captured));
}

void RunClient::addValues(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                          std::function<std::vector<event::Value>()> encode) {
  addEvent(step, wallTime, bytes,
           [encode = std::move(encode)] { return event::Event::What(event::Summary{encode()}); });
}

void RunClient::addValue(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                         std::function<event::Value()> encode) {
  addEvent(step, wallTime, bytes, [encode = std::move(encode)] { return eventOf(encode()); });
}

void RunClient::addValue(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                         std::function<event::Value(ValueForm)> encode) {
  addEvent(step, wallTime, bytes,
           [encode = std::move(encode), form = context().options().valueForm] {
             return eventOf(encode(form));
           });
}

void RunClient::handOver(CapturedValue value) {
  if (value.wallTime) {
    checkWallTime(*value.wallTime);
  }
  if (!isActive()) {
    return;
  }
  value.run = &run_;
  const auto& clock = context().options().clock;
  if (!value.wallTime && clock) {
    value.wallTime = clock->wallSeconds();
  }
  Producer& producer = Backend::producer();
  if (!overflow_.makeRoom(&producer, ScalarRing::kEntryWords)) {
    context().losses().countDropped(value.scalars, value.values());
    return;
  }
  auto captured = std::make_unique<CapturedValue>(std::move(value));
  context().memory().addCaptured(captured->bytes);
  producer.ring.pushCaptured(captured.release(), readTicks());
}

void RunClient::endSession(SessionStatus status) {
  const std::optional<std::vector<std::string>> promised = session_.end();
  if (!promised) {
    return;
  }
  for (const std::string& tag : *promised) {
    if (!series_.has(tag)) {
      context().reporter().report({ErrorCode::kInvalidArgument,
                                   "addHparams: the metric \"" + tag + "\" was never logged in " +
                                       context().directory() + "; its column stays empty"});
    }
  }
  addValue(0, std::nullopt, 0, [status, now = context().wallSeconds()] {
    return values::sessionEndValue(status, now);
  });
}

void RunClient::resume(std::int64_t step) {
  CapturedValue captured;
  captured.step = step;
  captured.order = CapturedValue::Order::kBarrier;
  captured.work = [this](const CapturedValue::Place& place) {
    for (EventStream* stream : run_.streams()) {
      stream->resume(place.step, place.wallTime);
    }
    return Status();
  };
  handOver(std::move(captured));
}

Status RunClient::flush() {
  if (!context().options().enabled) {
    return {};
  }
  if (!isActive()) {
    return {ErrorCode::kFailedPrecondition,
            "SummaryWriter::flush: got a call in a child of fork(); expected one in the parent, to "
            "which the run " +
                context().directory() + " belongs"};
  }
  Status status = request(Backend::Request::kFlush);
  context().losses().beginEpisode();
  return status;
}

Status RunClient::close() {
  if (!isActive()) {
    return {};
  }
  Status closed = request(Backend::Request::kClose);
  Status mirrored = drainMirror();
  return closed.ok() ? mirrored : closed;
}

WriterStats RunClient::stats() const {
  WriterStats stats = run_.context().counters().stats();
  if (mirror_ != nullptr) {
    const storage::DirectoryMirror::Stats mirror = mirror_->stats();
    stats.mirrorBytes = mirror.bytesSent;
    stats.mirrorLateFiles = mirror.lateFiles;
    stats.mirrorLateBytes = mirror.lateBytes;
  }
  return stats;
}

void RunClient::startMirror() {
  const WriterOptions& options = context().options();
  if (options.mirror.empty()) {
    return;
  }
  storage::DirectoryMirror::Options mirror;
  mirror.directory = context().directory();
  mirror.url = options.mirror;
  mirror.period = bounded(options.mirrorPeriod);
  mirror.terminationTimeout = bounded(options.mirrorTimeout);
  if (!options.purgeStep) {
    mirror.isEventFile = events::isEventFileName;
  }
  const std::weak_ptr<RunClient> self = weak_from_this();
  mirror.beforeTermination = [self] {
    if (const std::shared_ptr<RunClient> client = self.lock()) {
      client->flushForMirror();
    }
  };
  mirror.onProblem = [self](const Status& problem) {
    const std::shared_ptr<RunClient> client = self.lock();
    if (client != nullptr) {
      client->context().reporter().report(problem);
    }
    return client != nullptr;
  };
  mirror_ = storage::DirectoryMirror::of(std::move(mirror));
}

/// Writes what is in memory, while SIGTERM waits: a disk that hangs may take half of the time.
void RunClient::flushForMirror() {
  try {
    if (isActive()) {
      static_cast<void>(
          Backend::instance().request(Backend::makeRequest(Backend::Request::kFlush), sharedRun(),
                                      bounded(context().options().mirrorTimeout) / 2));
    }
  } catch (const std::bad_alloc&) {
    // The black box has it.
  }
}

Status RunClient::drainMirror() {
  if (mirror_ == nullptr) {
    return {};
  }
  Status drained =
      mirror_->drain(bounded(context().options().mirrorTimeout), WaitCheck::ofThread());
  isMirrorLate_ = !drained.ok();
  return drained;
}

void RunClient::detach() noexcept {
  if (!isActive()) {
    return;
  }
  try {
    static_cast<void>(Backend::instance().request(std::move(detachRequest_), sharedRun(),
                                                  context().options().flushTimeout));
  } catch (const std::bad_alloc&) {
    // Only the message of the ignored result is lost: the request is queued.
  }
  try {
    if (mirror_ != nullptr && !isMirrorLate_) {
      if (Status drained = drainMirror(); !drained.ok()) {
        context().reporter().report(drained);
      }
    }
  } catch (const std::exception&) {
    // There is no memory to wait for it.
  }
}

Status RunClient::request(Backend::Request what) {
  try {
    return Backend::instance().request(Backend::makeRequest(what), sharedRun(),
                                       context().options().flushTimeout);
  } catch (const std::bad_alloc&) {
    return context().losses().outOfMemory();
  }
}

}  // namespace steptape::detail::log
