// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "steptape/profile/trace.h"

#include "base/json_text.h"

namespace steptape {

/// Builds traces span by span.
class SampleTrace {
 public:
  SampleTrace() {
    trace_.hostName = "node1";
    trace_.processId = 4242;
    trace_.processName = "train";
    trace_.originNanos = 1'795'350'356'848'502'275;
    trace_.duration = 1'000'000;
  }

  /// Starts a thread to which the following spans belong.
  SampleTrace& thread(std::uint64_t id, const std::string& name = "", int device = -1) {
    TraceThread& thread = trace_.threads.emplace_back();
    thread.id = id;
    thread.name = name;
    thread.device = device;
    return *this;
  }

  /// Adds a span; call it in the order of starts. Returns the span for further changes; valid until
  /// the next span is added.
  TraceSpan& span(const std::string& name, SpanKind kind, std::int64_t start,
                  std::int64_t duration) {
    return span(TraceName{name, kind, "", 0}, start, duration);
  }
  TraceSpan& span(const TraceName& name, std::int64_t start, std::int64_t duration) {
    trace_.names.push_back(name);
    TraceSpan& span = trace_.threads.back().spans.emplace_back();
    span.name = static_cast<std::uint32_t>(trace_.names.size() - 1);
    span.start = start;
    span.duration = duration;
    return span;
  }

  std::uint32_t details(const SpanDetails& details) {
    trace_.details.push_back(details);
    return static_cast<std::uint32_t>(trace_.details.size() - 1);
  }

  SampleTrace& step(std::int64_t number, std::int64_t start, std::int64_t duration) {
    trace_.steps.push_back({number, start, duration, trace_.threads.size() - 1});
    return *this;
  }

  Trace& trace() { return trace_; }

