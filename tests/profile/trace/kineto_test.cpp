// SPDX-License-Identifier: Apache-2.0
// PyTorch's output, written by hand, with a device, which the test machines lack. tests/interop
// uses the real PyTorch.
#include <fstream>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"

#include "profile/trace/chrome/chrome_format.h"
#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/sample_trace.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr char kFile[] = R"json({
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "NVIDIA A100", "numSms": 108}
  ],
  "cupti_version": 24,
  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_count": 1,
    "pg_config": [{"pg_name": "0", "ranks": [0, 1]}]},
  "with_stack": 0, "host_name": "gpu-node",
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
  {"ph": "M", "name": "process_name", "ts": 4000.000, "pid": 77, "tid": 0, "args": {"name": "python"}},
  {"ph": "M", "name": "process_labels", "ts": 4000.000, "pid": 77, "tid": 0, "args": {"labels": "CPU"}},
  {"ph": "M", "name": "process_name", "ts": 4000.000, "pid": 0, "tid": 0, "args": {"name": "python"}},
  {"ph": "M", "name": "process_labels", "ts": 4000.000, "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
  {"ph": "M", "name": "process_name", "ts": 4000.000, "pid": 1, "tid": 0, "args": {"name": "python"}},
  {"ph": "M", "name": "process_labels", "ts": 4000.000, "pid": 1, "tid": 0, "args": {"labels": "GPU 1"}},
  {"ph": "M", "name": "thread_name", "ts": 4000.000, "pid": 0, "tid": 7, "args": {"name": "stream 7 "}},
  {"ph": "M", "name": "thread_name", "ts": 4000.000, "pid": 77, "tid": 77, "args": {"name": "thread 77 (python)"}},
  {"ph": "M", "name": "thread_name", "ts": 4000.000, "pid": 77, "tid": 99, "args": {"name": "thread 99 (idle)"}},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 77, "tid": 77,
    "ts": 4001.000, "dur": 900.000, "args": {"External id": 1,"Record function id": 0, "Ev Idx": 0}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 77, "tid": 77,
    "ts": 4010.000, "dur": 100.000,
    "args": {"External id": 2,"Sequence number": 11, "Fwd thread id": 0, "Record function id": 0,
      "Concrete Inputs": ["", "1"], "Input type": ["float", "Scalar"],
      "Input Strides": [[8, 1], []], "Input Dims": [[2, 8], []], "Ev Idx": 1}},
  {"ph": "s", "id": 1, "pid": 77, "tid": 77, "ts": 4010.000, "cat": "fwdbwd", "name": "fwdbwd"},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 77, "tid": 77,
    "ts": 4020.500, "dur": 5.250, "args": {"External id": 2, "cbid": 211, "correlation": 4711}},
  {"ph": "s", "id": 4711, "pid": 77, "tid": 77, "ts": 4020.500, "cat": "ac2g", "name": "ac2g"},
  {"ph": "X", "cat": "kernel", "name": "ampere_sgemm_32x32<float, 3>(int)", "pid": 0, "tid": 7,
    "ts": 4030.000, "dur": 50.000,
    "args": {"External id": 2, "queued": 0, "device": 0, "context": 1, "stream": 7,
      "correlation": 4711, "registers per thread": 80, "blocks per SM": 0.296296,
      "grid": [32, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 12}},
  {"ph": "f", "id": 4711, "pid": 0, "tid": 7, "ts": 4030.000, "cat": "ac2g", "name": "ac2g", "bp": "e"},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 7,
    "ts": 4090.000, "dur": 2.000,
    "args": {"device": 0, "context": 1, "stream": 7, "correlation": 4712, "bytes": 4096,
      "memory bandwidth (GB/s)": 2.048}},
  {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: AddmmBackward0",
    "pid": 77, "tid": 80, "ts": 4200.000, "dur": 60.000,
    "args": {"External id": 3,"Sequence number": 11, "Fwd thread id": 1, "Ev Idx": 2}},
  {"ph": "X", "cat": "cpu_op", "name": "AddmmBackward0", "pid": 77, "tid": 80,
    "ts": 4201.000, "dur": 50.000,
    "args": {"External id": 4,"Sequence number": 11, "Fwd thread id": 1, "Ev Idx": 3}},
  {"ph": "f", "id": 1, "pid": 77, "tid": 80, "ts": 4201.000, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"},
  {"ph": "X", "cat": "python_function", "name": "train.py(3): main", "pid": 77, "tid": 77,
    "ts": 4005.000, "dur": 800.000, "args": {"Python parent id": null, "Python id": 1, "Ev Idx": 9}},
  {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 77, "tid": 77,
    "ts": 4011.000, "args": {"Total Reserved": 2097152, "Total Allocated": 512, "Bytes": 512,
      "Device Id": 0, "Device Type": 1, "Addr": 140000000000000, "Ev Idx": 10}},
  {"ph": "X", "cat": "overhead", "name": "Activity Buffer Request", "pid": -1, "tid": 0,
    "ts": 4002.000, "dur": 3.000},
  {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler",
    "ts": 4000.000, "dur": 1000.000, "args": {"Op count": 0}},
  {"ph": "M", "name": "process_sort_index", "ts": 4000.000, "pid": "Spans", "tid": 0,
    "args": {"sort_index": 536870912}},
  {"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces",
    "tid": "Trace PyTorch Profiler", "ts": 4000.000},
  {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 5001.000}
  ],
  "traceName": "/tmp/trace.json"
})json";

class Kineto : public ::testing::Test {
 protected:
  Kineto() {
    const testing::TempDir dir;
    const std::string path = dir.string() + "/trace.json";
    std::ofstream(path) << kFile;
    traces_ = detail::profile::readChromeTrace(path);
    EXPECT_THAT(traces_, SizeIs(1));
    traces_.resize(1);
  }

  const Trace& trace() const { return traces_[0]; }
  const TraceThread& thread(const std::string& name) const {
    for (const TraceThread& thread : trace().threads) {
      if (thread.name == name) {
        return thread;
      }
    }
    ADD_FAILURE() << "no thread " << name;
    static const TraceThread kNone;
    return kNone;
  }
  const TraceSpan& span(const std::string& name) const {
    for (const TraceThread& thread : trace().threads) {
      for (const TraceSpan& span : thread.spans) {
        if (trace().names[span.name].text == name) {
          return span;
        }
      }
    }
    ADD_FAILURE() << "no span " << name;
    static const TraceSpan kNone;
    return kNone;
  }
  const TraceName& nameOf(const TraceSpan& span) const { return trace().names[span.name]; }
  const SpanDetails& detailsOf(const TraceSpan& span) const {
    return trace().details[span.details];
  }

 private:
  std::vector<Trace> traces_;
};

TEST_F(Kineto, StatesTheProcess) {
  EXPECT_EQ(trace().hostName, "gpu-node");
  EXPECT_EQ(trace().processId, 77);
  EXPECT_EQ(trace().processName, "python");
  EXPECT_EQ(trace().rank, 3);
  EXPECT_EQ(trace().worldSize, 8);
  EXPECT_EQ(trace().originNanos, 1'790'857'026'004'000'000);
  EXPECT_EQ(trace().duration, 1'000'000);
  EXPECT_EQ(trace().dropped, 0u);
  EXPECT_THAT(trace().metadata,
              ElementsAre(Pair("deviceProperties",
                               "[{\"id\": 0, \"name\": \"NVIDIA A100\", \"numSms\": 108}]"),
                          Pair("cupti_version", "24"), Pair("with_stack", "0")));
}

TEST_F(Kineto, HasThreadsAndStreamsInOneProcess) {
  std::vector<std::string> rows;
  for (const TraceThread& thread : trace().threads) {
    rows.push_back(thread.name + " " + std::to_string(thread.id) + " on " +
                   std::to_string(thread.device));
  }
  EXPECT_THAT(rows, ElementsAre("stream 7  7 on 0", "thread 77 (python) 77 on -1", " 80 on -1",
                                " 0 on -1"));
}

