// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "comm/collective_call.h"
#include "comm/collective_details.h"
#include "span/thread_recorder.h"

namespace steptape::detail {

/// An operation that its caller waits for, as a span of the calling thread. Ends as such however it
/// ends.
///
/// @threads Lives and dies on one thread.
class CollectiveSpan {
 public:
  /// @param details Null: nothing is recorded.
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

  /// `pending` is done for; the time until all ranks have arrived is a span within this one.
  ///
  /// @throws as PendingCollective::wait().
  void waitFor(PendingCollective& pending) const;
  /// The operation has ended well.
  void succeed() { hasSucceeded_ = true; }

 private:
  void begin() noexcept;
  void end() noexcept;

  CollectiveDetails* details_;
  const CollectiveCall& call_;
  bool hasSucceeded_ = false;
};

/// An operation in flight, as a detached span from its start until its end is noticed.
class RecordedCollective final : public PendingCollective {
 public:
  /// Begins the span.
  ///
  /// @param details Must outlive this object, as the communicator does.
  RecordedCollective(CollectiveDetails& details, const CollectiveCall& call);
  RecordedCollective(const RecordedCollective&) = delete;
  RecordedCollective& operator=(const RecordedCollective&) = delete;
  /// Ends the span.
  ~RecordedCollective() override;

  /// Takes what was started; null: it has ended. Called once, before the others.
  ///
  /// @return whether it is on its way.
  bool follow(std::unique_ptr<PendingCollective> pending);
  bool poll() override;
  /// The time for which the thread blocks is a span of its own.
  void wait() override;

 private:
  CollectiveDetails& details_;
  const CollectiveCall call_;
  SpanRecord span_;
  std::unique_ptr<PendingCollective> pending_;
  bool hasSucceeded_ = false;
};

}  // namespace steptape::detail
