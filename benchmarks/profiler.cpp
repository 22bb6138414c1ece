// SPDX-License-Identifier: Apache-2.0
// Measures the cost of recording an operator of LibTorch, a zone and a trace, compared with
// LibTorch's own Kineto in one program.
//
//   profiler_benchmark [rounds]
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "steptape/base/clock.h"
#include "steptape/libtorch/op_profiler.h"
#include "steptape/profile.h"
#include "steptape/ranks/testing.h"

#include "harness.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/torch.h>

namespace {

using benchmark::Costs;
using benchmark::ratio;

constexpr int kOperators = 100000;
constexpr int kTracedOperators = 20000;
constexpr int kZones = 1000000;

/// Returns the ns per call of `operators` calls of the cheapest operator.
double addLoop(int operators) {
  const at::NoGradGuard noGrad;
  at::Tensor tensor = torch::zeros({1});
  const at::Tensor one = torch::ones({1});
  const double start = benchmark::nowNanos();
  for (int i = 0; i < operators; ++i) {
    tensor.add_(one);
  }
  return (benchmark::nowNanos() - start) / operators;
}

/// Does the same with caches that hold no data of the previous variant.
double warmLoop() {
  addLoop(kOperators / 10);
  return addLoop(kOperators);
}

std::unique_ptr<at::ObserverContext> doNothing(const at::RecordFunction&) {
  return nullptr;
}

/// Two readings of the cycle counter and the store of a record: the minimum for any hook that
/// measures time.
struct FloorRecord {
  std::uint64_t start;
  std::uint64_t end;
  const void* name;
  std::int64_t sequence;
};
thread_local FloorRecord floorRecords[4096];
thread_local std::size_t floorCount = 0;
thread_local std::uint64_t floorStart = 0;

std::unique_ptr<at::ObserverContext> floorBegin(const at::RecordFunction&) {
  floorStart = steptape::readTicks();
  return nullptr;
}
void floorEnd(const at::RecordFunction& function, at::ObserverContext*) {
  const std::uint64_t end = steptape::readTicks();
  floorRecords[floorCount++ % 4096] = {floorStart, end, &function, function.seqNr()};
}

/// Adds a callback for its lifetime.
class Callback {
 public:
  explicit Callback(at::RecordFunctionCallback callback)
      : handle_(at::addGlobalCallback(
            callback.scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                             at::RecordScope::USER_SCOPE}))) {}
  ~Callback() { at::removeCallback(handle_); }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

 private:
  at::CallbackHandle handle_;
};

double withEmptyCallback() {
  const Callback callback(at::RecordFunctionCallback(
      &doNothing, [](const at::RecordFunction&, at::ObserverContext*) {}));
  return warmLoop();
}

double withFloor() {
  const Callback callback(at::RecordFunctionCallback(&floorBegin, &floorEnd));
  return warmLoop();
}

steptape::OpProfilerOptions recordingOnly() {
  steptape::OpProfilerOptions options;
  return options;
}

double withHook(const steptape::OpProfilerOptions& options) {
  const steptape::OpProfiler profiler(options);
  return warmLoop();
}

void startKineto(bool shapes) {
  namespace impl = torch::profiler::impl;
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO, shapes);
  torch::autograd::profiler::prepareProfiler(config, {impl::ActivityType::CPU});
  torch::autograd::profiler::enableProfiler(config, {impl::ActivityType::CPU});
}

double withKineto(bool shapes) {
  startKineto(shapes);
  const double cost = warmLoop();
  torch::autograd::profiler::disableProfiler();
  return cost;
}

/// Times the loop, the end of recording, and writing the trace to its file.
double traceByKineto(const std::string& directory, bool shapes) {
  const double start = benchmark::nowNanos();
  startKineto(shapes);
  addLoop(kTracedOperators);
  torch::autograd::profiler::disableProfiler()->save(directory + "/kineto.json");
  return (benchmark::nowNanos() - start) / kTracedOperators;
}

double traceByUs(const std::string& directory, bool shapes) {
  const double start = benchmark::nowNanos();
  steptape::OpProfilerOptions options = recordingOnly();
  options.shapes = shapes;
  options.logDir = directory;
  options.xplane = false;
  steptape::OpProfiler profiler(options);
  addLoop(kTracedOperators);
  profiler.stop();
  profiler.flush().throwIfError();
  return (benchmark::nowNanos() - start) / kTracedOperators;
}

