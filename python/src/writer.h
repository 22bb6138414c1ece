// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nanobind/nanobind.h>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/metrics/distributed_writer.h"

#include "gil.h"

namespace steptape::python {

namespace nb = nanobind;

/// The mirror of a run: its URL, which may be empty, the seconds between two looks at the run, and
/// those that close() waits for it.
using MirrorChoice = std::tuple<std::string, double, double>;

/// Returns the options that the run of one process and that of a job have in common.
WriterOptions commonOptions(std::optional<std::int64_t> purgeStep, double flushSeconds,
                            const std::string& filenameSuffix, bool isEnabled,
                            const MirrorChoice& mirror);

/// What a writer found wrong, until a call from Python tells it.
///
/// The thread that writes must not need the GIL: a call that waits for the thread may hold it.
class Problems {
 public:
  void add(const std::string& message) {
    const std::lock_guard<std::mutex> lock(mutex_);
    messages_.push_back(message);
    hasSome_.store(true, std::memory_order_release);
  }
  bool hasSome() const { return hasSome_.load(std::memory_order_relaxed); }
  std::vector<std::string> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    hasSome_.store(false, std::memory_order_relaxed);
    return std::exchange(messages_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> messages_;
  std::atomic<bool> hasSome_{false};
};

/// The base class of steptape.SummaryWriter: the run of this process, or of a job.
class Writer {
 public:
  Writer(std::string logDir, WriterOptions options)
      : problems_(reportTo(&options)),
        own_(logDir.empty() ? SummaryWriter(std::move(options))
                            : SummaryWriter(std::move(logDir), std::move(options))) {}
  Writer(std::string logDir, std::shared_ptr<Communicator> communicator,
         DistributedWriterOptions options)
      : problems_(reportTo(&options.writer)),
        job_(std::make_unique<DistributedWriter>(std::move(logDir), std::move(communicator),
                                                 std::move(options))) {}
  ~Writer() {
    if (job_ != nullptr && isPythonEnding()) {
      // Its ranks can no longer be reached, and threads that sleep now may hold its locks.
      static_cast<void>(job_.release());
      return;
    }
    // The thread that writes may have to end first.
    const GilRelease release;
    own_.reset();
    job_.reset();
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  SummaryWriter& writer() { return job_ != nullptr ? job_->localWriter() : *own_; }
  /// Returns null for the run of this process.
  DistributedWriter* job() { return job_.get(); }
  Status flush() { return job_ != nullptr ? job_->flush() : own_->flush(); }
  Status close() { return job_ != nullptr ? job_->close() : own_->close(); }

  Problems& problems() { return *problems_; }
  /// Whether a call has to be passed to Python: values from a device are on their way.
  bool isOrdered() const { return isOrdered_; }
  void setOrdered(bool isOrdered) { isOrdered_ = isOrdered; }
  /// Whether this process was made by fork() after the writer, so that nothing is logged.
  bool isForked() const { return forks_ != forks(); }
  /// Says it once.
  void acceptFork() { forks_ = forks(); }

 private:
  /// Returns how often fork() has made a process on the way to this one.
  static int forks() { return forkCount_.load(std::memory_order_relaxed); }

  std::shared_ptr<Problems> reportTo(WriterOptions* options) {
    auto problems = std::make_shared<Problems>();
    options->onError = [problems](const Status& status) { problems->add(status.message()); };
    return problems;
  }

  static inline std::atomic<int> forkCount_{0};
  friend void countForks();

  std::shared_ptr<Problems> problems_;
  std::optional<SummaryWriter> own_;
  std::unique_ptr<DistributedWriter> job_;
  int forks_ = forks();
  bool isOrdered_ = false;
};

/// Counts processes made by fork() from now on.
void countForks();

/// Tells what is wrong by `self._report(messages, is_forked)`, after a call.
///
/// @throws nb::python_error if Python turns warnings into exceptions.
void reportProblems(nb::handle self, Writer* writer);

/// Returns a step. None is 0, as for torch.utils.tensorboard; `self._step()` knows other types than
/// int.
///
/// @throws nb::python_error (TypeError, ValueError, OverflowError)
std::int64_t stepOf(nb::handle self, nb::handle step);

/// Adds what a run of several ranks has besides.
void bindJob(nb::class_<Writer>* writer);

/// The method add_scalar(), written for CPython's fastest calls.
extern PyMethodDef addScalarMethod[];

}  // namespace steptape::python
