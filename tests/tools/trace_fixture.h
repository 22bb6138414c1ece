// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/trace_builder.h"
#include "profile/trace/xplane/xplane_trace.h"
#include "tools/tool_fixture.h"

namespace steptape {

/// Commands on traces of an invented training.
class TraceFixture : public ToolFixture {
 protected:
  static constexpr std::int64_t kMillisecond = 1'000'000;
  static constexpr std::int64_t kOrigin = 1'700'000'000'000'000'000;

  /// The differences between the traces.
  struct Training {
    int rank = 0;
    int worldSize = 1;
    std::int64_t origin = kOrigin;
    std::int64_t firstStep = 10;
    std::int64_t steps = 3;
    std::int64_t matmulMs = 4;  ///< Of each of the two in a step.
    std::int64_t waitMs = 1;
    std::string activation = "aten::relu";
  };

  /// Returns a trace whose steps have, in milliseconds: 1 input, 2 * matmulMs and 1 forward, 3
  /// backward with 2 in an operator, 2 collective of which waitMs are waiting.
  static Trace traceOf(const Training& training) {
    TraceBuilder builder;
    addFacts(training, &builder.trace());
    std::int64_t now = 0;
    for (std::int64_t i = 0; i < training.steps; ++i) {
      const std::int64_t begin = now;
      const auto span = [&](const char* name, SpanKind kind, std::int64_t milliseconds) -> auto& {
        now += milliseconds * kMillisecond;
        return builder.span(0, name, kind, now - milliseconds * kMillisecond, now);
      };
      span("next batch", SpanKind::kInput, 1);
      span("aten::mm", SpanKind::kOperator, training.matmulMs).details = 1;
      span("aten::mm", SpanKind::kOperator, training.matmulMs).details = 2;
      span(training.activation.c_str(), SpanKind::kOperator, 1);
      builder.span(0, "aten::mul", SpanKind::kOperator, now, now + 2 * kMillisecond);
      span("ReluBackward0", SpanKind::kBackward, 3);
      builder.span(0, "wait", SpanKind::kWait, now, now + training.waitMs * kMillisecond);
      span("allreduce", SpanKind::kCollective, training.waitMs + 1);
      builder.step(training.firstStep + i, begin, now);
    }
    builder.trace().duration = now;
    return builder.take();
  }

  void writeProfile(const std::string& name, const Trace& trace) const {
    detail::profile::writeXPlane(path(name), trace).throwIfError();
  }
  void writeProfile(const std::string& name, const Training& training) const {
    writeProfile(name, traceOf(training));
  }

  /// Writes a profile of three ranks, of which rank 1 multiplies for longer, where XProf finds it.
  void writeJob(const std::string& logDir) const {
    for (int rank = 0; rank < 3; ++rank) {
      Training training;
      training.rank = rank;
      training.worldSize = 3;
      training.matmulMs = rank == 1 ? 10 : 4;
      training.waitMs = rank == 1 ? 1 : 13;
      const Trace trace = traceOf(training);
      detail::profile::writeXPlane(
          detail::profile::xplanePath(path(logDir), "2023_11_14_22_13_20", trace), trace)
          .throwIfError();
    }
  }

  void writeChrome(const std::string& name, const Trace& trace) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    detail::profile::ChromeTraceOptions options;
    options.compress = name.back() == 'z';
    detail::profile::writeChromeTrace(path(name), ArrayView<const Trace>(&trace, 1), options)
        .throwIfError();
  }

 private:
  static void addFacts(const Training& training, Trace* trace) {
    trace->hostName = "node" + std::to_string(7 + training.rank);
    trace->processId = 4242 + training.rank;
    trace->processName = "train";
    trace->rank = training.rank;
    trace->worldSize = training.worldSize;
    trace->originNanos = training.origin;
    trace->details.resize(3);
    trace->details[1].shapes = "[[64, 784], [784, 256]]";
    trace->details[1].module = "hidden";
    trace->details[1].flops = 8e6;
    trace->details[2].shapes = "[[64, 256], [256, 10]]";
    trace->details[2].module = "output";
  }
};

}  // namespace steptape
