// SPDX-License-Identifier: Apache-2.0
// Writes traces of made-up jobs in the forms of all viewers, and what a profiler records of zones,
// for xprof_test.py, hta_test.py and perfetto_trace_test.py.
//
//   trace_writer job <log directory> <ranks>
//   trace_writer bare <log directory> <steps>
//   trace_writer devices <log directory> <devices>
//   trace_writer kernels <log directory> <steps>
//   trace_writer ranks <log directory> <steps>
//   trace_writer formats <directory> <random traces>
//   trace_writer profiler <log directory> <steps>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <steptape/process/zone.h>
#include <steptape/profile/profiler.h>
#include <steptape/profile/trace.h>

#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/perfetto/perfetto_trace.h"
#include "profile/trace/random_trace.h"
#include "profile/trace/sample_trace.h"
#include "profile/trace/trace_builder.h"
#include "profile/trace/xplane/xplane_trace.h"

namespace {

using steptape::SpanKind;
using steptape::TraceBuilder;

constexpr std::int64_t kFirstStep = 10;
constexpr std::int64_t kSteps = 7;
constexpr std::int64_t kMicro = 1000;
constexpr std::int64_t kMilli = 1000 * kMicro;
constexpr std::int64_t kOrigin = 1'767'225'600'000'000'000;  // 2026-01-01

// Threads of the job.
constexpr std::size_t kMain = 0;
constexpr std::size_t kLoader = 1;

/// Adds memory that a step allocates at 2.2 ms and frees at 4.7 ms, in addition to a constant 1
/// MiB; the fourth step takes more.
void addMemory(std::int64_t number, std::int64_t start, TraceBuilder* job) {
  constexpr std::uint64_t kAddress = 0x7f0000000000;
  constexpr std::int64_t kMebi = 1 << 20;
  const std::int64_t bytes = (number == kFirstStep + 3 ? 8 : 2) * kMebi;
  const std::int64_t taken = start + 2200 * kMicro;
  const std::int64_t given = start + 4700 * kMicro;
  steptape::Trace& trace = job->trace();
  trace.memory.push_back({taken, kAddress, bytes, kMebi + bytes, 0, 0, -1, kMain});
  trace.memory.push_back({given, kAddress, -bytes, kMebi, 0, 0, -1, kMain});
  trace.counters[0].points.emplace_back(taken, static_cast<double>(kMebi + bytes));
  trace.counters[0].points.emplace_back(given, static_cast<double>(kMebi));
}

/// Adds a step: 2 ms of loading, 3 ms forward, 3 ms backward, then a collective that takes the
/// rest. Children end together with their parents if possible: viewers must still count all of
/// them.
void addStep(std::int64_t number, std::int64_t start, std::int64_t duration, TraceBuilder* job) {
  const auto span = [&](std::size_t thread, const char* name, SpanKind kind, std::int64_t begin,
                        std::int64_t end) -> steptape::TraceSpan& {
    return job->span(thread, name, kind, start + begin * kMicro, start + end * kMicro);
  };
  span(kMain, "load batch", SpanKind::kInput, 0, 2000);
  span(kMain, "aten::stack", SpanKind::kOperator, 500, 1000);

  span(kMain, "forward", SpanKind::kZone, 2000, 5000);
  span(kMain, "aten::linear", SpanKind::kOperator, 2000, 4000).sequence = number;
  span(kMain, "aten::t", SpanKind::kOperator, 2000, 2100);
  steptape::TraceSpan& addmm = span(kMain, "aten::addmm", SpanKind::kOperator, 2100, 4000);
  addmm.sequence = number;
  addmm.details = 1;
  span(kMain, "aten::relu", SpanKind::kOperator, 4000, 4500);

  span(kMain, "backward", SpanKind::kUserScope, 5000, 8000);
  span(kMain, "autograd::engine::evaluate_function: AddmmBackward0", SpanKind::kOperator, 5000,
       8000);
  span(kMain, "AddmmBackward0", SpanKind::kBackward, 5100, 8000).sequence = number;
  span(kMain, "aten::mm", SpanKind::kOperator, 5100, 6000);
  span(kMain, "aten::mm", SpanKind::kOperator, 6000, 8000);

  span(kMain, "allreduce", SpanKind::kCollective, 8000, duration / kMicro);
  span(kMain, "allreduce: wait", SpanKind::kWait, 8000, 8500);
  span(kMain, "aten::detach", SpanKind::kOperator, 8600, 8600);  // shorter than the clock can tell

  span(kLoader, "decode", SpanKind::kZone, 1000, 4000);
  span(kLoader, "aten::copy_", SpanKind::kOperator, 3000, 4000);

  addMemory(number, start, job);
  job->step(number, start, start + duration);
}

/// A step of rank r takes r ms longer than that of rank 0, and the i-th one i ms longer than the
/// first.
steptape::Trace makeJob(int rank, int ranks) {
  TraceBuilder job;
  steptape::Trace& trace = job.trace();
  trace.hostName = "node1.example.org";
  trace.processId = 4000 + rank;
  trace.processName = "train";
  trace.rank = rank;
  trace.worldSize = ranks;
  trace.originNanos = kOrigin;
  trace.dropped = 3;
  trace.threads = {{100, "main", -1, {}}, {101, "loader", -1, {}}};
  trace.counters.push_back({"Memory in use", {}});
  steptape::SpanDetails details;
  details.shapes = "[[128], [64, 784], [784, 128], [], []]";
  details.types = R"(["float", "float", "float", "Scalar", "Scalar"])";
  details.module = "fc1";
  details.flops = 2.0 * 64 * 784 * 128;
  trace.details.push_back(details);

  // Begins in the first step and ends in the second, within a span of its thread.
  job.span(kLoader, "prefetch", SpanKind::kZone, 10 * kMilli, 14 * kMilli);
  std::int64_t start = kMilli;
  for (std::int64_t i = 0; i < kSteps; ++i) {
    const std::int64_t duration = (10 + i + rank) * kMilli;
    addStep(kFirstStep + i, start, duration, &job);
    start += duration;
  }
  trace.duration = start + kMilli;
  return job.take();
}

/// Steps of a program without operators, in a window that cuts the first and the last one.
steptape::Trace makeBare(int steps) {
  TraceBuilder program;
  program.trace().hostName = "node1";
  program.trace().originNanos = kOrigin;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t start = (10 * i - 5) * kMilli;
    program.step(i, start, start + (i + 1 < steps ? 10 : 4) * kMilli);
    program.span(0, "work", SpanKind::kZone, start + 6 * kMilli, start + 9 * kMilli);
  }
  return program.take();
}

