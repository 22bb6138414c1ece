// SPDX-License-Identifier: Apache-2.0
#include "server/grpc/call_queue.h"

#include <algorithm>
#include <chrono>
#include <pthread.h>
#include <system_error>
#include <utility>

#include "steptape/base/status.h"

#include "base/got_expected.h"

namespace steptape::detail::server {

CallQueue::CallQueue(int workers, Service* service, Ready ready)
    : service_(service), ready_(std::move(ready)) {
  try {
    for (int i = 0; i < workers; ++i) {
      threads_.emplace_back([this] { work(); });
    }
  } catch (const std::system_error& error) {
    // One is enough to answer.
    if (threads_.empty()) {
      throw Error(ErrorCode::kIoError,
                  "server: " + base::gotExpected(error.code().message(), "a thread"));
    }
  }
}

CallQueue::~CallQueue() {
  {
    const base::MutexLock lock(mutex_);
    isEnding_ = true;
  }
  added_.notifyAll();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void CallQueue::add(std::shared_ptr<GrpcCall> call) {
  {
    const base::MutexLock lock(mutex_);
    waiting_.push_back(std::move(call));
  }
  added_.notifyOne();
}

void CallQueue::remove(const GrpcCall* call) {
  const base::MutexLock lock(mutex_);
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [call](const auto& other) { return other.get() == call; });
  if (found != waiting_.end()) {
    waiting_.erase(found);
  }
}

std::shared_ptr<GrpcCall> CallQueue::next() {
  const base::MutexLock lock(mutex_);
  while (waiting_.empty() && !isEnding_) {
    added_.waitUntil(mutex_, std::chrono::steady_clock::now() + std::chrono::hours(1));
  }
  if (isEnding_) {
    return nullptr;
  }
  std::shared_ptr<GrpcCall> call = std::move(waiting_.front());
  waiting_.pop_front();
  return call;
}

void CallQueue::work() {
  pthread_setname_np(pthread_self(), "steptape-call");
  while (const std::shared_ptr<GrpcCall> call = next()) {
    call->work(service_);
    ready_(call->id());
  }
}

}  // namespace steptape::detail::server
