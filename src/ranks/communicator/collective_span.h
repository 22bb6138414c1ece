// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "process/spans/thread_recorder.h"
#include "ranks/communicator/collective_call.h"
#include "ranks/communicator/collective_details.h"
#include "ranks/communicator/nested_span.h"

namespace steptape::detail::ranks {

/// Records a blocking operation as a span of the calling thread, even if the operation throws.
///
/// @threads Construct and destroy it on one thread.
class CollectiveSpan {
 public:
  /// @param details Null: record nothing.
  /// @param call    Must outlive the span.
  CollectiveSpan(CollectiveDetails* details, const CollectiveCall& call) noexcept
      : details_(details), call_(call) {
    if (details_ != nullptr) {
      begin();
    }
  }
  ~CollectiveSpan() {
    if (details_ != nullptr) {
      end();
    }
  }
  CollectiveSpan(const CollectiveSpan&) = delete;
  CollectiveSpan& operator=(const CollectiveSpan&) = delete;

  /// Waits for `pending`. The time until all ranks have arrived is a nested span.
  ///
  /// @param token Of the collective in the state of the process, which learns when they have.
  /// @throws as PendingCollective::wait().
  void waitFor(PendingCollective& pending, const CollectiveToken& token) const;
  /// Marks the operation as successful.
  void succeed() { hasSucceeded_ = true; }

 private:
  void begin() noexcept;
  void end() noexcept;

  CollectiveDetails* details_;
  const CollectiveCall& call_;
  bool hasSucceeded_ = false;
};

/// Records an operation in flight as a detached span, from its start until its end is noticed.
class RecordedCollective final : public PendingCollective {
 public:
  /// Begins the span.
  ///
  /// @param details Must outlive this object, as the communicator's does.
  RecordedCollective(CollectiveDetails& details, const CollectiveCall& call);
  RecordedCollective(const RecordedCollective&) = delete;
  RecordedCollective& operator=(const RecordedCollective&) = delete;
  /// Ends the span.
  ~RecordedCollective() override;

  /// Follows a started operation; null means that it has ended. Call it once, before other calls.
  ///
  /// @return whether the operation is in flight.
  bool follow(std::unique_ptr<PendingCollective> pending);
  bool poll() override;
  /// Waits; records the time that the thread is blocked as a separate span.
  void wait() override;
  void waitForRanks() override;

 private:
  CollectiveDetails& details_;
  const CollectiveCall call_;
  SpanRecord span_;
  std::unique_ptr<PendingCollective> pending_;
  std::optional<NestedSpan> blocked_;
  bool hasSucceeded_ = false;
};

}  // namespace steptape::detail::ranks
