// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "steptape/base/export.h"

#include "base/mutex.h"

namespace steptape::detail::train {

/// Threads that make the samples 0, 1, 2, ... of a sequence ahead of the thread that uses them.
///
///     workers.start(make);
///     workers.allow(64);     // the workers may make the samples [0, 64)
///     workers.waitFor(32);   // the samples [0, 32) are made
///
/// The workers take the samples in order and stop at the first one that fails. Without workers
/// waitFor() makes the samples.
///
/// Thread-safe for the workers and one thread that calls the methods.
class STEPTAPE_EXPORT SampleWorkers {
 public:
  /// Makes sample `number`. Called concurrently, once for each sample.
  using Make = std::function<void(std::int64_t number)>;

  explicit SampleWorkers(std::int64_t count);
  SampleWorkers(const SampleWorkers&) = delete;
  SampleWorkers& operator=(const SampleWorkers&) = delete;
  /// Waits for the samples that the workers are making.
  ~SampleWorkers();

  /// Begins a sequence. Calls stop() first.
  void start(Make make);

  /// Lets the workers make the samples below `limit`, which never decreases within a sequence.
  void allow(std::int64_t limit);

  /// Waits until all samples below `end` are made.
  ///
  /// @throws what `make` threw for the first sample that failed, if it is below `end`; every call
  ///         throws it until start().
  void waitFor(std::int64_t end);

  /// Ends the sequence: waits for the samples that the workers are making, and makes no others.
  void stop();

 private:
  void run(std::size_t worker);
  void makeNext(std::size_t worker) STEPTAPE_REQUIRES(mutex_);
  std::int64_t end() const STEPTAPE_REQUIRES(mutex_);
  /// Whether the samples below awaited_, or those before the one that failed, are made.
  bool hasAwaited() const STEPTAPE_REQUIRES(mutex_);
  /// All samples below it are made.
  std::int64_t made() const STEPTAPE_REQUIRES(mutex_);

  base::Mutex mutex_;
  base::CondVar mayMake_;
  base::CondVar isMade_;
  Make make_;  ///< Changes under the mutex, and only while no worker makes a sample.
  std::int64_t next_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  std::int64_t limit_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  std::int64_t awaited_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  /// What each worker makes, or kNone; the last place is that of the calling thread.
  std::vector<std::int64_t> making_ STEPTAPE_GUARDED_BY(mutex_);
  std::int64_t failed_ STEPTAPE_GUARDED_BY(mutex_);
  std::exception_ptr error_ STEPTAPE_GUARDED_BY(mutex_);
  bool ends_ STEPTAPE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // Last: the threads use all of the above.
};

}  // namespace steptape::detail::train
