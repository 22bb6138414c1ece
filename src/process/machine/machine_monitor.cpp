// SPDX-License-Identifier: Apache-2.0
#include "process/machine/machine_monitor.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "steptape/base/clock.h"

#include "base/mutex.h"
#include "base/whole_file.h"

namespace steptape::detail::process {
namespace {

constexpr std::chrono::milliseconds kLongestFirstPeriod = std::chrono::seconds(1);

}  // namespace

/// What the object shares with the thread, which may outlive it.
struct MachineMonitor::State {
  explicit State(MachineMonitorOptions ofMonitor)
      : options(std::move(ofMonitor)), sampler(options.sampler) {}

  /// One turn of the thread.
  base::LoopThread::Time sampleOnce() {
    const base::LoopThread::Time start = base::LoopThread::Time::clock::now();
    try {
      MachineSample now = sampler.sample();
      if (!options.textFile.empty()) {
        writeTextFile(now);
      }
      const base::MutexLock lock(mutex);
      sample = std::move(now);
    } catch (const std::exception& error) {
      report({ErrorCode::kResourceExhausted, std::string("no sample: ") + error.what()});
    } catch (...) {
      report({ErrorCode::kResourceExhausted, "no sample: onError threw"});
    }
    const auto period =
        samples++ == 0 ? std::min(options.period, kLongestFirstPeriod) : options.period;
    return start + period;
  }

  void writeTextFile(const MachineSample& now) {
    std::optional<LatestStep> step;
    {
      const base::MutexLock lock(mutex);
      step = latest;
    }
    if (const Status status =
            base::replaceFile(options.textFile, textMetrics(now, options.labels, step));
        !status.ok()) {
      report(status);
    }
  }

  /// Reports the first problem; the same one may come back every period.
  void report(const Status& status) {
    if (std::exchange(hasReported, true)) {
      return;
    }
    try {
      if (options.sampler.onError) {
        options.sampler.onError({status.code(), "machine metrics: " + status.message()});
      } else {
        std::fprintf(stderr, "steptape: machine metrics: %s\n", status.message().c_str());
      }
    } catch (...) {
      // The caller's function failed: there is nobody else to tell.
    }
  }

  const MachineMonitorOptions options;
  // Of the thread.
  MachineSampler sampler;
  std::uint64_t samples = 0;
  bool hasReported = false;

  base::Mutex mutex;
  std::optional<MachineSample> sample STEPTAPE_GUARDED_BY(mutex);
  std::optional<LatestStep> latest STEPTAPE_GUARDED_BY(mutex);
};

MachineMonitor::MachineMonitor(MachineMonitorOptions options)
    : state_(std::make_shared<State>(std::move(options))) {
  try {
    thread_ = std::make_unique<base::LoopThread>("steptape-mach",
                                                 [state = state_] { return state->sampleOnce(); });
  } catch (const std::system_error& error) {
    state_->report({ErrorCode::kResourceExhausted,
                    std::string("cannot start the background thread: ") + error.what()});
  }
}

MachineMonitor::~MachineMonitor() {
  if (!thread_ || thread_->isOfParent()) {
    return;
  }
  thread_.reset();
  if (!state_->options.textFile.empty()) {
    ::unlink(state_->options.textFile.c_str());
  }
}

std::optional<MachineSample> MachineMonitor::takeSample() {
  const base::MutexLock lock(state_->mutex);
  return std::exchange(state_->sample, std::nullopt);
}

void MachineMonitor::noteStep(std::int64_t step) {
  if (state_->options.textFile.empty() || isOfParent()) {
    return;
  }
  const double now = Clock::system().wallSeconds();
  const base::MutexLock lock(state_->mutex);
  state_->latest = LatestStep{step, now};
}

}  // namespace steptape::detail::process
