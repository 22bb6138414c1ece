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

/// Options of OpProfiler: those of ProfilerOptions, and those for LibTorch's operators.
struct OpProfilerOptions {
  // As in ProfilerOptions. Not a base class, so that designated initializers reach all fields.
  ProfilerSchedule schedule;
  ProfilerTrigger trigger;
  std::int64_t firstStep = 0;
  std::string logDir;
  bool chromeTrace = true;
  bool perfettoTrace = false;
  bool xplane = true;
  SummaryWriter* writer = nullptr;
  bool detailScalars = false;
  bool zones = true;

  /// Records operators and backward nodes. false: records only LibTorch's RECORD_USER_SCOPE, all of
  /// them, and operators cost nothing; `shapes`, `deviceTimes` and `operatorSampling` then have no
  /// effect.
  bool operators = true;
  /// Records shapes and types of operator inputs. Required for the table by shape, floating-point
  /// operations, bytes and modules.
  bool shapes = false;
  /// Records allocations and frees on the thread that calls start() and step(), and on threads of
  /// autograd and LibTorch that work for it.
  bool memory = false;
  /// Times the work of operators on devices such as GPUs: one event before and one after each
  /// outermost call with inputs on a device. The spans are of SpanKind::kDevice, one row per
  /// stream. Another thread reads them some steps later. Must be false while a CUDA graph is
  /// captured.
  bool deviceTimes = true;
  /// With `deviceTimes`, records every kernel and copy of CUDA devices under its own name, and the
  /// calls that launched them, by the Kineto in LibTorch and CUPTI. The devices are then not timed
  /// by events. The first recorded or warm-up step of the process initializes CUPTI and waits for
  /// it; CUPTI then makes each launch slower. Kernels are not recorded if LibTorch has no CUPTI, if
  /// another profiler uses it, if `maxTraceSpans` is 0, or with `maxOverhead`, which cannot limit
  /// CUPTI.
  bool kernels = true;
  bool stacks = false;  ///< As in ProfilerOptions.
  /// Records one of this many operators, chosen at random: 1, 10, 100 or 1000. Calls and total
  /// times are then estimates. Self times equal total times, because the calls inside an operator
  /// are mostly unknown.
  std::int64_t operatorSampling = 1;

  // As in ProfilerOptions.
  double maxOverhead = 0.0;
  std::int64_t recordsPerThread = std::int64_t{1} << 16;
  std::int64_t maxTraceSpans = std::int64_t{1} << 20;
  std::shared_ptr<Communicator> communicator = nullptr;
  std::function<void(const Trace& trace, SummaryWriter* writer, std::int64_t step)> onTrace =
      nullptr;
  std::function<void(const Status&)> onError = nullptr;
};

/// Times every operator of LibTorch, forward and backward, in addition to zones.
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
/// Covers every thread of the process: the training loop's, autograd's and any std::thread. It
/// records the scopes FUNCTION (kOperator), BACKWARD_FUNCTION (kBackward) and USER_SCOPE
/// (kUserScope, LibTorch's RECORD_USER_SCOPE), or only the last; see OpProfilerOptions::operators.
/// Times are CPU times: for an operator on another device, the time of its launch. Device work has
/// rows of its own, of SpanKind::kDevice; see OpProfilerOptions::deviceTimes and ::kernels.
///
/// Works together with LibTorch's own profiler. `at::clearCallbacks()` removes the hook, like all
/// others; then only zones are recorded.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost   In steps that are not recorded: nothing; the hook is disabled, and LibTorch runs
///         operators without observers. In recorded steps: LibTorch's own cost of an observed
///         operator, 60 to 140 ns, plus about 30 ns for the hook, including two readings of the
///         cycle counter. No lock, allocation or system call, except for the first use of a thread
///         or name, and one allocation per asynchronous function. Inputs are read only with
///         OpProfilerOptions::shapes.
/// @source ATen/record_function.h of LibTorch.
class STEPTAPE_EXPORT OpProfiler : public Profiler {
 public:
  /// Checks the options and calls start(); see Profiler.
  explicit OpProfiler(const OpProfilerOptions& options = {});
  ~OpProfiler();

  /// Attributes operators to the module of `model` whose parameters or buffers they read, such as
  /// "features.0". Needs OpProfilerOptions::shapes. Operators called inside, and backward nodes,
  /// are attributed with them. Call it again after parameters were replaced, for example by
  /// Module::to().
  ///
  /// @param model The model.
  /// @param name  Prefix of the modules' paths; may be empty.
  /// @threads Thread-safe.
  void watch(const torch::nn::Module& model, const std::string& name = "");
};

/// Counts the floating-point operations that LibTorch's operators make on this thread while it
/// lives. Operators of backward() count, also on the threads on which autograd runs them.
///
///     steptape::FlopCounter counter;
///     model->forward(images).sum().backward();
///     std::int64_t flops = counter.flops();
///
/// A multiplication and an addition are two operations. Matrix products, convolutions and fused
/// attention count, forward and backward; all other operators count as 0, as do fused recurrent
/// layers and kernels that are not operators. The number follows from the shapes of the inputs, so
/// it is exact and the same on every device. Causal attention counts all pairs.
///
/// Operators in an inner counter's lifetime are added to the outer counter when the inner one ends.
///
/// @threads Not thread-safe: construction, flops() and destruction on one thread. Counters of
///         different threads are independent.
/// @cost   About 1 µs per operator while it lives, nothing otherwise.
/// @source torch.utils.flop_counter.FlopCounterMode counts the same, except for the gradient of the
///         weight of a convolution with G groups, which it counts G times.
class STEPTAPE_EXPORT FlopCounter {
 public:
  FlopCounter();
  ~FlopCounter();
  FlopCounter(const FlopCounter&) = delete;
  FlopCounter& operator=(const FlopCounter&) = delete;

  /// Returns the operations since construction.
  std::int64_t flops() const;

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape
