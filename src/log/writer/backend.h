// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "steptape/base/status.h"

#include "base/mutex.h"
#include "log/writer/box_names.h"
#include "log/writer/captured_queue.h"
#include "log/writer/event_file.h"
#include "log/writer/kill_proof_log.h"
#include "log/writer/log_updates.h"
#include "log/writer/producer.h"
#include "log/writer/ring_merge.h"
#include "log/writer/run_streams.h"
#include "log/writer/series_table.h"
#include "log/writer/state_notes.h"

namespace steptape::detail::log {

/// The background thread for all writers of the process.
///
/// It reads the callers' rings every few milliseconds, merges their entries by time, and lets the
/// streams of each run encode and write them. The thread runs while there is a writer. The object
/// is never destroyed, so that writers with static storage can use it. A child made by fork() gets
/// a new backend.
///
/// If an allocation fails, the data stays in its ring, buffer or request, and the thread retries in
/// the next pass. Data that cannot stay is counted as dropped.
///
/// @threads Thread-safe.
class Backend {
 public:
  static Backend& instance();

  /// Starts to serve `run`; starts the thread if it is not running.
  /// @param beforeAbort Called by flushAllBeforeAbort() before it flushes the run.
  /// @throws Error(kResourceExhausted) if the operating system cannot start a thread.
  void attach(std::shared_ptr<RunStreams> run, std::function<void()> beforeAbort);

  enum class Request {
    kFlush,   ///< Write everything that was logged before.
    kClose,   ///< Then end the files; drop data that could not be written.
    kDetach,  ///< Then remove the run and its series.
  };
  struct PendingRequest {
    explicit PendingRequest(Request asked) : what(asked) {}

    const Request what;
    std::shared_ptr<RunStreams> run;
    Status result;
    bool isShortOfMemory = false;
    bool done = false;
  };
  /// A list, so that passing on a request made earlier needs no allocation.
  using Requests = std::list<std::shared_ptr<PendingRequest>>;
  static Requests makeRequest(Request what);

  /// Queues a request and waits for it.
  /// @param one A result of makeRequest(). It is queued even if this call throws.
  /// @return kDeadlineExceeded if the thread did not finish it by `timeout`; it still will.
  Status request(Requests one, const std::shared_ptr<RunStreams>& run,
                 std::chrono::milliseconds timeout);

  /// Writes everything that any writer has logged, in a process that is about to abort.
  void flushAllBeforeAbort();

  /// Makes the thread start a pass now, for a caller that waits for room.
  void wake();

  /// Returns the calling thread's producer; the thread's first call registers it.
  static Producer& producer() {
    Producer* const known = Producer::known();
    return known != nullptr ? *known : instance().addProducer();
  }
  /// Registers a series.
  /// @return its number, which entries of rings contain.
  std::uint32_t addSeries(std::unique_ptr<RegisteredSeries> series);

  /// Limits the open event files of the process; only for the backend thread.
  OpenFiles* openFiles() { return &openFiles_; }
  KillProofLog* log() { return &log_; }

 private:
  struct Client {
    std::shared_ptr<RunStreams> run;
    std::function<void()> beforeAbort;
  };

  Backend();

  Producer& addProducer();
  std::vector<std::shared_ptr<RunStreams>> runs();
  void start() STEPTAPE_REQUIRES(mutex_);
  bool lockAtEnd() STEPTAPE_THREAD_ANNOTATION(try_acquire_capability(true, mutex_));
  void removeBoxAtExit();
  void closeLog() STEPTAPE_REQUIRES(mutex_);
  void run();
  bool waitForWork(Requests* requests);
  void pass(Requests* requests);
  void drainRings(bool everything);
  void reportProblem();
  void encodeEntries();
  void encodeCaptured(bool everything);
  void forgetProducer(const OwnedProducer* producer);
  /// Returns whether a stream has much to write.
  bool wantsWrite();
  void writeStreams();
  void answer(PendingRequest* request);
  void forget(RunStreams* run);

  // Called with the lock, which the analysis cannot follow.
  static void afterForkInChild() STEPTAPE_THREAD_ANNOTATION(no_thread_safety_analysis);

  static std::atomic<Backend*> current_;
  static std::atomic<bool> isExiting_;  // main() of the process has ended; set with the lock

  base::Mutex mutex_;
  base::CondVar work_;
  base::CondVar done_;
  std::thread::id thread_ STEPTAPE_GUARDED_BY(mutex_);  // none: it does not run
  bool wake_ STEPTAPE_GUARDED_BY(mutex_) = false;
  Requests requests_ STEPTAPE_GUARDED_BY(mutex_);
  RingMerge::Producers producers_ STEPTAPE_GUARDED_BY(mutex_);
  std::vector<Client> clients_ STEPTAPE_GUARDED_BY(mutex_);
  KillProofLog log_;
  BoxNames names_ STEPTAPE_GUARDED_BY(mutex_);
  SeriesTable series_;

  // The thread's own.
  OpenFiles openFiles_;
  RingMerge rings_;
  CapturedQueue captured_;
  LogUpdates updates_;
  StateNotes stateNotes_;
};

}  // namespace steptape::detail::log
