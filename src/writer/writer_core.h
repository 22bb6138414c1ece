// SPDX-License-Identifier: Apache-2.0
#pragma once

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
#include "steptape/event/event.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/writer/writer_options.h"

#include "writer/admission.h"
#include "writer/backend.h"
#include "writer/captured_value.h"
#include "writer/hparams_session.h"
#include "writer/run.h"
#include "writer/run_layout.h"
#include "writer/series_registry.h"

namespace steptape::detail {

/// The callers' side of a run: hands what the calls of a SummaryWriter bring to the backend,
/// through the ring of the calling thread.
///
/// @threads Thread-safe.
class WriterCore : public std::enable_shared_from_this<WriterCore> {
 public:
  /// Makes a core, whose run the backend serves if it is enabled.
  /// @throws Error(kIoError) if the directory or its event file cannot be made;
  ///         Error(kResourceExhausted) if the system has no thread to give.
  static std::shared_ptr<WriterCore> create(std::string directory, WriterOptions options);
  /// For create().
  WriterCore(std::string directory, WriterOptions options);

  RunContext& context() { return run_.context(); }
  const RunContext& context() const { return run_.context(); }
  bool isActive() const { return context().isActive(); }

  // --- Scalars -----------------------------------------------------------------------------------

  SeriesRegistry& series() { return series_; }

  /// The fast path: one flag guards all special cases.
  void addScalar(std::uint32_t series, double value, std::int64_t step) {
    Producer* const producer = Producer::known();
    if (producer == nullptr || context().needsDetour() || !producer->ring.hasRoom()) {
      addScalarSlowly(series, value, step, RingEntry::kNoWallTime);
      return;
    }
    producer->ring.pushScalar(series, static_cast<float>(value), step, readTicks());
  }
  /// As addScalar(), with a wall time of the caller's own if there is one.
  /// @throws Error(kInvalidArgument) if it is not finite.
  void addScalarAt(std::uint32_t series, double value, std::int64_t step,
                   std::optional<double> wallTime);
  /// A scalar whose value is on its way from a device: resolved on the backend, at its place.
  void addScalarInFlight(std::uint32_t series, TensorView value, std::int64_t step,
                         std::optional<double> wallTime);

  /// As addScalar(), for a batch with stamps of its own.
  /// @param wallTime What batchWallTime() gave.
  void addBatch(std::int64_t step, std::uint64_t ticks, std::uint64_t wallTime,
                const BatchedScalar* scalars, std::size_t count);
  /// The time of the user's clock, as RingEntry::wallTime; kNoWallTime with the system's, whose
  /// time follows from the ticks.
  std::uint64_t batchWallTime() const;

  // --- Other values ------------------------------------------------------------------------------

  /// `tag`, with what is not UTF-8 replaced. @throws Error(kInvalidArgument) if it is empty.
  std::string validTag(std::string_view tag) {
    return detail::validTag(tag, &context().reporter());
  }

  /// Hands over an event for the run's main directory.
  ///
  /// @param bytes  Memory that `encode` holds.
  /// @param encode Called once, on the backend. What it throws is reported, and counted as dropped.
  void addEvent(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                std::function<event::Event::What()> encode);
  /// As addEvent(), for an event of several values or of one, which may have either ValueForm.
  void addValues(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                 std::function<std::vector<event::Value>()> encode);
  void addValue(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                std::function<event::Value()> encode);
  void addValue(std::int64_t step, std::optional<double> wallTime, std::size_t bytes,
                std::function<event::Value(ValueForm)> encode);

  /// Hands over any other captured value, and sets its `run`.
  void handOver(CapturedValue value);

  // --- What belongs to the run as a whole --------------------------------------------------------

  /// The layout of the custom-scalars page of this run.
  RunLayout& layout() { return layout_; }
  /// Where this run's session for the hyperparameter page stands.
  HparamsSession& session() { return session_; }
  /// Ends the session, if one is open.
  void endSession(SessionStatus status);

  /// Makes readers forget what was logged before this call at `step` or later.
  void resume(std::int64_t step);
  Status flush();
  /// Ends the files; drops what could not be written.
  Status close();
  /// close(), and the last call on this core. Needs no memory.
  void detach() noexcept;

 private:
  /// The run, which lives as long as its core.
  std::shared_ptr<Run> sharedRun() { return {shared_from_this(), &run_}; }
  /// @param wallTime The caller's own, or RingEntry::kNoWallTime.
  void addScalarSlowly(std::uint32_t series, double value, std::int64_t step,
                       std::uint64_t wallTime);
  Status request(Backend::Request what);

  Backend::Requests detachRequest_;  // made beforehand: there may be no memory when it is needed
  Run run_;
  SeriesRegistry series_;
  Admission admission_;
  HparamsSession session_;
  RunLayout layout_;
};

}  // namespace steptape::detail
