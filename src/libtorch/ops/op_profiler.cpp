// SPDX-License-Identifier: Apache-2.0
#include "steptape/libtorch/op_profiler.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "libtorch/ops/device_timer.h"
#include "libtorch/ops/kineto_recorder.h"
#include "libtorch/ops/memory_tap.h"
#include "libtorch/ops/module_names.h"
#include "libtorch/ops/op_hooks.h"
#include "libtorch/ops/schema_names.h"
#include "profile/recorder/device_activities.h"
#include "profile/recorder/span_source.h"

namespace steptape {
namespace {

/// Clears options that have no meaning if operators are not recorded.
OpProfilerOptions normalized(OpProfilerOptions options) {
  if (!options.operators) {
    options.shapes = false;
    options.deviceTimes = false;
    options.kernels = false;
    options.operatorSampling = 1;
  }
  return options;
}

/// Returns the options that a Profiler without LibTorch has.
ProfilerOptions common(OpProfilerOptions options) {
  ProfilerOptions result;
  // Structured bindings, so that a new field of ProfilerOptions that this function does not copy
  // fails to compile.
  auto& [schedule, trigger, firstStep, logDir, chromeTrace, perfettoTrace, xplane, writer,
         detailScalars, zones, stacks, maxOverhead, recordsPerThread, maxTraceSpans, communicator,
         onTrace, onError] = result;
  schedule = options.schedule;
  trigger = std::move(options.trigger);
  firstStep = options.firstStep;
  logDir = std::move(options.logDir);
  chromeTrace = options.chromeTrace;
  perfettoTrace = options.perfettoTrace;
  xplane = options.xplane;
  writer = options.writer;
  detailScalars = options.detailScalars;
  zones = options.zones;
  stacks = options.stacks;
  maxOverhead = options.maxOverhead;
  recordsPerThread = options.recordsPerThread;
  maxTraceSpans = options.maxTraceSpans;
  communicator = std::move(options.communicator);
  onTrace = std::move(options.onTrace);
  onError = std::move(options.onError);
  return result;
}

class OperatorSource final : public detail::profile::SpanSource {
 public:
  explicit OperatorSource(const OpProfilerOptions& options)
      : hookWithoutEvents_(detail::libtorch::opHook({options.operators, options.shapes, false,
                                                     static_cast<int>(options.operatorSampling)})),
        hookWithEvents_(detail::libtorch::opHook(
            {options.operators, options.shapes,
             options.deviceTimes && detail::libtorch::DeviceTimer::hasDevices(),
             static_cast<int>(options.operatorSampling)})),
        hook_(hookWithEvents_),
        sampling_(static_cast<int>(options.operatorSampling)),
        withMemory_(options.memory) {
    if (options.deviceTimes && options.kernels && options.maxTraceSpans > 0 &&
        options.maxOverhead == 0.0 && detail::libtorch::KinetoRecorder::isUseful()) {
      activities_.emplace(std::make_unique<detail::libtorch::KinetoRecorder>());
    }
    if (hook_ == nullptr) {
      throw Error(ErrorCode::kInvalidArgument, "OpProfilerOptions::operatorSampling: got " +
                                                   std::to_string(options.operatorSampling) +
                                                   "; expected 1, 10, 100 or 1000");
    }
    detail::libtorch::learnSchemaNames();
  }
  ~OperatorSource() override {
    switchOff();
    detail::libtorch::forgetModules();
    detail::libtorch::DeviceTimer::instance().clear();
  }

  void switchOn() override {
    isOn_ = true;
    // Kernels replace events, so that no time of a device counts twice.
    hook_ = activities_ && activities_->start() ? hookWithoutEvents_ : hookWithEvents_;
    detail::libtorch::enableOpHook(*hook_);
    if (withMemory_) {
      memoryProblem_ = memory_.emplace().problem();
    }
  }

  int sampling() const override { return sampling_; }

  std::vector<std::string> problems() const override {
    std::vector<std::string> problems{memoryProblem_,
                                      detail::libtorch::DeviceTimer::instance().problem()};
    if (activities_) {
      for (std::string& problem : activities_->problems()) {
        problems.push_back(std::move(problem));
      }
    }
    return problems;
  }

  double measureNanosPerSpan() override { return detail::libtorch::measureOpHook(*hook_); }

  void switchOff() noexcept override {
    memory_.reset();
    if (isOn_) {
      detail::libtorch::disableOpHook(*hook_);
      if (activities_) {
        activities_->pause();
      }
      isOn_ = false;
    }
  }

  void takeDeviceSpans(
      std::uint64_t since, std::uint64_t until, bool waits,
      const std::function<void(const detail::process::SpanBatch&)>& sink) override {
    detail::libtorch::DeviceTimer::instance().take(since, until, waits, sink);
    if (activities_ && waits) {  // else the recorder would have to stop
      activities_->take(since, until, sink);
    }
  }

 private:
  const detail::libtorch::OpHook* const hookWithoutEvents_;
  const detail::libtorch::OpHook* const hookWithEvents_;
  const detail::libtorch::OpHook* hook_;  ///< One of these.
  const int sampling_;
  const bool withMemory_;
  bool isOn_ = false;
  std::string memoryProblem_;
  std::optional<detail::libtorch::MemoryTap> memory_;
  std::optional<detail::profile::DeviceActivities> activities_;
};

}  // namespace

OpProfiler::OpProfiler(const OpProfilerOptions& options)
    : Profiler(common(options), std::make_unique<OperatorSource>(normalized(options))) {}

OpProfiler::~OpProfiler() = default;

void OpProfiler::watch(const torch::nn::Module& model, const std::string& name) {
  detail::libtorch::rememberModules(model, name);
}

}  // namespace steptape
