// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/profile/profiler.h"

namespace torch::nn {
class Module;
}

namespace steptape {

/// What an OpProfiler records and where it writes: ProfilerOptions, and what only LibTorch's
/// operators have.
struct OpProfilerOptions {
  // As in ProfilerOptions. Not a base class, so that designated initializers reach all fields.
  ProfilerSchedule schedule;
  ProfilerTrigger trigger;
  std::int64_t firstStep = 0;
  std::string logDir;
  bool chromeTrace = true;
  bool xplane = true;
  SummaryWriter* writer = nullptr;
  bool detailScalars = false;
  bool zones = true;

  /// Whether to record operators and backward nodes. Otherwise only the scopes of
  /// LibTorch's RECORD_USER_SCOPE are recorded, each of them, and operators cost nothing; `shapes`,
  /// `deviceTimes` and `operatorSampling` then say nothing.
  bool operators = true;
  /// Whether to record shapes and types of operators' inputs. The table by shape,
  /// floating-point operations, bytes and modules rest on them.
  bool shapes = false;
  /// Whether to record what is allocated and freed on the thread that calls start()
  /// and step(), and on autograd's and LibTorch's threads that work for it.
  bool memory = false;
  /// Whether to time what operators do on devices such as GPUs, where there are
  /// any: one event before and one behind each call with inputs on a device, calls inside of it
  /// left out. Such spans are SpanKind::kDevice, on a row for each stream. They are read some steps
  /// later, on another thread. Must be off while a CUDA graph is captured.
  bool deviceTimes = true;
  bool stacks = false;  ///< As in ProfilerOptions.
  /// Of how many operators one is recorded, chosen at random: 1, 10, 100 or 1000.
  /// Calls and total times are then estimates, and self times are the total ones, because what an
  /// operator calls is mostly unknown.
  int operatorSampling = 1;

  // As in ProfilerOptions.
  double maxOverhead = 0.0;
  std::size_t recordsPerThread = std::size_t{1} << 16;
  std::size_t maxTraceSpans = std::size_t{1} << 20;
  std::shared_ptr<Communicator> communicator = nullptr;
  std::function<void(const Trace& trace, SummaryWriter* writer, std::int64_t step)> onTrace =
      nullptr;
  std::function<void(const Status&)> onError = nullptr;
};

/// Times every operator of LibTorch, forward and backward, besides zones: a Profiler with a hook.
///
///     steptape::OpProfilerOptions options;
///     options.schedule.wait = 1;
///     options.schedule.warmup = 1;
///     options.schedule.active = 3;
///     options.schedule.repeat = 1;
///     steptape::OpProfiler profiler(options);
///     for (std::int64_t step = 0; step < steps; ++step) {
///       trainStep();
///       profiler.step();
///     }
///     profiler.writeTo(writer, steps);
///
/// Sees every thread of the process: the training loop's, autograd's and any std::thread. Recorded
/// are the scopes FUNCTION (kOperator), BACKWARD_FUNCTION (kBackward) and USER_SCOPE (kUserScope,
/// LibTorch's RECORD_USER_SCOPE), or the latter alone; see OpProfilerOptions::operators. Their
/// times are those of the CPU: an operator on another device counts its launch. What the device
/// then does has rows of its own, of SpanKind::kDevice; see OpProfilerOptions::deviceTimes.
///
/// Works next to LibTorch's own profiler. After `at::clearCallbacks()`, which removes the hook like
/// all others, only zones are recorded.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    Off the schedule's steps: nothing, the hook is disabled and operators take LibTorch's
///          path without observers. Recording: LibTorch's own cost of an observed operator, 60 to
///          140 ns, and about 30 ns for the hook, two readings of the cycle counter included; no
///          lock, allocation or system call but for a thread's and a name's first time, and one
///          allocation for an asynchronous function. Inputs are looked at with
///          OpProfilerOptions::shapes only.
/// @source  ATen/record_function.h of LibTorch.
class STEPTAPE_EXPORT OpProfiler : public Profiler {
 public:
  /// Checks the options and start()s; see Profiler.
  explicit OpProfiler(const OpProfilerOptions& options = {});
  ~OpProfiler();

  /// Lets operators be counted for the module of `model` whose parameters or buffers they read,
  /// such as "features.0"; with OpProfilerOptions::shapes. What an operator calls, and its backward
  /// node, count with it. Call it again when parameters have been replaced, as Module::to() may do.
  ///
  /// @param name In front of the modules' paths; may be empty.
  /// @threads Thread-safe.
  void watch(const torch::nn::Module& model, const std::string& name = "");
};

}  // namespace steptape
