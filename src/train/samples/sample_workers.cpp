// SPDX-License-Identifier: Apache-2.0
#include "train/samples/sample_workers.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "steptape/process/zone.h"

namespace steptape::detail::train {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
/// CondVar has no wait without a deadline; a wait that reaches it begins again.
constexpr std::chrono::hours kLong{1};

void wait(base::CondVar& condition, base::Mutex& mutex) STEPTAPE_REQUIRES(mutex) {
  condition.waitUntil(mutex, std::chrono::steady_clock::now() + kLong);
}

}  // namespace

SampleWorkers::SampleWorkers(std::int64_t count)
    : making_(static_cast<std::size_t>(count) + 1, kNone), failed_(kNone) {
  try {
    for (std::size_t worker = 0; worker + 1 < making_.size(); ++worker) {
      threads_.emplace_back([this, worker] { run(worker); });
    }
  } catch (const std::system_error&) {
    // The system has no more threads: those that there are do the work.
  }
}

SampleWorkers::~SampleWorkers() {
  {
    const base::MutexLock lock(mutex_);
    ends_ = true;
    mayMake_.notifyAll();
  }
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void SampleWorkers::start(Make make) {
  stop();
  const base::MutexLock lock(mutex_);
  make_ = std::move(make);
  next_ = 0;
  failed_ = kNone;
  error_ = nullptr;
}

void SampleWorkers::allow(std::int64_t limit) {
  const base::MutexLock lock(mutex_);
  limit_ = limit;
  mayMake_.notifyAll();
}

void SampleWorkers::waitFor(std::int64_t end) {
  const base::MutexLock lock(mutex_);
  awaited_ = end;
  while (!hasAwaited()) {
    if (threads_.empty()) {
      makeNext(making_.size() - 1);
    } else {
      wait(isMade_, mutex_);
    }
  }
  if (failed_ < end) {
    std::rethrow_exception(error_);
  }
}

void SampleWorkers::stop() {
  const base::MutexLock lock(mutex_);
  limit_ = 0;
  awaited_ = next_;
  while (made() < awaited_) {
    wait(isMade_, mutex_);
  }
}

void SampleWorkers::run(std::size_t worker) {
  setThreadName(("loader " + std::to_string(worker)).c_str());
  const base::MutexLock lock(mutex_);
  while (!ends_) {
    if (next_ < end()) {
      makeNext(worker);
    } else {
      wait(mayMake_, mutex_);
    }
  }
}

void SampleWorkers::makeNext(std::size_t worker) {
  const std::int64_t number = next_++;
  making_[worker] = number;
  std::exception_ptr error;
  mutex_.unlock();
  try {
    make_(number);
  } catch (...) {
    error = std::current_exception();
  }
  mutex_.lock();
  making_[worker] = kNone;
  if (error && number < failed_) {
    failed_ = number;
    error_ = std::move(error);
  }
  if (hasAwaited()) {
    isMade_.notifyAll();
  }
}

std::int64_t SampleWorkers::end() const {
  return std::min(limit_, failed_);
}

bool SampleWorkers::hasAwaited() const {
  return made() >= std::min(awaited_, failed_);
}

std::int64_t SampleWorkers::made() const {
  return std::min(next_, *std::min_element(making_.begin(), making_.end()));
}

}  // namespace steptape::detail::train
