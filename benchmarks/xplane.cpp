// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of a span in a profile for XProf: writeXPlane() and readXPlane() of a million
// operators, compared with Protocol Buffers' own messages for the same events.
//
//   build/release/bin/xplane_benchmark
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"
#include "steptape/wire/xplane.pb.h"

#include "harness.h"
#include "profile/trace/xplane/xplane_trace.h"

namespace {

constexpr int kRounds = 11;
constexpr std::int64_t kSpans = 1'000'000;
constexpr std::int64_t kSpansPerStep = 1000;
constexpr std::int64_t kNames = 100;

/// Makes steps of operators of 10 us. Every second operator is inside the previous one. The first
/// half of a step is forward, and every fifth of its operators has a backward node in the second
/// half.
steptape::Trace makeTrace() {
  using steptape::SpanKind;
  steptape::Trace trace;
  for (std::int64_t i = 0; i < kNames; ++i) {
    const SpanKind kind = i % 2 == 0 ? SpanKind::kOperator : SpanKind::kBackward;
    trace.names.push_back({"aten::operator_" + std::to_string(i), kind});
  }
  trace.threads = {{100, "main", -1, {}}};
  std::vector<steptape::TraceSpan>& spans = trace.threads[0].spans;
  spans.resize(kSpans);
  for (std::int64_t i = 0; i < kSpans; ++i) {
    const std::int64_t step = i / kSpansPerStep;
    const std::int64_t inStep = i % kSpansPerStep;
    const bool isForward = inStep < kSpansPerStep / 2;
    steptape::TraceSpan& span = spans[static_cast<std::size_t>(i)];
    span.start = 10'000 * i;
    span.duration = i % 2 == 0 ? 20'000 : 10'000;
    span.name = static_cast<std::uint32_t>(i % (kNames / 2) * 2);
    if (inStep % 5 == 0) {
      // The last operator's gradient comes first.
      const std::int64_t call = isForward ? inStep : kSpansPerStep - 5 - inStep;
      span.sequence = step * kSpansPerStep + call;
      span.forwardThread = 1;
      span.name += isForward ? 0 : 1;
    }
  }
  for (std::int64_t i = 0; i < kSpans; i += kSpansPerStep) {
    trace.steps.push_back({i / kSpansPerStep, 10'000 * i, 10'000 * kSpansPerStep, 0});
  }
  return trace;
}

double nanosPerSpan(double seconds) {
  return seconds * 1e9 / static_cast<double>(kSpans);
}

double writeNanos(const steptape::Trace& trace, const std::string& path) {
  std::filesystem::remove(path);
  const double start = benchmark::cpuSeconds();
  steptape::detail::profile::writeXPlane(path, trace).throwIfError();
  return nanosPerSpan(benchmark::cpuSeconds() - start);
}

double readNanos(const std::string& path) {
  const double start = benchmark::cpuSeconds();
  benchmark::keep(steptape::detail::profile::readXPlane(path).threads.size());
  return nanosPerSpan(benchmark::cpuSeconds() - start);
}

/// Returns the cost of building and serializing the events alone as messages.
double messageNanos(const steptape::Trace& trace) {
  const double start = benchmark::cpuSeconds();
  steptape::wire::XLine line;
  std::size_t next = 0;
  for (const steptape::TraceSpan& span : trace.threads[0].spans) {
    steptape::wire::XEvent* event = line.add_events();
    event->set_metadata_id(span.name + 1);
    event->set_offset_ps(span.start * 1000);
    event->set_duration_ps(span.duration * 1000);
    steptape::wire::XStat* group = event->add_stats();
    group->set_metadata_id(1);
    group->set_int64_value(static_cast<std::int64_t>(next++) / kSpansPerStep);
    if (span.sequence >= 0) {
      steptape::wire::XStat* sequence = event->add_stats();
      sequence->set_metadata_id(2);
      sequence->set_int64_value(span.sequence);
      steptape::wire::XStat* thread = event->add_stats();
      thread->set_metadata_id(3);
      thread->set_int64_value(span.forwardThread);
    }
  }
  benchmark::keep(line.SerializeAsString().size());
  return nanosPerSpan(benchmark::cpuSeconds() - start);
}

}  // namespace

int main() {
  const steptape::testing::TempDir dir;
  const std::string path = dir.string() + "/host.xplane.pb";
  const steptape::Trace trace = makeTrace();
  writeNanos(trace, path);  // a file for the first read
  const std::vector<benchmark::Variant> variants = {
      {"messages of Protocol Buffers", [&] { return messageNanos(trace); }},
      {"the same again (A/A)", [&] { return messageNanos(trace); }},
      {"writeXPlane()", [&] { return writeNanos(trace, path); }},
      {"readXPlane()", [&] { return readNanos(path); }}};
  const auto costs = benchmark::takeTurns(variants, kRounds);
  benchmark::printTitle("A span in a profile of 1,000,000, nanoseconds of CPU");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    benchmark::printCosts(variants[i].name, costs[i], "ns");
  }
  std::printf("%.1f bytes a span\n",
              static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(kSpans));
  benchmark::printControl("messages / messages again", benchmark::ratio(costs[0], costs[1]), 0.1);
  benchmark::printAtLeast("messages alone / the whole of writeXPlane()",
                          benchmark::ratio(costs[0], costs[2]), 2);
  return 0;
}