/// Three steps of 10 ms, in which each device copies for 2 ms, computes for 4 and reduces for 1.
steptape::Trace makeDevices(int devices) {
  TraceBuilder job;
  job.trace().hostName = "node1";
  job.trace().originNanos = kOrigin;
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::int64_t start = (1 + 10 * i) * kMilli;
    job.step(i, start, start + 10 * kMilli);
    job.span(0, "aten::mm", SpanKind::kOperator, start, start + kMilli);
  }
  for (int device = 0; device < devices; ++device) {
    const std::size_t stream = job.stream(device, 7);
    for (std::int64_t i = 0; i < 3; ++i) {
      const std::int64_t start = (2 + 10 * i) * kMilli;
      job.span(stream, "Memcpy HtoD (Pageable -> Device)", SpanKind::kDevice, start,
               start + 2 * kMilli);
      job.span(stream, "volta_sgemm_128x64_nn", SpanKind::kDevice, start + 2 * kMilli,
               start + 6 * kMilli);
      job.span(stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", SpanKind::kDevice,
               start + 6 * kMilli, start + 7 * kMilli);
    }
  }
  return job.take();
}

/// Steps of 10 ms, in microseconds from their start:
///
///     host        mm launches at 200, copy_ at 1100, all_reduce at 1600
///     stream 7       1000 volta_sgemm 4000   4000 copy of 8 MB 5000
///     stream 20                3000 ncclDevKernel_AllReduce 6000
steptape::Trace makeKernels(int steps) {
  TraceBuilder job;
  job.trace().hostName = "node1";
  // HolisticTraceAnalysis takes process 0 for a GPU.
  job.trace().processId = 4711;
  job.trace().originNanos = kOrigin;
  job.trace().duration = (1 + 10 * steps) * kMilli;
  steptape::SpanDetails bytes;
  bytes.bytes = 8'000'000;
  job.trace().details.push_back(bytes);
  steptape::SpanDetails size;
  size.arguments =
      R"("registers per thread": 80, "shared memory": 2048, "grid": [32, 2, 1], "block": [128, 1, 1])";
  job.trace().details.push_back(size);
  const std::size_t host = 0;
  job.span(host, "main", SpanKind::kZone, 0, (1 + 10 * steps) * kMilli);
  const std::size_t compute = job.stream(0, 7);
  const std::size_t transfer = job.stream(0, 20);
  std::uint32_t correlation = 0;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t start = (1 + 10 * i) * kMilli;
    job.step(i, start, start + 10 * kMilli);
    const auto span = [&](std::size_t thread, const char* name, SpanKind kind, std::int64_t begin,
                          std::int64_t end) -> steptape::TraceSpan& {
      return job.span(thread, name, kind, start + begin * kMicro, start + end * kMicro);
    };
    span(host, "aten::mm", SpanKind::kOperator, 100, 900);
    span(host, "cudaLaunchKernel", SpanKind::kRuntime, 200, 210).correlation = ++correlation;
    steptape::TraceSpan& kernel =
        span(compute, "volta_sgemm_128x64_nn", SpanKind::kDevice, 1000, 4000);
    kernel.correlation = correlation;
    kernel.details = 2;
    span(host, "aten::copy_", SpanKind::kOperator, 1000, 1500);
    span(host, "cudaMemcpyAsync", SpanKind::kRuntime, 1100, 1120).correlation = ++correlation;
    steptape::TraceSpan& copy =
        span(compute, "Memcpy HtoD (Pinned -> Device)", SpanKind::kDevice, 4000, 5000);
    copy.correlation = correlation;
    copy.details = 1;
    span(host, "c10d::allreduce_", SpanKind::kOperator, 1600, 1700);
    span(host, "cudaLaunchKernel", SpanKind::kRuntime, 1610, 1640).correlation = ++correlation;
    span(transfer, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", SpanKind::kDevice, 3000, 6000)
        .correlation = correlation;
  }
  return job.take();
}

