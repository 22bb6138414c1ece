// SPDX-License-Identifier: Apache-2.0
#include "libtorch/kineto_profile.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/csrc/autograd/profiler_legacy.h>
#include <torch/version.h>

namespace steptape {
namespace {

struct Call {
  std::string name;
  std::uint64_t thread;
  double start;
  double end;
};

/// Subtracts from each call the time of calls directly inside it.
std::map<std::string, KinetoOp> addUp(std::vector<Call> calls) {
  std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
    return a.thread != b.thread ? a.thread < b.thread
                                : std::make_pair(a.start, -a.end) < std::make_pair(b.start, -b.end);
  });
  std::map<std::string, KinetoOp> ops;
  std::vector<const Call*> open;
  for (const Call& call : calls) {
    while (!open.empty() &&
           (open.back()->thread != call.thread || open.back()->end <= call.start)) {
      open.pop_back();
    }
    if (!open.empty()) {
      ops[open.back()->name].selfNanos -= call.end - call.start;
    }
    ops[call.name].selfNanos += call.end - call.start;
    ++ops[call.name].calls;
    open.push_back(&call);
  }
  return ops;
}

#if TORCH_VERSION_MAJOR < 2
/// Debian's LibTorch 1.13 has no Kineto: starts and ends arrive as they were recorded.
std::vector<Call> profiledCalls(const std::function<void()>& run) {
  namespace legacy = torch::autograd::profiler;
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::CPU);
  legacy::enableProfilerLegacy(config);
  run();
  std::vector<Call> calls;
  for (const std::vector<legacy::LegacyEvent>& events : legacy::disableProfilerLegacy()) {
    std::map<std::uint64_t, std::vector<const legacy::LegacyEvent*>> open;  // by thread
    for (const legacy::LegacyEvent& event : events) {
      auto& ofThread = open[event.threadId()];
      if (event.kind() == legacy::EventKind::PushRange) {
        ofThread.push_back(&event);
      } else if (event.kind() == legacy::EventKind::PopRange && !ofThread.empty()) {
        const legacy::LegacyEvent& begin = *ofThread.back();
        calls.push_back({begin.name(), begin.threadId(), begin.cpuUs() * 1e3, event.cpuUs() * 1e3});
        ofThread.pop_back();
      }
    }
  }
  return calls;
}
#else
std::vector<Call> profiledCalls(const std::function<void()>& run) {
  namespace impl = torch::profiler::impl;
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO);
  torch::autograd::profiler::prepareProfiler(config, {impl::ActivityType::CPU});
  torch::autograd::profiler::enableProfiler(config, {impl::ActivityType::CPU});
  run();
  const auto result = torch::autograd::profiler::disableProfiler();
  std::vector<Call> calls;
  for (const auto& event : result->events()) {
    calls.push_back({event.name(), event.startThreadId(), static_cast<double>(event.startNs()),
                     static_cast<double>(event.endNs())});
  }
  return calls;
}
#endif

}  // namespace

std::map<std::string, KinetoOp> kinetoProfile(const std::function<void()>& run) {
  return addUp(profiledCalls(run));
}

}  // namespace steptape
