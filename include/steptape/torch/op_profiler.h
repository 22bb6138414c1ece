// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"
#include "steptape/profile/profiler.h"

namespace torch::nn {
class Module;
}

namespace steptape {

/// As for a Profiler.
using OpProfilerOptions = ProfilerOptions;

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
/// LibTorch's RECORD_USER_SCOPE), or the latter alone; see ProfilerOptions::operators. Their times
/// are those of the CPU: an operator on another device counts its launch. What the device then does
/// has rows of its own, of SpanKind::kDevice; see ProfilerOptions::deviceTimes.
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