/// Steps of 10 ms in which a rank waits for others in the first 3 ms, while another thread
/// exchanges data from 2 to 6 ms, and from 6.1 to 9.9 ms in a collective that overlaps a span of
/// its thread.
steptape::Trace makeRanks(int steps) {
  TraceBuilder job;
  job.trace().hostName = "node1";
  job.trace().originNanos = kOrigin;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t start = (1 + 10 * i) * kMilli;
    job.step(i, start, start + 10 * kMilli);
    const auto span = [&](std::size_t thread, const char* name, SpanKind kind, std::int64_t begin,
                          std::int64_t end) {
      job.span(thread, name, kind, start + begin * kMicro, start + end * kMicro);
    };
    span(0, "wait for ranks", SpanKind::kWait, 0, 3000);
    span(1, "allreduce", SpanKind::kCollective, 2000, 6000);
    span(1, "poll", SpanKind::kZone, 6000, 7000);
    span(1, "broadcast", SpanKind::kCollective, 6100, 9900);
  }
  return job.take();
}

/// A rank of two whose steps are of one job, but not of one length: rank 1 was held up in the first
/// step, after it had met rank 0, which then waited for it in the second.
steptape::Trace makeHeldUp(int rank, std::int64_t steps) {
  TraceBuilder job;
  steptape::Trace& trace = job.trace();
  trace.hostName = "node1.example.org";
  trace.rank = rank;
  trace.worldSize = 2;
  trace.originNanos = kOrigin;
  std::int64_t start = 0;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t duration = (i == 1 - rank ? 11 : 1) * kMilli;
    job.span(0, "aten::mm", SpanKind::kOperator, start, start + duration / 2);
    job.step(kFirstStep + i, start, start + duration);
    start += duration;
  }
  return job.take();
}

