// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"
#include "steptape/events/event.h"
#include "steptape/log/writer_options.h"
#include "steptape/values/tensor_view.h"

#include "log/writer/backend.h"
#include "log/writer/captured_value.h"
#include "log/writer/custom_scalars_state.h"
#include "log/writer/hparams_session.h"
#include "log/writer/overflow_rule.h"
#include "log/writer/run_streams.h"
#include "log/writer/series_registry.h"
#include "storage/mirror/directory_mirror.h"

namespace steptape::detail::log {

/// The callers' side of a run: passes the data of SummaryWriter's calls to the backend, through the
/// ring of the calling thread.
///
/// @threads Thread-safe.
class RunClient : public std::enable_shared_from_this<RunClient> {
 public:
  /// Creates a client, whose run the backend serves if it is enabled.
  /// @throws Error(kIoError) if the directory or its event file cannot be created;
  ///         Error(kResourceExhausted) if the operating system cannot start a thread.
  static std::shared_ptr<RunClient> create(std::string directory, WriterOptions options);
  /// For create().
  RunClient(std::string directory, WriterOptions options);

  RunContext& context() { return run_.context(); }
  const RunContext& context() const { return run_.context(); }
  bool isActive() const { return context().isActive(); }

  // --- Scalars -----------------------------------------------------------------------------------

  SeriesRegistry& series() { return series_; }

  /// The fast path: one flag covers all special cases.
  void addScalar(std::uint32_t series, double value, std::int64_t step) {
    Producer* const producer = Producer::known();
    if (producer == nullptr || context().needsDetour() || !producer->ring.hasRoom()) {
      addScalarSlowly(series, value, step, RingEntry::kNoWallTime);
      return;
    }
    producer->ring.pushScalar(series, static_cast<float>(value), step, readTicks());
  }
  /// Like addScalar(), with an optional wall time.
  /// @throws Error(kInvalidArgument) if the wall time is not finite.
  void addScalarAt(std::uint32_t series, double value, std::int64_t step,
                   std::optional<double> wallTime);
  /// Adds a scalar whose value is still on a device. The backend waits for it, in order.
  void addScalarInFlight(std::uint32_t series, TensorView value, std::int64_t step,
                         std::optional<double> wallTime);

  /// Like addScalar(), for a batch with its own step and time.
  /// @param wallTime A result of batchWallTime().
  void addBatch(std::int64_t step, std::uint64_t ticks, std::uint64_t wallTime,
                const BatchedScalar* scalars, std::size_t count);
  /// Returns the time of the user's clock, as RingEntry::wallTime; kNoWallTime with the system
  /// clock, whose time is derived from the ticks.
  std::uint64_t batchWallTime() const;

  // --- Other values ------------------------------------------------------------------------------

  /// Returns `tag` with invalid UTF-8 replaced.
  /// @throws Error(kInvalidArgument) if it is empty.
  std::string validTag(std::string_view tag) { return log::validTag(tag, &context().reporter()); }

  /// Passes on an event for the run's main directory.
  ///
  /// @param bytes  Memory that `encode` holds.
  /// @param encode Called once, on the backend. Its exceptions are reported, and the event counts
  ///               as dropped.
  void addEvent(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                std::function<event::Event::What()> encode);
  /// Like addEvent(), for an event of one or several values, which may have either ValueForm.
  void addValues(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                 std::function<std::vector<event::Value>()> encode);
  void addValue(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                std::function<event::Value()> encode);
  void addValue(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                std::function<event::Value(ValueForm)> encode);

  /// Passes on any other captured value, and sets its `run`.
  void handOver(CapturedValue value);

  // --- What belongs to the run as a whole --------------------------------------------------------

  /// Returns the layout of this run's custom-scalars page.
  CustomScalarsState& layout() { return layout_; }
  /// Returns the state of this run's session for the hparams page.
  HparamsSession& session() { return session_; }
  /// Ends the session, if one is open.
  void endSession(SessionStatus status);

  /// Makes readers discard points that were logged before this call at `step` or later.
  void resume(std::int64_t step);
  Status flush();
  /// Ends the files; drops data that could not be written. Waits for the mirror.
  Status close();
  WriterStats stats() const;
  /// Calls close(); the last call on this client. Needs no memory.
  void detach() noexcept;

 private:
  /// Returns the run, which lives as long as its client.
  std::shared_ptr<RunStreams> sharedRun() { return {shared_from_this(), &run_}; }
  /// @param wallTime Given by the caller, or RingEntry::kNoWallTime.
  void addScalarSlowly(std::uint32_t series, double value, std::int64_t step,
                       std::uint64_t wallTime);
  Status request(Backend::Request what);
  void startMirror();
  void flushForMirror();
  Status drainMirror();

  Backend::Requests detachRequest_;  // made early: there may be no memory later
  RunStreams run_;
  SeriesRegistry series_;
  OverflowRule overflow_;
  HparamsSession session_;
  CustomScalarsState layout_;
  std::shared_ptr<storage::DirectoryMirror> mirror_;  // null: none
  std::atomic<bool> isMirrorLate_{false};             // close() has waited for it in vain
};

}  // namespace steptape::detail::log