double zones() {
  const steptape::Profiler profiler{steptape::ProfilerOptions{}};
  const double start = benchmark::nowNanos();
  for (int i = 0; i < kZones; ++i) {
    STEPTAPE_ZONE("zone");
  }
  return (benchmark::nowNanos() - start) / kZones;
}

double clockPairs() {
  std::uint64_t sum = 0;
  const double start = benchmark::nowNanos();
  for (int i = 0; i < kZones; ++i) {
    sum += steptape::readTicks();
    benchmark::keep(sum);
    sum -= steptape::readTicks();
    benchmark::keep(sum);
  }
  return (benchmark::nowNanos() - start) / kZones;
}

Costs minus(const Costs& costs, const Costs& base) {
  Costs differences;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    differences.push_back(costs[i] - base[i]);
  }
  return differences;
}

void measureHooks(int rounds) {
  steptape::OpProfilerOptions sampled = recordingOnly();
  sampled.operatorSampling = 100;
  steptape::OpProfilerOptions shapes = recordingOnly();
  shapes.shapes = true;
  const auto costs =
      benchmark::takeTurns({{"none", warmLoop},
                            {"empty callback", withEmptyCallback},
                            {"two readings of the counter and a store", withFloor},
                            {"steptape", [] { return withHook(recordingOnly()); }},
                            {"steptape with shapes", [&] { return withHook(shapes); }},
                            {"steptape, 1 % of operators", [&] { return withHook(sampled); }},
                            {"Kineto", [] { return withKineto(false); }},
                            {"Kineto with shapes", [] { return withKineto(true); }},
                            {"none again", warmLoop}},
                           rounds);
  benchmark::printTitle("add_ of one element, ns on the calling thread");
  const char* const names[] = {"none",     "empty callback",       "floor",
                               "steptape", "steptape with shapes", "steptape, 1 % of operators",
                               "Kineto",   "Kineto with shapes"};
  for (std::size_t i = 0; i < 8; ++i) {
    benchmark::printCosts(names[i], costs[i], "ns");
  }
  benchmark::printControl("none / none", ratio(costs[8], costs[0]), 0.02);
  benchmark::printCosts("floor beyond an empty callback", minus(costs[2], costs[1]), "ns");
  benchmark::printCosts("steptape beyond an empty callback", minus(costs[3], costs[1]), "ns");
  benchmark::printCosts("steptape at 1 % beyond none", minus(costs[5], costs[0]), "ns");
  benchmark::printAtLeast("Kineto / steptape, beyond none",
                          ratio(minus(costs[6], costs[0]), minus(costs[3], costs[0])), 1.0);
}

void measureTraces(int rounds) {
  const steptape::testing::TempDir directory;
  const std::string path = directory.string();
  const auto costs =
      benchmark::takeTurns({{"none", [] { return addLoop(kTracedOperators); }},
                            {"steptape", [&] { return traceByUs(path, false); }},
                            {"Kineto", [&] { return traceByKineto(path, false); }},
                            {"steptape with shapes", [&] { return traceByUs(path, true); }},
                            {"Kineto with shapes", [&] { return traceByKineto(path, true); }},
                            {"none again", [] { return addLoop(kTracedOperators); }}},
                           rounds);
  benchmark::printTitle("the same, trace written to its file included, ns per operator");
  const char* const names[] = {"none", "steptape", "Kineto", "steptape with shapes",
                               "Kineto with shapes"};
  for (std::size_t i = 0; i < 5; ++i) {
    benchmark::printCosts(names[i], costs[i], "ns");
  }
  benchmark::printControl("none / none", ratio(costs[5], costs[0]), 0.03);
  benchmark::printAtLeast("Kineto / steptape, beyond none",
                          ratio(minus(costs[2], costs[0]), minus(costs[1], costs[0])), 4.0);
  benchmark::printAtLeast("with shapes",
                          ratio(minus(costs[4], costs[0]), minus(costs[3], costs[0])), 4.0);
}

void measureZones(int rounds) {
  const auto costs = benchmark::takeTurns(
      {{"pair", clockPairs}, {"zone", zones}, {"pair again", clockPairs}}, rounds);
  benchmark::printTitle("a zone, ns");
  benchmark::printCosts("two readings of the counter", costs[0], "ns");
  benchmark::printCosts("zone", costs[1], "ns");
  benchmark::printControl("pair / pair", ratio(costs[2], costs[0]), 0.03);
  benchmark::printAtMost("zone / two readings", ratio(costs[1], costs[0]), 2.5);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 11;
  at::set_num_threads(1);
  measureHooks(rounds);
  measureTraces(rounds);
  measureZones(rounds);
}