TEST_F(Kineto, HasSteps) {
  ASSERT_THAT(trace().steps, SizeIs(1));
  EXPECT_EQ(trace().steps[0].number, 2);
  EXPECT_EQ(trace().steps[0].start, 1000);
  EXPECT_EQ(trace().steps[0].duration, 900'000);
  EXPECT_EQ(trace().threads[trace().steps[0].thread].id, 77u);
}

TEST_F(Kineto, HasOperators) {
  const TraceSpan& addmm = span("aten::addmm");
  EXPECT_EQ(nameOf(addmm).kind, SpanKind::kOperator);
  EXPECT_EQ(addmm.start, 10'000);
  EXPECT_EQ(addmm.duration, 100'000);
  EXPECT_EQ(addmm.sequence, 11);
  EXPECT_EQ(detailsOf(addmm).shapes, "[[2, 8], []]");
  EXPECT_EQ(detailsOf(addmm).types, "[\"float\", \"Scalar\"]");
  EXPECT_EQ(detailsOf(addmm).arguments,
            "\"Concrete Inputs\": [\"\", \"1\"], \"Input Strides\": [[8, 1], []]");
}

TEST_F(Kineto, LabelsBackwardNodesAsOperatorsButTheyAreFound) {
  EXPECT_EQ(nameOf(span("AddmmBackward0")).kind, SpanKind::kBackward);
  EXPECT_EQ(nameOf(span("autograd::engine::evaluate_function: AddmmBackward0")).kind,
            SpanKind::kOperator);
}

TEST_F(Kineto, DrawsTheArrowsThatAreFoundAgain) {
  const std::vector<TraceLink> links = linkBackward(trace());
  ASSERT_THAT(links, SizeIs(1));
  const auto nameAt = [this](std::size_t thread, std::size_t index) {
    return nameOf(trace().threads[thread].spans[index]).text;
  };
  EXPECT_EQ(nameAt(links[0].fromThread, links[0].fromSpan), "aten::addmm");
  EXPECT_EQ(nameAt(links[0].toThread, links[0].toSpan), "AddmmBackward0");
}

TEST_F(Kineto, HasDeviceSpans) {
  const TraceSpan& kernel = span("ampere_sgemm_32x32<float, 3>(int)");
  EXPECT_EQ(nameOf(kernel).kind, SpanKind::kDevice);
  EXPECT_EQ(nameOf(kernel).category, "");
  EXPECT_EQ(detailsOf(kernel).arguments,
            "\"queued\": 0, \"context\": 1, \"registers per thread\": 80, \"blocks per SM\": "
            "0.296296, \"grid\": [32, 1, 1], \"block\": [128, 1, 1], "
            "\"est. achieved occupancy %\": 12");
  EXPECT_EQ(kernel.correlation, 4711U);
  const TraceSpan& copy = span("Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(nameOf(copy).kind, SpanKind::kDevice);
  EXPECT_EQ(detail::profile::chromeCategoryOf(nameOf(copy)), "gpu_memcpy");
  EXPECT_EQ(detailsOf(copy).bytes, 4096);
}

TEST_F(Kineto, HasCallsOfOtherKinds) {
  const TraceSpan& launch = span("cudaLaunchKernel");
  EXPECT_EQ(nameOf(launch).kind, SpanKind::kRuntime);
  EXPECT_EQ(detail::profile::chromeCategoryOf(nameOf(launch)), "cuda_runtime");
  EXPECT_EQ(detailsOf(launch).arguments, "\"cbid\": 211");
  EXPECT_EQ(launch.correlation, 4711U);
  EXPECT_EQ(nameOf(span("train.py(3): main")).category, "python_function");
  EXPECT_EQ(detailsOf(span("train.py(3): main")).arguments, "");
  EXPECT_EQ(nameOf(span("Activity Buffer Request")).category, "overhead");
}

TEST_F(Kineto, HasMemoryOfDevices) {
  ASSERT_THAT(trace().memory, SizeIs(1));
  const TraceMemoryEvent& event = trace().memory[0];
  EXPECT_EQ(event.time, 11'000);
  EXPECT_EQ(event.address, 140'000'000'000'000u);
  EXPECT_EQ(event.bytes, 512);
  EXPECT_EQ(event.totalAllocated, 512);
  EXPECT_EQ(event.totalReserved, 2'097'152);
  EXPECT_EQ(event.deviceType, 1);
  EXPECT_EQ(event.deviceIndex, 0);
  EXPECT_EQ(trace().threads[event.thread].id, 77u);
}

TEST_F(Kineto, StaysTheSameWhenItIsWrittenAndReadAgain) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/trace.json.gz";
  ASSERT_TRUE(detail::profile::writeChromeTrace(path, trace()).ok());
  const std::vector<Trace> again = detail::profile::readChromeTrace(path);
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_THAT(wordsOf(again[0]), ::testing::ElementsAreArray(wordsOf(trace())));
}

}  // namespace
}  // namespace steptape
