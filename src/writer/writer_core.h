// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/base/mutex.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/summary/value_options.h"
#include "steptape/writer/scalar_tag.h"
#include "steptape/writer/writer_options.h"

#include "writer/backend.h"
#include "writer/captured_value.h"
#include "writer/event_stream.h"
#include "writer/hparams_session.h"
#include "writer/memory_budget.h"
#include "writer/producer.h"
#include "writer/reporter.h"
#include "writer/run_layout.h"

namespace steptape {

/// What a SummaryWriter, its callers' threads and the backend share.
///
/// @threads Thread-safe; what only the backend may call says so.
class WriterCore : public std::enable_shared_from_this<WriterCore> {
 public:
  /// Counts, each on its own: nothing is ordered by them.
  struct Counters {
    std::atomic<std::uint64_t> scalars{0};
    std::atomic<std::uint64_t> values{0};
    std::atomic<std::uint64_t> events{0};
    std::atomic<std::uint64_t> bytesWritten{0};
    std::atomic<std::uint64_t> files{0};
    std::atomic<std::uint64_t> droppedScalars{0};
    std::atomic<std::uint64_t> droppedValues{0};
    std::atomic<std::uint64_t> retries{0};
    std::atomic<std::uint64_t> stepRegressions{0};
  };

  /// An event file that this writer made, and the directory it is in.
  struct File {
    std::string path;
    std::string directory;
  };

  /// @throws Error(kIoError) if the directory or its event file cannot be made.
  WriterCore(std::string directory, WriterOptions options, OpenFiles* openFiles);

  const std::string& directory() const { return directory_; }
  const WriterOptions& options() const { return options_; }
  bool enabled() const { return options_.enabled; }
  /// False for a core whose calls do nothing: not enabled, or a forked child's.
  bool isActive() const { return enabled() && !disowned_.load(std::memory_order_relaxed); }
  WriterStats stats() const;
  std::vector<File> files() const;

  // --- Callers -----------------------------------------------------------------------------------

  /// The series of `tag`, made if need be. @throws Error(kInvalidArgument) if `tag` is empty.
  std::uint32_t series(std::string_view tag, const ScalarOptions* options = nullptr) {
    Producer& producer = Producer::current();
    const std::uint64_t hash = TagCache::hash(tag);
    const std::uint32_t known = producer.tags.find(serial_, tag, hash);
    return known != 0 ? known : internSeries(tag, hash, options, &producer);
  }

  /// The series `mainTag` of the sub-run `<directory>/<mainTag>/<name>`.
  std::uint32_t subRunSeries(std::string_view mainTag, std::string_view name,
                             const ScalarOptions& options);

  /// The fast path: everything out of the ordinary is behind one flag.
  void addScalar(std::uint32_t series, double value, std::int64_t step) {
    Producer* const producer = Producer::known();
    if (producer == nullptr || detour_.load(std::memory_order_relaxed) ||
        !producer->ring.hasRoom()) {
      addScalarSlowly(series, value, step, RingEntry::kNoWallTime);
      return;
    }
    producer->ring.pushScalar(series, static_cast<float>(value), step, readTicks());
  }

  /// As addScalar(), for a batch with stamps of its own.
  void addBatch(std::int64_t step, std::uint64_t ticks, std::uint64_t wallTime,
                const BatchedScalar* scalars, std::size_t count);

  /// @param wallTime Bits of the caller's own wall time, or RingEntry::kNoWallTime.
  void addScalarSlowly(std::uint32_t series, double value, std::int64_t step,
                       std::uint64_t wallTime);
  void addScalarAt(std::uint32_t series, double value, std::int64_t step,
                   std::optional<double> wallTime);

  /// A scalar whose value is on its way from a device: resolved on the backend, at its place.
  void addScalarInFlight(std::uint32_t series, TensorView value, std::int64_t step,
                         std::optional<double> wallTime);
  /// A scalar at the series' last step, or at the step where this run began if it has none.
  void addScalarAtLastStep(std::uint32_t series, double value, std::optional<double> wallTime);

  /// As addScalar(), for `count` scalars that `run` makes on the backend, at their place.
  void addDeferredScalars(std::int64_t step, std::size_t count, std::size_t bytes,
                          std::function<Status(const CapturedValue::Place&)> run);

  /// Makes readers forget what was logged before this call at `step` or later.
  void resume(std::int64_t step);

  /// Whether a scalar of the run's main directory was ever logged under `tag`.
  bool hasSeries(std::string_view tag) const;

  /// Where this run's session for the hyperparameter page stands.
  HparamsSession& session() { return session_; }
  /// Ends the session, if one is open.
  void endSession(SessionStatus status);
  /// When the writer was made, in seconds since 1970.
  double startTime() const { return startTime_; }

