// SPDX-License-Identifier: Apache-2.0
#include "log/writer/backend.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <utility>

#include "base/fork_handlers.h"
#include "base/requests_blocked.h"
#include "log/writer/directory_place.h"
#include "log/writer/terminate_handler.h"
#include "log/writer/wait_check.h"

namespace steptape::detail::log {
namespace {

// Far below the usual limit of 1024 descriptors, and more than are written at once.
constexpr std::size_t kOpenFiles = 64;
constexpr std::chrono::milliseconds kCheckPeriod{50};

}  // namespace

std::atomic<Backend*> Backend::current_{nullptr};
std::atomic<bool> Backend::isExiting_{false};

Backend& Backend::instance() {
  static const bool kPrepared = [] {
    static constexpr base::ForkHandlers kHandlers{
        []() -> base::Mutex* {
          Backend* const backend = current_.load(std::memory_order_acquire);
          return backend != nullptr ? &backend->mutex_ : nullptr;
        },
        &afterForkInChild};
    base::addForkHandlers(base::ForkOrder::kWriters, kHandlers);
    callBeforeTerminate([] { instance().flushAllBeforeAbort(); });
    std::atexit([] {
      if (Backend* const backend = current_.load(std::memory_order_acquire)) {
        backend->removeBoxAtExit();
      }
    });
    return true;
  }();
  static_cast<void>(kPrepared);
  Backend* known = current_.load(std::memory_order_acquire);
  if (known != nullptr) {
    return *known;
  }
  // The first backend of the process, or of a forked child. Never destroyed: threads and writers
  // may outlive main().
  auto made = std::unique_ptr<Backend>(new Backend);
  return current_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)
             ? *made.release()
             : *known;
}

Backend::Backend()
    : names_(&log_),
      openFiles_(kOpenFiles),
      captured_(&series_),
      updates_(&log_, &rings_, &captured_, [this] { return runs(); }) {}

void Backend::attach(std::shared_ptr<RunStreams> run, std::function<void()> beforeAbort) {
  const DirectoryPlace place = placeOf(run->context().directory());
  base::MutexLock lock(mutex_);
  try {
    if (clients_.empty()) {
      log_.open(timesAt(readTicks(), TickConverter()));
      names_.clear();
    }
    clients_.push_back({std::move(run), std::move(beforeAbort)});
    RunStreams* const attached = clients_.back().run.get();
    try {
      names_.addRun(attached, place);
      if (thread_ == std::thread::id()) {
        start();
      }
    } catch (...) {
      names_.removeRun(attached);
      clients_.pop_back();
      throw;
    }
  } catch (const std::exception& error) {
    if (clients_.empty()) {
      closeLog();
    }
    if (dynamic_cast<const std::system_error*>(&error) == nullptr) {
      throw;
    }
    throw Error(ErrorCode::kResourceExhausted,
                std::string("SummaryWriter: cannot start the background thread: ") + error.what());
  }
}

void Backend::start() {
  // Detached: the thread ends after the last writer, and no thread may wait for a disk that never
  // responds.
  const base::RequestsBlocked blocked;
  std::thread thread([this] { run(); });
  thread_ = thread.get_id();
  thread.detach();
}

Backend::Requests Backend::makeRequest(Request what) {
  Requests one;
  one.push_back(std::make_shared<PendingRequest>(what));
  return one;
}

Status Backend::request(Requests one, const std::shared_ptr<RunStreams>& run,
                        std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const std::shared_ptr<PendingRequest> request = one.front();
  request->run = run;
  {
    const base::MutexLock lock(mutex_);
    requests_.splice(requests_.end(), one);
    work_.notifyOne();
  }
  const WaitCheck::Function mayWait = WaitCheck::ofThread();
  bool isInTime = true;
  do {
    const base::MutexLock lock(mutex_);
    const auto until = mayWait == nullptr
                           ? deadline
                           : std::min(deadline, std::chrono::steady_clock::now() + kCheckPeriod);
    while (!request->done && done_.waitUntil(mutex_, until)) {
    }
    if (request->done) {
      return request->result;
    }
    isInTime = std::chrono::steady_clock::now() < deadline;
  } while (isInTime && (mayWait == nullptr || mayWait()));
  const base::MutexLock lock(mutex_);
  const char* const what = request->isShortOfMemory
                               ? ": out of memory; not everything was written within "
                               : ": the disk did not take everything within ";
  return {ErrorCode::kDeadlineExceeded, run->context().directory() + what +
                                            (isInTime ? "the time until the interruption"
                                                      : std::to_string(timeout.count()) + " ms")};
}

