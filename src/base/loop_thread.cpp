// SPDX-License-Identifier: Apache-2.0
#include "base/loop_thread.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <pthread.h>
#include <set>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mutex.h"
#include "base/requests_blocked.h"

namespace steptape::detail::base {
namespace {

/// A condition of the standard library may overflow where a deadline is never reached.
constexpr std::chrono::hours kLongestWait{1};

/// For which std::exit() waits. Never destroyed: used by std::exit().
struct ThreadsBeforeExit {
  Mutex mutex;
  std::set<LoopThread*> all STEPTAPE_GUARDED_BY(mutex);

  static ThreadsBeforeExit& instance() {
    static auto* const kThreads = [] {
      // If it fails for lack of memory, the process does not wait.
      static_cast<void>(std::atexit([] {
        const MutexLock lock(instance().mutex);
        for (LoopThread* const thread : instance().all) {
          thread->waitUntilIdle();
        }
      }));
      return new ThreadsBeforeExit;
    }();
    return *kThreads;
  }
};

}  // namespace

struct LoopThread::State {
  explicit State(std::function<Time()> ofObject) : body(std::move(ofObject)) {}

  const std::function<Time()> body;
  Mutex mutex;
  CondVar changed;
  std::thread::id thread STEPTAPE_GUARDED_BY(mutex);
  bool isWoken STEPTAPE_GUARDED_BY(mutex) = false;
  bool isIdle STEPTAPE_GUARDED_BY(mutex) = false;
  bool isEnding STEPTAPE_GUARDED_BY(mutex) = false;
  bool hasEnded STEPTAPE_GUARDED_BY(mutex) = false;
};

LoopThread::LoopThread(const Options& options, std::function<Time()> body)
    : state_(std::make_shared<State>(std::move(body))),
      patience_(options.patience),
      exitWaits_(options.exitWaits),
      process_(::getpid()) {
  const RequestsBlocked blocked;
  thread_ = std::thread([state = state_, name = options.name, niceness = options.niceness] {
    pthread_setname_np(pthread_self(), name.c_str());
    if (niceness != 0) {
      // On Linux, 0 is the calling thread.
      static_cast<void>(::setpriority(PRIO_PROCESS, 0, niceness));
    }
    run(*state);
  });
  if (exitWaits_) {
    try {
      ThreadsBeforeExit& threads = ThreadsBeforeExit::instance();
      const MutexLock lock(threads.mutex);
      threads.all.insert(this);
    } catch (const std::bad_alloc&) {
      // The process does not wait.
    }
  }
}

LoopThread::~LoopThread() {
  if (exitWaits_) {
    ThreadsBeforeExit& threads = ThreadsBeforeExit::instance();
    const MutexLock lock(threads.mutex);
    threads.all.erase(this);
  }
  end(patience_);
}

void LoopThread::wake() {
  const MutexLock lock(state_->mutex);
  state_->isWoken = true;
  state_->isIdle = false;
  state_->changed.notifyAll();
}

void LoopThread::waitUntilIdle() {
  if (isOfParent()) {
    return;
  }
  const MutexLock lock(state_->mutex);
  while (!state_->isIdle && !state_->hasEnded && state_->thread != std::this_thread::get_id()) {
    state_->changed.waitUntil(state_->mutex, std::chrono::steady_clock::now() + kLongestWait);
  }
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
    const auto now = std::chrono::steady_clock::now();
    const Time deadline = patience == kUnlimited ? now : now + patience;
    const MutexLock lock(state_->mutex);
    state_->isEnding = true;
    state_->changed.notifyAll();
    while (!state_->hasEnded && std::chrono::steady_clock::now() < deadline) {
      state_->changed.waitUntil(state_->mutex, deadline);
    }
    hasEnded = state_->hasEnded || patience == kUnlimited;  // then join() waits
  }
  if (hasEnded) {
    thread_.join();
  } else {
    thread_.detach();
  }
  return hasEnded;
}

void LoopThread::run(State& state) {
  {
    const MutexLock lock(state.mutex);
    state.thread = std::this_thread::get_id();
  }
  while (true) {
    const Time next = state.body();
    const MutexLock lock(state.mutex);
    if (next == kWhenWoken && !state.isWoken) {
      state.isIdle = true;
      state.changed.notifyAll();
    }
    while (!state.isEnding && !state.isWoken && next != kAtOnce) {
      const Time now = std::chrono::steady_clock::now();
      if (now >= next) {
        break;
      }
      state.changed.waitUntil(state.mutex, std::min(next, now + kLongestWait));
    }
    state.isWoken = false;
    state.isIdle = false;
    if (state.isEnding) {
      state.hasEnded = true;
      state.changed.notifyAll();
      return;
    }
  }
}

}  // namespace steptape::detail::base
