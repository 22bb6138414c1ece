// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "steptape/c/steptape.h"
#include "steptape/log/summary_writer.h"
#include "steptape/metrics/distributed_writer.h"

#include "c/calls.h"

namespace steptape::detail::c {

/// What a handle stands for: the run of this process, or of a job.
class OpenRun {
 public:
  explicit OpenRun(SummaryWriter writer) : own_(std::move(writer)) {}
  explicit OpenRun(DistributedWriter writer) : job_(std::move(writer)) {}

  SummaryWriter& writer() { return job_.has_value() ? job_->localWriter() : *own_; }
  /// Returns null for the run of this process.
  DistributedWriter* job() { return job_.has_value() ? &*job_ : nullptr; }
  Status flush() { return job_.has_value() ? job_->flush() : own_->flush(); }
  Status close() { return job_.has_value() ? job_->close() : own_->close(); }

 private:
  std::optional<SummaryWriter> own_;
  std::optional<DistributedWriter> job_;
};

}  // namespace steptape::detail::c

/// What a handle of C refers to. Never freed and never used again, so that a handle whose writer
/// was closed is recognized: 16 bytes for each writer of a process.
struct steptape_writer {                         // NOLINT(readability-identifier-naming): of C
  std::atomic<steptape::SummaryWriter*> writer;  ///< That of `run`, for the fastest calls.
  std::atomic<steptape::detail::c::OpenRun*> run;
};

namespace steptape::detail::c {

/// Returns a handle of the run, which closes when the process ends by exit().
steptape_writer* makeSlot(std::unique_ptr<OpenRun> run);
/// Takes the run from its handle. @return null if it was closed.
std::unique_ptr<OpenRun> takeFrom(steptape_writer* slot) noexcept;

/// Keeps "the writer is NULL" or "the writer is closed" as the reason of a failure.
steptape_status failForWriter(const char* function, const steptape_writer* slot) noexcept;

/// Returns the writer of a handle, or null.
inline SummaryWriter* writerOf(const steptape_writer* slot) noexcept {
  return slot == nullptr ? nullptr : slot->writer.load(std::memory_order_relaxed);
}

/// As call(), for a function of an open writer. `__func__` of a lambda would name the lambda.
template <typename Body>
steptape_status callOpen(const char* function, const steptape_writer* slot,
                         const Body& body) noexcept {
  SummaryWriter* const open = writerOf(slot);
  return open == nullptr ? failForWriter(function, slot) : call(function, [&] { body(*open); });
}

/// As callOpen(), for a function of the run.
template <typename Body>
steptape_status callRun(const char* function, const steptape_writer* slot,
                        const Body& body) noexcept {
  OpenRun* const run = slot == nullptr ? nullptr : slot->run.load(std::memory_order_relaxed);
  return run == nullptr ? failForWriter(function, slot) : call(function, [&] { body(*run); });
}

}  // namespace steptape::detail::c
