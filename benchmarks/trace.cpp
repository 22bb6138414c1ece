// SPDX-License-Identifier: Apache-2.0
//
// The cost of an event of a trace of a million operators: writeChromeTrace(), compressed and not,
// and writePerfettoTrace() of the same operators; also memory and file size.
//
//   build/release/bin/trace_benchmark
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "steptape/ranks/testing.h"

#include "harness.h"
#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/perfetto/perfetto_trace.h"

namespace {

constexpr int kRounds = 11;
constexpr std::size_t kOperators = 1'000'000;
constexpr int kLayers = 30;

/// Training of a convolutional network: each layer calls nested operators with its own shapes,
/// forward in order and backward in reverse order.
class TrainingLoop {
 public:
  TrainingLoop() {
    trace_.hostName = "node";
    trace_.processId = 4242;
    trace_.originNanos = 1'795'350'356'848'502'275;
    trace_.threads.resize(1);
    trace_.threads[0].id = 4242;
    for (int layer = 0; layer < kLayers; ++layer) {
      const std::string channels = std::to_string(64 << layer / 10);
      const std::string size = std::to_string(56 >> layer / 10);
      steptape::SpanDetails details;
      details.shapes = "[[32, " + channels + ", " + size + ", " + size + "], [" + channels + ", " +
                       channels + ", 3, 3], [], [], [], []]";
      details.types =
          "[\"float\", \"float\", \"\", \"ScalarList\", \"ScalarList\", \"ScalarList\"]";
      details.module = "layer" + std::to_string(layer);
      trace_.details.push_back(details);
    }
    while (trace_.threads[0].spans.size() < kOperators) {
      addStep();
    }
    trace_.duration = now_;
    steptape::nestSpans(&trace_.threads[0].spans);
  }

  const steptape::Trace& trace() const { return trace_; }

 private:
  void addStep() {
    const std::int64_t start = now_;
    const std::int64_t first = sequence_;
    for (int layer = 0; layer < kLayers; ++layer) {
      for (const char* operation : {"conv2d", "batch_norm", "relu"}) {
        addCall({"aten::" + std::string(operation), "aten::_" + std::string(operation),
                 "aten::native_" + std::string(operation)},
                steptape::SpanKind::kOperator, layer, sequence_++);
      }
    }
    for (std::int64_t sequence = sequence_; sequence-- > first;) {
      const std::string node = std::vector<std::string>{"Convolution", "NativeBatchNorm",
                                                        "Relu"}[(sequence - first) % 3] +
                               "Backward0";
      addCall({"autograd::engine::evaluate_function: " + node, node, "aten::" + node + "_kernel"},
              steptape::SpanKind::kBackward, static_cast<int>((sequence - first) / 3), sequence);
    }
    trace_.steps.push_back({step_++, start, now_ - start, 0});
  }

