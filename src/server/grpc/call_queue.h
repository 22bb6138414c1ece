// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "server/grpc/grpc_call.h"
#include "server/grpc/service.h"

namespace steptape::detail::server {

/// The worker threads of a server, and the calls that wait for them, first come first served. A
/// call waits again for each of its messages, so that large answers do not keep small ones waiting.
///
/// @threads Thread-safe.
class CallQueue {
 public:
  using Ready = std::function<void(const Http2StreamId&)>;

  /// @param workers At least 1.
  /// @param service Outlives the queue.
  /// @param ready   Called by a worker thread when a call has a message or its end.
  /// @throws Error(kIoError) if the operating system gives no thread.
  CallQueue(int workers, Service* service, Ready ready);
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  /// Waits for the calls that are worked on, and discards the rest.
  ~CallQueue();

  /// Lets a worker thread call GrpcCall::work().
  void add(std::shared_ptr<GrpcCall> call);
  /// Removes a call that waits.
  void remove(const GrpcCall* call);

 private:
  void work();
  /// @return null at the end.
  std::shared_ptr<GrpcCall> next();

  Service* const service_;
  const Ready ready_;
  base::Mutex mutex_;
  base::CondVar added_;
  std::deque<std::shared_ptr<GrpcCall>> waiting_ STEPTAPE_GUARDED_BY(mutex_);
  bool isEnding_ STEPTAPE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace steptape::detail::server