/// Writes processes as <directory>/<name>.json.gz, .pftrace and .pftrace.gz.
void writeFormats(const std::string& directory, const std::string& name,
                  const std::vector<steptape::Trace>& processes) {
  const std::string path = directory + "/" + name;
  steptape::detail::profile::writeChromeTrace(path + ".json.gz", processes).throwIfError();
  steptape::detail::profile::writePerfettoTrace(path + ".pftrace.gz", processes).throwIfError();
  steptape::detail::profile::PerfettoTraceOptions options;
  options.compress = false;
  steptape::detail::profile::writePerfettoTrace(path + ".pftrace", processes, options)
      .throwIfError();
}

/// Everything that a trace can hold; a job of two ranks; random traces.
void writeAllFormats(const std::string& directory, int randomTraces) {
  const steptape::Trace training = steptape::trainingTrace().trace();
  writeFormats(directory, "training", {training});
  std::vector<steptape::Trace> job(2, training);
  for (int rank = 0; rank < 2; ++rank) {
    job[static_cast<std::size_t>(rank)].rank = rank + 1;
    job[static_cast<std::size_t>(rank)].worldSize = 3;
  }
  job[1].originNanos -= 5;
  writeFormats(directory, "job", job);
  for (int seed = 0; seed < randomTraces; ++seed) {
    writeFormats(directory, "random" + std::to_string(seed),
                 {steptape::randomTrace(static_cast<unsigned>(seed))});
  }
}

/// A profiler's window of `steps` steps, between a first and a last step that it does not record.
void profileSteps(const std::string& logDir, int steps) {
  steptape::ProfilerOptions options;
  options.logDir = logDir;
  options.chromeTrace = true;
  options.perfettoTrace = true;
  options.xplane = false;
  options.schedule.skipFirst = 1;
  options.schedule.active = steps;
  options.schedule.repeat = 1;
  steptape::Profiler profiler(options);
  for (int step = 0; step < 1 + steps + 1; ++step) {
    {
      STEPTAPE_ZONE("train");
      { STEPTAPE_ZONE("forward"); }
      { STEPTAPE_ZONE("backward"); }
    }
    if (step < 1 || step > steps) {
      STEPTAPE_ZONE("outside the window");
    }
    profiler.step();
  }
  profiler.flush().throwIfError();
}

void write(const std::string& logDir, const steptape::Trace& trace) {
  steptape::detail::profile::XPlaneOptions options;
  options.originNanos = kOrigin;
  const std::string session = steptape::detail::profile::profileSessionName(kOrigin);
  steptape::detail::profile::writeXPlane(
      steptape::detail::profile::xplanePath(logDir, session, trace), trace, options)
      .throwIfError();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    const std::string what = arguments.size() == 3 ? arguments[0] : "";
    if (what == "job") {
      const int ranks = std::stoi(arguments[2]);
      for (int rank = 0; rank < ranks; ++rank) {
        write(arguments[1], makeJob(rank, ranks));
      }
    } else if (what == "bare") {
      write(arguments[1], makeBare(std::stoi(arguments[2])));
    } else if (what == "devices") {
      write(arguments[1], makeDevices(std::stoi(arguments[2])));
    } else if (what == "kernels") {
      const steptape::Trace kernels = makeKernels(std::stoi(arguments[2]));
      write(arguments[1], kernels);
      steptape::detail::profile::writeChromeTrace(arguments[1] + "/kernels.pt.trace.json.gz",
                                                  kernels)
          .throwIfError();
    } else if (what == "ranks") {
      write(arguments[1], makeRanks(std::stoi(arguments[2])));
    } else if (what == "held_up") {
      for (const int rank : {0, 1}) {
        write(arguments[1], makeHeldUp(rank, std::stoi(arguments[2])));
      }
    } else if (what == "formats") {
      writeAllFormats(arguments[1], std::stoi(arguments[2]));
    } else if (what == "profiler") {
      profileSteps(arguments[1], std::stoi(arguments[2]));
    } else {
      std::cerr << "trace_writer job|bare|devices|kernels|ranks|held_up|formats|profiler "
                   "<log directory> <number>\n";
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