 private:
  Trace trace_;
};

/// Returns a trace as text, one line per element: equal texts mean equal traces, whatever the
/// numbers of names and details.
inline std::vector<std::string> wordsOf(const Trace& trace) {
  std::vector<std::string> words;
  const auto say = [&words](const std::vector<std::string>& parts) {
    std::string line;
    for (const std::string& part : parts) {
      line += (line.empty() ? "" : " | ") + part;
    }
    words.push_back(line);
  };
  const auto number = [](double value) { return detail::base::jsonNumber(value); };
  const auto text = [](auto value) { return std::to_string(value); };
  say({"process", trace.hostName, text(trace.processId), trace.processName, text(trace.rank),
       text(trace.worldSize), text(trace.originNanos), text(trace.duration), text(trace.dropped)});
  for (const auto& [key, value] : trace.metadata) {
    say({"metadata", key, value});
  }
  for (const TraceThread& thread : trace.threads) {
    say({"thread", text(thread.id), thread.name, text(thread.device)});
    for (const TraceSpan& span : thread.spans) {
      const TraceName& name = trace.names.at(span.name);
      const SpanDetails& details = trace.details.at(span.details);
      say({"span", name.text, spanKindName(name.kind), name.category, text(name.color),
           text(span.start), text(span.duration), text(span.sequence), text(span.forwardThread),
           "flags " + text(span.flags), number(span.value), details.shapes, details.types,
           details.module, number(details.flops), text(details.bytes), details.arguments,
           text(span.correlation)});
    }
  }
  for (const TraceStep& step : trace.steps) {
    say({"step", text(step.number), text(step.start), text(step.duration), text(step.thread)});
  }
  for (const TraceMemoryEvent& event : trace.memory) {
    say({"memory", text(event.time), text(event.address), text(event.bytes),
         text(event.totalAllocated), text(event.totalReserved), text(event.deviceType),
         text(event.deviceIndex), text(event.thread)});
  }
  for (const TraceCounter& counter : trace.counters) {
    for (const auto& [time, value] : counter.points) {
      say({"counter", counter.name, text(time), number(value)});
    }
  }
  return words;
}

/// Returns two threads that run two steps of a model, and a stream, with every kind of data that a
/// trace can hold.
inline SampleTrace trainingTrace() {
  SampleTrace sample;
  sample.thread(4242, "main");
  SpanDetails linear;
  linear.shapes = "[[64, 784], [128, 784], [128]]";
  linear.types = "[\"float\", \"float\", \"float\"]";
  linear.module = "fc1 \"quoted\"";
  linear.flops = 12845056;
  linear.bytes = 602624;
  const std::uint32_t known = sample.details(linear);
  SpanDetails reduce;
  reduce.bytes = 4096;
  reduce.arguments = "\"Group size\": 2, \"dtype\": \"float\"";
  const std::uint32_t reduced = sample.details(reduce);
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = 100'000 + 400'000 * step;
    sample.step(7 + step, at, 400'000);
    TraceSpan& load = sample.span({"load \"batch\"", SpanKind::kInput, "", 0x00ff7f}, at, 50'000);
    load.value = 64.5;
    load.flags = kHasValue;
    TraceSpan& forward = sample.span("aten::linear", SpanKind::kOperator, at + 60'000, 90'000);
    forward.sequence = 5 + 2 * step;
    forward.forwardThread = 1;
    forward.details = known;
    TraceSpan& inner = sample.span("aten::addmm", SpanKind::kOperator, at + 60'001, 80'001);
    inner.sequence = 6 + 2 * step;
    inner.forwardThread = 1;
    sample.span("scope", SpanKind::kUserScope, at + 200'000, 100'000);
    sample.span("zone", SpanKind::kZone, at + 210'000, 80'000);
    TraceSpan& again = sample.span("zone", SpanKind::kZone, at + 220'000, 60'000);
    again.flags = kNestedInItself;
  }
  sample.span("cudaMemcpyAsync", SpanKind::kRuntime, 850'000, 5'000).correlation = 42;
  sample.span("cuLaunchKernel", SpanKind::kRuntime, 860'000, 5'000).correlation = 43;
  sample.thread(4250, "autograd \\ 0");
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = 300'000 + 400'000 * step;
    TraceSpan& wrapper = sample.span("autograd::engine::evaluate_function: AddmmBackward0",
                                     SpanKind::kOperator, at, 90'000);
    wrapper.sequence = 6 + 2 * step;
    wrapper.forwardThread = 2;
    TraceSpan& node = sample.span("AddmmBackward0", SpanKind::kBackward, at + 10, 80'000);
    node.sequence = 6 + 2 * step;
    node.forwardThread = 1;
    TraceSpan& collective =
        sample.span("gloo:all_reduce", SpanKind::kCollective, at + 20'000, 300'000);
    collective.flags = kDetached;
    collective.details = reduced;
    sample.span("wait", SpanKind::kWait, at + 50'000, 0);
  }
  sample.thread(7, "", 0);
  sample.span("sgemm", SpanKind::kDevice, 150'000, 70'000);
  sample.span({"Memcpy HtoD", SpanKind::kDevice, ""}, 870'000, 1).correlation = 42;
  sample.span({"phase", SpanKind::kDevice, "gpu_user_annotation"}, 875'000, 1);
  sample.span({"cudaLaunchKernel", SpanKind::kZone, "cuda_runtime"}, 880'000, 2);

  Trace& trace = sample.trace();
  trace.memory = {{110'000, 0x7f0000001000, 512, 1024, 0, 0, -1, 0},
                  {320'000, 0x7f0000001000, -512, 512, 0, 0, -1, 1},
                  {330'000, 0xffff'ffff'ffff'f000, 4096, 4096, 8192, 1, 0, 0}};
  trace.counters = {{"loss", {{100'000, 0.5}, {500'000, -0.25}}}, {"queue \"depth\"", {{7, 3}}}};
  trace.metadata = {{"profile_memory", "1"}, {"a \"key\"", "{\"b\": [1, 2.50, null, \"c\"]}"}};
  trace.dropped = 12;
  return sample;
}

}  // namespace steptape
