// SPDX-License-Identifier: Apache-2.0
#include "base/loop_thread.h"

#include <new>
#include <pthread.h>
#include <unistd.h>
#include <utility>

#include "base/mutex.h"

namespace steptape::detail::base {

struct LoopThread::State {
  explicit State(std::function<Time()> ofObject) : body(std::move(ofObject)) {}

  const std::function<Time()> body;
  Mutex mutex;
  CondVar changed;
  bool isEnding STEPTAPE_GUARDED_BY(mutex) = false;
  bool hasEnded STEPTAPE_GUARDED_BY(mutex) = false;
};

LoopThread::LoopThread(const std::string& name, std::function<Time()> body)
    : state_(std::make_shared<State>(std::move(body))), process_(::getpid()) {
  thread_ = std::thread([state = state_, name] {
    pthread_setname_np(pthread_self(), name.c_str());
    run(*state);
  });
}

LoopThread::~LoopThread() {
  end(std::chrono::seconds(5));
}

bool LoopThread::isOfParent() const {
  return ::getpid() != process_;
}

bool LoopThread::end(std::chrono::milliseconds patience) {
  if (!thread_.joinable()) {
    return true;
  }
  if (isOfParent()) {
#if defined(__SANITIZE_THREAD__) && __GNUC__ < 13
    // This sanitizer keeps the threads of the parent, and ends a child whose new thread gets the
    // number of one.
    thread_.detach();
#endif
    // There is no such thread here: it can be neither joined nor detached, and it may have held the
    // lock during fork(). Its number is overwritten, because the destructor would end the process.
    ::new (static_cast<void*>(&thread_)) std::thread();
    return false;
  }
  bool hasEnded = false;
  {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    const MutexLock lock(state_->mutex);
    state_->isEnding = true;
    state_->changed.notifyAll();
    while (!state_->hasEnded && std::chrono::steady_clock::now() < deadline) {
      state_->changed.waitUntil(state_->mutex, deadline);
    }
    hasEnded = state_->hasEnded;
  }
  if (hasEnded) {
    thread_.join();
  } else {
    thread_.detach();
  }
  return hasEnded;
}

void LoopThread::run(State& state) {
  while (true) {
    const Time next = state.body();
    const MutexLock lock(state.mutex);
    while (!state.isEnding && std::chrono::steady_clock::now() < next) {
      state.changed.waitUntil(state.mutex, next);
    }
    if (state.isEnding) {
      state.hasEnded = true;
      state.changed.notifyAll();
      return;
    }
  }
}

}  // namespace steptape::detail::base