  /// What the custom-scalars page shows of this run.
  RunLayout& layout() { return layout_; }

  /// Hands over an event for this run's main directory.
  ///
  /// @param bytes  Memory that `encode` holds.
  /// @param encode Called once, on the backend. What it throws is reported, and counted as dropped.
  void addEvent(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                std::function<Event::What()> encode);
  /// As addEvent(), for an event of one value or of several.
  void addValue(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                std::function<Value()> encode);
  void addValues(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                 std::function<std::vector<Value>()> encode);
  /// As addEvent(), for work on files beside the event file. A failure is reported and returned by
  /// the next flush() or close(); it is not tried again.
  ///
  /// @param write Called once more whenever it set `*again` and succeeded: what takes more than
  ///              some milliseconds comes in pieces, between which the backend looks after scalars.
  void addFiles(std::size_t bytes, std::function<Status(bool* again)> write);

  /// `tag`, with what is not UTF-8 replaced, which is reported once for each tag.
  /// @throws Error(kInvalidArgument) if it is empty.
  std::string validTag(std::string_view tag);

  /// What a batch or call stamps: kNoWallTime with the system's clock.
  std::uint64_t callerWallTime() const;

  Status flush();
  /// Ends the files; drops what could not be written.
  Status close();

  /// close(), and the last call on this core. Needs no memory.
  void detach() noexcept;

  /// In a child made by fork(): nothing this core does may touch the parent's run.
  void disown();

  // --- Both --------------------------------------------------------------------------------------

  void count(std::atomic<std::uint64_t> Counters::*counter, std::uint64_t by) {
    (counters_.*counter).fetch_add(by, std::memory_order_relaxed);
  }
  void countDropped(std::uint64_t scalars, std::uint64_t values) noexcept;
  /// As countDropped(), for what `error` kept from being encoded; most often there was no memory.
  void noteLost(const std::exception& error, std::uint64_t scalars, std::uint64_t values) noexcept;
  Reporter& reporter() { return reporter_; }
  double wallSeconds() const { return clock().wallSeconds(); }

  // --- The backend -------------------------------------------------------------------------------

  /// @param one The file, in a list of its own so that nothing is allocated here.
  void noteFile(std::list<File> one) noexcept;
  /// A stream keeps `to` bytes because of failures, where it kept `from`.
  void changeBacklog(std::size_t from, std::size_t to);
  /// A captured value of `bytes` is encoded or dropped.
  void releaseCaptured(std::size_t bytes) { budget_.releaseCaptured(bytes); }
  /// The stream of directory().
  EventStream* mainStream() const { return mainStream_; }
  /// The streams made so far, the main one first; the pointers stay good as long as the core.
  std::vector<EventStream*> streams();

 private:
  const Clock& clock() const { return options_.clock ? *options_.clock : Clock::system(); }
  std::uint32_t internSeries(std::string_view tag, std::uint64_t hash, const ScalarOptions* options,
                             Producer* producer);
  EventStream* subRunStream(const std::string& directory) STEPTAPE_REQUIRES(mutex_);
  Status request(Backend::Request what);
  void handOver(CapturedValue value);
  bool waitForRing(Producer* producer, std::size_t words);
  bool makeRoom(Producer* producer, std::size_t words);
  void updateDetour();

  const std::uint64_t serial_;
  const std::string directory_;
  const WriterOptions options_;
  OpenFiles* const openFiles_;
  const double startTime_;
  // Made beforehand: there may be no memory when they are needed.
  const Status tooFast_;
  const Status outOfMemory_;
  Backend::Requests detachRequest_;
  Counters counters_;
  Reporter reporter_;
  MemoryBudget budget_;
  HparamsSession session_;
  RunLayout layout_;

  // True if a scalar call must look closer: a disabled or disowned writer, a clock of the user's, a
  // backlog over the limit.
  std::atomic<bool> detour_{false};
  std::atomic<bool> disowned_{false};
  std::atomic<bool> dropReported_{false};
  std::atomic<bool> memoryReported_{false};

  EventStream* mainStream_ = nullptr;  // set by the constructor

  mutable Mutex mutex_;
  std::deque<EventStream> streams_ STEPTAPE_GUARDED_BY(mutex_);
  std::unordered_map<std::string, EventStream*> subRuns_ STEPTAPE_GUARDED_BY(mutex_);
  // TagCache entries point at these keys, which live as long as the core.
  std::unordered_map<std::string, std::uint32_t> series_ STEPTAPE_GUARDED_BY(mutex_);  // by tag
  // By main tag, '\0' and name.
  std::unordered_map<std::string, std::uint32_t> subRunSeries_ STEPTAPE_GUARDED_BY(mutex_);
  std::list<File> files_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape
