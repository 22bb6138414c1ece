// SPDX-License-Identifier: Apache-2.0
#include "steptape/metrics/machine_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/got_expected.h"
#include "base/host_name.h"
#include "process/machine/machine_monitor.h"
#include "process/machine/quantities.h"

namespace steptape {
namespace {

/// What the ranks combine: the time that passed, the period, whether there is a new sample, and
/// then every quantity.
enum MomentPlace : std::size_t { kPassedSeconds, kPeriodSeconds, kIsNew, kFirstQuantity };

/// The tags of all quantities, in the order in which their moments are sent. Ranks without a number
/// send weight 0, so that the message has the same form on all of them.
std::vector<std::string> machineTags() {
  std::vector<std::string> tags;
  for (const auto& quantity : detail::process::machineQuantities()) {
    tags.push_back(std::string("machine/") + quantity.name);
  }
  for (int gpu = 0; gpu < kMachineGpus; ++gpu) {
    for (const auto& quantity : detail::process::gpuQuantities()) {
      tags.push_back("machine/gpu" + std::to_string(gpu) + '/' + quantity.name);
    }
  }
  return tags;
}

/// Returns the numbers of a sample in the order of machineTags(). NaN: not known.
std::vector<double> numbersOf(const MachineSample& sample) {
  std::vector<double> numbers;
  for (const auto& quantity : detail::process::machineQuantities()) {
    numbers.push_back(sample.*quantity.value);
  }
  for (std::size_t gpu = 0; gpu < kMachineGpus; ++gpu) {
    for (const auto& quantity : detail::process::gpuQuantities()) {
      numbers.push_back(gpu < sample.gpus.size() ? sample.gpus[gpu].*quantity.value
                                                 : GpuSample::kUnknown);
    }
  }
  return numbers;
}

double secondsOf(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

detail::process::MachineMonitorOptions monitorOptions(const MachineMetricsOptions& options,
                                                      const std::string& logDir, int rank) {
  if (options.period.count() < 1) {
    detail::base::reject("period = " + std::to_string(options.period.count()) + " ms",
                         "at least 1 ms", "MachineMetrics");
  }
  detail::process::MachineMonitorOptions monitor;
  monitor.sampler = options.sampler;
  monitor.period = options.period;
  monitor.labels = {options.run.empty() ? logDir : options.run, detail::base::hostName(), rank};
  if (!options.textFileDirectory.empty()) {
    monitor.textFile = options.textFileDirectory + "/" + textMetricsFileName(monitor.labels);
  }
  return monitor;
}

}  // namespace

class MachineMetrics::Impl {
 public:
  /// @param ranks  Null: there is one rank.
  /// @param job    The run of the job.
  /// @param ofRank The run of this rank; null: none.
  Impl(std::shared_ptr<Communicator> ranks, SummaryWriter& job, SummaryWriter* ofRank,
       const MachineMetricsOptions& options)
      : communicator_(ranks ? std::move(ranks) : std::make_shared<Communicator>()),
        job_(job),
        ofRank_(ofRank),
        period_(secondsOf(options.period)),
        tags_(machineTags()),
        moments_(kFirstQuantity + tags_.size()),
        monitor_(monitorOptions(options, job.logDir(), communicator_->rank())) {}

  void endStep(std::int64_t step) {
    ++steps_;
    monitor_.noteStep(step);
    finish();
    if (steps_ >= nextStart_ && !monitor_.isOfParent()) {
      start(step);
    }
  }

  void finish() {
    if (!std::exchange(isUnderWay_, false)) {
      return;
    }
    allreduce_.wait();
    planNextStart();
    write();
  }

 private:
  void start(std::int64_t step) {
    const std::int64_t now = Clock::system().steadyNanos();
    const int rank = communicator_->rank();
    const double passed = static_cast<double>(now - std::exchange(startedAt_, now)) * 1e-9;
    moments_[kPassedSeconds] = MetricMoments::of(passed, 1, rank);
    moments_[kPeriodSeconds] = MetricMoments::of(period_, 1, rank);
    const std::optional<MachineSample> sample = monitor_.takeSample();
    if (sample) {
      numbers_ = numbersOf(*sample);
      writeOwn(step);
    }
    moments_[kIsNew] = MetricMoments::of(sample ? 1 : 0, 1, rank);
    // A rank without a new sample sends the last one again, so that the mean is over all ranks.
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const bool isKnown = std::isfinite(numbers_[i]);
      moments_[kFirstQuantity + i] =
          MetricMoments::of(isKnown ? numbers_[i] : 0, isKnown ? 1 : 0, rank);
    }
    step_ = step;
    passedSteps_ = steps_ - std::exchange(startStep_, steps_);
    isUnderWay_ = true;
    CollectiveOptions options;
    options.name = "machine metrics at step " + std::to_string(step);
    allreduce_ = communicator_->allreduceAsync(ArrayView<MetricMoments>(moments_), options);
  }

  /// All ranks have the same moments and come to the same result.
  void planNextStart() {
    // The first steps of a run are slow, and say little about those that follow.
    constexpr double kMaxGrowth = 10;
    const double steps = static_cast<double>(passedSteps_);
    const double seconds = std::max(moments_[kPassedSeconds].max, 1e-9);
    const double due = steps * moments_[kPeriodSeconds].min / seconds;
    nextStart_ = startStep_ + static_cast<std::int64_t>(std::clamp(due, 1.0, kMaxGrowth * steps));
  }

  void write() {
    if (!job_.isEnabled() || moments_[kIsNew].max == 0) {
      return;
    }
    StepBatch batch = job_.atStep(step_);
    for (std::size_t i = 0; i < tags_.size(); ++i) {
      const MetricMoments& moments = moments_[kFirstQuantity + i];
      if (moments.weight == 0) {
        continue;
      }
      batch.add(tags_[i], moments.mean());
      if (communicator_->size() > 1) {
        batch.add(tags_[i] + "/min", moments.min);
        batch.add(tags_[i] + "/max", moments.max);
      }
    }
  }

  void writeOwn(std::int64_t step) {
    if (ofRank_ == nullptr || !ofRank_->isEnabled()) {
      return;
    }
    StepBatch batch = ofRank_->atStep(step);
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (std::isfinite(numbers_[i])) {
        batch.add(tags_[i], numbers_[i]);
      }
    }
  }

  const std::shared_ptr<Communicator> communicator_;
  SummaryWriter& job_;
  SummaryWriter* const ofRank_;
  const double period_;
  const std::vector<std::string> tags_;
  std::vector<double> numbers_ = numbersOf(MachineSample());  // the latest
  std::int64_t steps_ = 0;
  std::int64_t nextStart_ = 1;

  // The collective in flight, or the last one.
  bool isUnderWay_ = false;
  std::int64_t step_ = 0;
  std::int64_t startStep_ = 0;
  std::int64_t passedSteps_ = 0;  // since the one before
  std::int64_t startedAt_ = Clock::system().steadyNanos();
  std::vector<MetricMoments> moments_;

  detail::process::MachineMonitor monitor_;
  CollectiveHandle allreduce_;  // Last: its destructor waits and needs the members above.
};

MachineMetrics::MachineMetrics(DistributedWriter& writer, const MachineMetricsOptions& options)
    : impl_(std::make_unique<Impl>(
          writer.communicator(), writer.jobWriter(),
          writer.rankPolicy() == RankPolicy::kPerRank ? &writer.localWriter() : nullptr, options)) {
}

MachineMetrics::MachineMetrics(SummaryWriter& writer, const MachineMetricsOptions& options)
    : impl_(std::make_unique<Impl>(nullptr, writer, nullptr, options)) {}

MachineMetrics::~MachineMetrics() {
  try {
    finish();
  } catch (...) {
    // A destructor cannot throw; the communicator reports the error at the next operation.
  }
}

void MachineMetrics::endStep(std::int64_t step) {
  impl_->endStep(step);
}

void MachineMetrics::finish() {
  impl_->finish();
}

}  // namespace steptape
