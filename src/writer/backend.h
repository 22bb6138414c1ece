// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"

#include "base/mutex.h"
#include "writer/captured_value.h"
#include "writer/event_file.h"
#include "writer/producer.h"
#include "writer/run.h"
#include "writer/series_table.h"

namespace steptape::detail {

/// The one background thread for all writers of the process.
///
/// It looks into the callers' rings every few milliseconds, merges what lies there by time, and
/// lets the streams of each Run encode and write it. It runs while there is a writer and is never
/// destroyed: writers with static storage still find it. A child made by fork() begins with a
/// backend of its own.
///
/// Where an allocation fails, what it was for stays in its ring, buffer or request, and the thread
/// tries again at the next look; what cannot stay is counted as dropped.
///
/// @threads Thread-safe.
class Backend {
 public:
  static Backend& instance();

  /// Begins to serve `run`; starts the thread if it does not run.
  /// @param beforeAbort Called by flushAllBeforeAbort() before it flushes the run.
  /// @throws Error(kResourceExhausted) if the system has no thread to give.
  void attach(std::shared_ptr<Run> run, std::function<void()> beforeAbort);

  enum class Request {
    kFlush,   ///< Everything that was logged before is in its file.
    kClose,   ///< Then the files are ended; what could not be written is dropped.
    kDetach,  ///< Then the run is forgotten, with its series.
  };
  struct PendingRequest {
    explicit PendingRequest(Request asked) : what(asked) {}

    const Request what;
    std::shared_ptr<Run> run;
    Status result;
    bool isShortOfMemory = false;
    bool done = false;
  };
  /// A list, so that what was made beforehand is handed over without an allocation.
  using Requests = std::list<std::shared_ptr<PendingRequest>>;
  static Requests makeRequest(Request what);

  /// Asks the thread and waits for it.
  /// @param one What makeRequest() made; it is queued whatever is thrown.
  /// @return kDeadlineExceeded if it did not get there by `timeout`; it still will.
  Status request(Requests one, const std::shared_ptr<Run>& run, std::chrono::milliseconds timeout);

  /// Writes what every writer has logged, for a process that is about to be aborted.
  void flushAllBeforeAbort();

  /// Makes the thread look now: for a caller that waits for room.
  void wake();

  /// The calling thread's producer, which its first call registers.
  static Producer& producer() {
    Producer* const known = Producer::known();
    return known != nullptr ? *known : instance().addProducer();
  }
  /// Registers a series. @return its number, which a ring's entries give.
  std::uint32_t addSeries(std::unique_ptr<RegisteredSeries> series);

  /// Bounds the open event files of the process; for the thread's use only.
  OpenFiles* openFiles() { return &openFiles_; }

 private:
  struct Client {
    std::shared_ptr<Run> run;
    std::function<void()> beforeAbort;
  };

  Backend();

  Producer& addProducer();
  std::vector<std::shared_ptr<Run>> runs();
  void start() STEPTAPE_REQUIRES(mutex_);
  void run();
  bool waitForWork(Requests* requests);
  void pass(Requests* requests);
  void drainRings(bool everything);
  void takeRegistrations();
  void drainAlone(ScalarRing* ring, std::uint64_t lastTicks);
  void encodeEntries();
  void takeCaptured(std::unique_ptr<CapturedValue> captured, double wallTime);
  void encodeCaptured(bool everything);
  void encodeNext();
  void forgetProducer(const Producer* producer);
  /// @return whether it wants to be called again.
  bool encode(CapturedValue* captured, double wallTime) noexcept;
  void writeStreams();
  void answer(PendingRequest* request);
  void forget(Run* run);

  // The lock is held from one call to the next, across the fork, which the analysis cannot follow.
  static void beforeFork() STEPTAPE_THREAD_ANNOTATION(no_thread_safety_analysis);
  static void afterForkInParent() STEPTAPE_THREAD_ANNOTATION(no_thread_safety_analysis);
  static void afterForkInChild() STEPTAPE_THREAD_ANNOTATION(no_thread_safety_analysis);

  static std::atomic<Backend*> current_;

  Mutex mutex_;
  CondVar work_;
  CondVar done_;
  bool running_ STEPTAPE_GUARDED_BY(mutex_) = false;
  std::thread::id thread_ STEPTAPE_GUARDED_BY(mutex_);
  bool wake_ STEPTAPE_GUARDED_BY(mutex_) = false;
  Requests requests_ STEPTAPE_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Producer>> producers_ STEPTAPE_GUARDED_BY(mutex_);
  std::vector<Client> clients_ STEPTAPE_GUARDED_BY(mutex_);
  std::deque<std::unique_ptr<RegisteredSeries>> newSeries_ STEPTAPE_GUARDED_BY(mutex_);
  std::uint32_t lastSeries_ STEPTAPE_GUARDED_BY(mutex_) = 0;

  // The thread's own.
  struct WaitingValue {
    std::unique_ptr<CapturedValue> captured;
    double wallTime;
  };
  OpenFiles openFiles_;
  TickConverter time_;
  SeriesTable series_;
  std::vector<RingEntry> entries_;  // taken out of the rings; stay here while memory is short
  std::deque<WaitingValue> captured_;
  std::uint64_t lastDrain_ = 0;
  std::uint64_t lastCalibration_ = 0;
  std::chrono::milliseconds pause_;
  bool idle_ = true;  // the last pass found nothing
};

}  // namespace steptape::detail