  /// Adds three nested spans; the second one has the kind and the number.
  void addCall(const std::vector<std::string>& names, steptape::SpanKind kind, int layer,
               std::int64_t sequence) {
    const std::int64_t end = now_ + 2000 + static_cast<std::int64_t>(random_() % 100'000);
    for (std::size_t depth = 0; depth < names.size(); ++depth) {
      steptape::TraceSpan span;
      const bool isSecond = depth == 1;
      span.name = nameId(names[depth], isSecond ? kind : steptape::SpanKind::kOperator);
      span.details = static_cast<std::uint32_t>(layer + 1);
      span.sequence = isSecond ? sequence : -1;
      span.forwardThread = 1;
      span.start = now_;
      span.duration = end - now_ - static_cast<std::int64_t>(depth);
      trace_.threads[0].spans.push_back(span);
      now_ += 200 + static_cast<std::int64_t>(random_() % 300);
    }
    now_ = end;
  }

  std::uint32_t nameId(const std::string& text, steptape::SpanKind kind) {
    for (std::size_t i = 0; i < trace_.names.size(); ++i) {
      if (trace_.names[i].text == text) {
        return static_cast<std::uint32_t>(i);
      }
    }
    trace_.names.push_back({text, kind});
    return static_cast<std::uint32_t>(trace_.names.size() - 1);
  }

  steptape::Trace trace_;
  std::mt19937 random_{1};
  std::int64_t now_ = 0;
  std::int64_t sequence_ = 0;
  std::int64_t step_ = 0;
};

/// Counts operators, steps, and both ends of the arrows.
std::size_t eventCount(const steptape::Trace& trace) {
  return trace.threads[0].spans.size() + trace.steps.size() +
         2 * steptape::linkBackward(trace).size();
}

double writeSeconds(const std::string& path, const steptape::Trace& trace, bool compress) {
  steptape::detail::profile::ChromeTraceOptions options;
  options.compress = compress;
  const double start = benchmark::cpuSeconds();
  const steptape::Status status = steptape::detail::profile::writeChromeTrace(path, trace, options);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(1);
  }
  return benchmark::cpuSeconds() - start;
}

double perfettoSeconds(const std::string& path, const steptape::Trace& trace, bool compress) {
  steptape::detail::profile::PerfettoTraceOptions options;
  options.compress = compress;
  const double start = benchmark::cpuSeconds();
  const steptape::Status status =
      steptape::detail::profile::writePerfettoTrace(path, trace, options);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(1);
  }
  return benchmark::cpuSeconds() - start;
}

/// Returns the peak memory of the process, in MiB.
double peakMemory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

int main() {
  const steptape::testing::TempDir dir;
  const std::string plain = dir.string() + "/trace.json";
  const std::string compressed = plain + ".gz";
  const std::string perfetto = dir.string() + "/trace.pftrace";
  const std::string compressedPerfetto = perfetto + ".gz";
  const TrainingLoop loop;
  const steptape::Trace& trace = loop.trace();
  const auto events = static_cast<double>(eventCount(trace));

  const double before = peakMemory();
  writeSeconds(compressed, trace, true);
  const double growth = peakMemory() - before;

  writeSeconds(plain, trace, false);
  const auto nanos = [events](double seconds) { return seconds * 1e9 / events; };
  std::vector<benchmark::Variant> variants = {
      {"writeChromeTrace(), gzip", [&] { return nanos(writeSeconds(compressed, trace, true)); }},
      {"the same again (A/A)", [&] { return nanos(writeSeconds(compressed, trace, true)); }},
      {"writeChromeTrace(), plain", [&] { return nanos(writeSeconds(plain, trace, false)); }},
      {"writePerfettoTrace(), gzip",
       [&] { return nanos(perfettoSeconds(compressedPerfetto, trace, true)); }},
      {"writePerfettoTrace(), plain",
       [&] { return nanos(perfettoSeconds(perfetto, trace, false)); }}};
  const auto costs = benchmark::takeTurns(variants, kRounds);
  benchmark::printTitle("An event of a Chrome trace, nanoseconds of CPU");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    benchmark::printCosts(variants[i].name, costs[i], "ns");
  }
  benchmark::printControl("gzip / gzip again", benchmark::ratio(costs[0], costs[1]), 0.1);
  benchmark::printAtMost("Perfetto, gzip / Chrome, gzip", benchmark::ratio(costs[3], costs[0]),
                         0.5);
  const auto bytesOf = [](const std::string& path) {
    return static_cast<double>(std::filesystem::file_size(path));
  };
  std::printf("  %.0f events: %.1f bytes each, as text %.1f; %.1f MiB of memory\n", events,
              bytesOf(compressed) / events, bytesOf(plain) / events, growth);
  std::printf("  Perfetto: %.1f bytes for each event, %.2f of Chrome's; plain %.1f\n",
              bytesOf(compressedPerfetto) / events,
              bytesOf(compressedPerfetto) / bytesOf(compressed), bytesOf(perfetto) / events);
  return 0;
}