/// Locks mutex_ while the process ends.
/// @return false if that fails: if the ending thread holds it, nothing can be done.
bool Backend::lockAtEnd() {
  constexpr int kTries = 1000;
  constexpr auto kBetweenTries = std::chrono::milliseconds(1);
  for (int tries = 0; tries < kTries; ++tries) {
    if (mutex_.tryLock()) {
      return true;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
  return false;
}

/// Until the last of the writers that outlive main() is closed, its box stays.
void Backend::removeBoxAtExit() {
  if (lockAtEnd()) {
    isExiting_ = true;
    if (clients_.empty()) {
      log_.remove();
    }
    mutex_.unlock();
  }
}

void Backend::flushAllBeforeAbort() {
  constexpr std::chrono::milliseconds kLongestFlush = std::chrono::seconds(5);
  if (!lockAtEnd()) {
    return;
  }
  const std::vector<Client> clients = clients_;
  const bool isBackend = thread_ == std::this_thread::get_id();
  mutex_.unlock();
  if (isBackend) {
    return;  // no writer is left
  }
  for (const Client& client : clients) {
    client.beforeAbort();
    // Nobody can read the result; onError has reported it.
    static_cast<void>(
        request(makeRequest(Request::kFlush), client.run,
                std::min(client.run->context().options().flushTimeout, kLongestFlush)));
  }
}

void Backend::wake() {
  base::MutexLock lock(mutex_);
  wake_ = true;
  work_.notifyOne();
}

Producer& Backend::addProducer() {
  std::shared_ptr<OwnedProducer> producer = log_.makeProducer();
  {
    base::MutexLock lock(mutex_);
    producers_.push_back(producer);
  }
  return Producer::keep(std::move(producer));
}

std::uint32_t Backend::addSeries(std::unique_ptr<RegisteredSeries> series) {
  base::MutexLock lock(mutex_);
  const RegisteredSeries& added = *series;
  const std::uint32_t id = series_.add(std::move(series));
  names_.addSeries(id, added);
  return id;
}

std::vector<std::shared_ptr<RunStreams>> Backend::runs() {
  base::MutexLock lock(mutex_);
  std::vector<std::shared_ptr<RunStreams>> runs;
  runs.reserve(clients_.size());
  for (const Client& client : clients_) {
    runs.push_back(client.run);
  }
  return runs;
}

void Backend::run() {
  pthread_setname_np(pthread_self(), "steptape");
  Requests requests;
  while (waitForWork(&requests)) {
    try {
      pass(&requests);
    } catch (const std::exception&) {
      // Out of memory: the next pass does the remaining work, including requests.
      base::MutexLock lock(mutex_);
      for (const auto& request : requests) {
        request->isShortOfMemory = true;
      }
    }
  }
}

bool Backend::waitForWork(Requests* requests) {
  const bool isRetry = !requests->empty();
  const auto deadline = std::chrono::steady_clock::now() + rings_.nextPause(isRetry);
  base::MutexLock lock(mutex_);
  while (!wake_ && (isRetry || (requests_.empty() && !clients_.empty()))) {
    if (!work_.waitUntil(mutex_, deadline)) {
      break;
    }
  }
  wake_ = false;
  requests->splice(requests->end(), requests_);
  if (requests->empty() && clients_.empty()) {
    thread_ = {};
    return false;
  }
  return true;
}

void Backend::pass(Requests* requests) {
  const bool everything = !requests->empty();
  drainRings(everything);
  encodeCaptured(everything);
  writeStreams();
  stateNotes_.noteState(series_);
  while (!requests->empty()) {
    PendingRequest* const request = requests->front().get();
    answer(request);
    // Released before the request is answered, so that nothing touches a closed writer's files.
    request->run.reset();
    {
      base::MutexLock lock(mutex_);
      request->done = true;
      done_.notifyAll();
    }
    requests->pop_front();
  }
  rings_.recalibrateIfDue();
  reportProblem();
}

/// Tells all writers once that something is not protected.
void Backend::reportProblem() {
  const Status problem = log_.takeProblem();
  if (!problem.ok()) {
    for (const std::shared_ptr<RunStreams>& run : runs()) {
      run->context().reporter().report(problem);
    }
  }
}

void Backend::drainRings(bool everything) {
  {
    base::MutexLock lock(mutex_);
    rings_.begin(producers_, everything);
  }
  for (bool all = false; !all;) {
    all = rings_.takeNext();
    encodeEntries();
    // The pieces of one ring are written while they are in the second-level cache.
    if (rings_.isAlone() && wantsWrite()) {
      if (updates_.announceWrites()) {
        writeStreams();
        updates_.secure();
      } else {
        updates_.secure();
        writeStreams();
      }
    }
  }
  updates_.secure();
  // Only now: a ring that could not be emptied must be found again.
  for (const OwnedProducer* producer : rings_.finish()) {
    forgetProducer(producer);
  }
}

void Backend::forgetProducer(const OwnedProducer* producer) {
  std::shared_ptr<OwnedProducer> last;  // freed without the lock
  base::MutexLock lock(mutex_);
  const auto found =
      std::find_if(producers_.begin(), producers_.end(),
                   [producer](const auto& known) { return known.get() == producer; });
  last = std::move(*found);
  producers_.erase(found);
}

void Backend::encodeEntries() {
  // After reading the rings: a series is added before its first scalar is published.
  series_.takeNew();
  // Nothing here throws: an entry is encoded, deferred or counted as dropped.
  for (const RingEntry& entry : rings_.entries()) {
    const bool exact = entry.wallTime != RingEntry::kNoWallTime;
    const double wallTime =
        exact ? RingEntry::wallSeconds(entry.wallTime) : rings_.wallSeconds(entry.ticks);
    if (!entry.isScalar()) {
      std::unique_ptr<CapturedValue> captured(entry.capturedValue());
      captured_.take(std::move(captured), wallTime);
    } else if (RegisteredSeries* const series = series_[entry.series]) {
      series->add(entry.value, entry.step(), wallTime, exact);
    }
  }
  rings_.entries().clear();
}

void Backend::encodeCaptured(bool everything) {
  // Large images take long. Meanwhile, the rings must not fill up, and scalars must not wait for
  // their file.
  const bool any = !captured_.isEmpty();
  while (!captured_.isEmpty()) {
    captured_.encodeNext();
    if (rings_.isDue()) {
      drainRings(everything);
      writeStreams();
    }
  }
  if (any) {
    updates_.secure();
  }
}

bool Backend::wantsWrite() {
  for (const std::shared_ptr<RunStreams>& run : runs()) {
    for (const EventStream* stream : run->streams()) {
      if (stream->wantsWrite()) {
        return true;
      }
    }
  }
  return false;
}

void Backend::writeStreams() {
  const auto now = std::chrono::steady_clock::now();
  for (const std::shared_ptr<RunStreams>& run : runs()) {
    const double wallTime = run->context().wallSeconds();
    for (EventStream* stream : run->streams()) {
      try {
        stream->finishAged(wallTime);
        stream->writeIfDue(now);
      } catch (const std::bad_alloc&) {
        // This stream keeps its data; other streams may need less memory.
      }
    }
  }
}

/// May be called again if it throws.
void Backend::answer(PendingRequest* request) {
  RunStreams* const run = request->run.get();
  const auto now = std::chrono::steady_clock::now();
  if (request->what == Request::kFlush) {
    request->result = Status();  // the previous pass may not have finished it
  }
  for (EventStream* stream : run->streams()) {
    Status status = stream->writeAll(now);
    if (!status.ok()) {
      request->result = std::move(status);
    }
    if (request->what != Request::kFlush) {
      stream->close();
    }
  }
  if (request->what != Request::kFlush) {
    updates_.secure();  // what was dropped must not come back
    run->context().release();
  }
  if (request->what == Request::kDetach) {
    forget(run);
  }
  Status earlier = run->context().reporter().takeFailure();
  if (request->result.ok()) {
    request->result = std::move(earlier);
  }
}

void Backend::forget(RunStreams* run) {
  series_.remove(run->context());
  base::MutexLock lock(mutex_);
  names_.removeRun(run);
  clients_.erase(std::find_if(clients_.begin(), clients_.end(),
                              [run](const Client& client) { return client.run.get() == run; }));
  if (clients_.empty()) {
    closeLog();
  }
}

/// After the last writer.
void Backend::closeLog() {
  log_.close();
  if (isExiting_) {
    log_.remove();
  }
}

void Backend::afterForkInChild() {
  // The thread does not exist in the child, and its state is arbitrary. The files belong to the
  // parent. Everything stays untouched, and new calls use a new backend.
  if (Backend* const backend = current_.exchange(nullptr, std::memory_order_acq_rel)) {
    for (const Client& client : backend->clients_) {
      client.run->context().disown();
    }
  }
  Producer::abandon();
}

}  // namespace steptape::detail::log
