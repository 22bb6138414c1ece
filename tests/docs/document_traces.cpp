// SPDX-License-Identifier: Apache-2.0
#include "docs/document_traces.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profile/trace/trace_builder.h"
#include "profile/trace/xplane/xplane_trace.h"

namespace steptape {
namespace {

constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kOrigin = 1'795'289'521'132'000'000;  // 2026-11-21 19:32:01.132 UTC

/// The differences between the profiles.
struct Training {
  int rank = 0;
  int worldSize = 1;
  std::int64_t batches = 1;           ///< Factor of the batch size.
  std::int64_t forwardPercent = 100;  ///< Relative time of a rank.
  std::int64_t wait = 2;              ///< Microseconds per step.
};

struct Operator {
  const char* name;
  const char* around;  ///< The operator or backward node that calls it.
  std::int64_t micros;
  const char* shapes;
  double flops;
  std::int64_t allocates;  ///< Bytes.
};

// The operators of a small convolutional network on 64 images of 28 x 28, in the order of the
// calls.
constexpr std::array<Operator, 4> kForward{{
    {"aten::mkldnn_convolution", "aten::conv2d", 1330, "[[64, 1, 28, 28], [10, 1, 5, 5]]", 1.84e7,
     1474560},
    {"aten::max_pool2d_with_indices", "aten::max_pool2d", 3320, "[[64, 10, 24, 24]]", 0, 737280},
    {"aten::addmm", "aten::linear", 240, "[[10], [64, 1440], [1440, 10]]", 1.8e6, 2560},
    {"aten::_log_softmax", "aten::log_softmax", 60, "[[64, 10]]", 0, 2560},
}};
constexpr std::array<Operator, 4> kBackward{{
    {"aten::_log_softmax_backward_data", "LogSoftmaxBackward0", 50, "[[64, 10]]", 0, 2560},
    {"aten::mm", "AddmmBackward0", 310, "[[1440, 64], [64, 10]]", 1.8e6, 57600},
    {"aten::max_pool2d_with_indices_backward", "MaxPool2DWithIndicesBackward0", 690,
     "[[64, 10, 12, 12]]", 0, 1474560},
    {"aten::convolution_backward", "ConvolutionBackward0", 8900, "[[64, 10, 24, 24]]", 9.6e7, 1024},
}};

/// One process's window, step by step.
class TrainingTrace {
 public:
  explicit TrainingTrace(const Training& training) : training_(training) {
    Trace& trace = builder_.trace();
    trace.hostName = "node7";
    trace.processId = 4242 + training.rank;
    trace.rank = training.rank;
    trace.worldSize = training.worldSize;
    trace.originNanos = kOrigin;
  }

  Trace take() {
    // Three steps with small differences.
    constexpr std::array<std::int64_t, 3> kPercent{100, 97, 106};
    for (std::size_t i = 0; i < kPercent.size(); ++i) {
      addStep(11 + static_cast<std::int64_t>(i), kPercent[i]);
    }
    builder_.trace().duration = now_;
    return builder_.take();
  }

 private:
  void addStep(std::int64_t number, std::int64_t percent) {
    const std::int64_t begin = now_;
    pass(70);
    span("next batch", SpanKind::kInput, 54 * training_.batches);
    addPass("forward", kForward, SpanKind::kOperator, percent * training_.forwardPercent / 100);
    addPass("backward", kBackward, SpanKind::kBackward, percent);
    addAllreduce();
    addOptimizer();
    pass(40);
    freeAll();
    builder_.step(number, begin, now_);
  }

  template <std::size_t kSize>
  void addPass(const char* zone, const std::array<Operator, kSize>& operators, SpanKind around,
               std::int64_t percent) {
    const std::int64_t begin = now_;
    for (const Operator& op : operators) {
      const std::int64_t outerBegin = now_;
      pass(12);
      const std::int64_t innerBegin = now_;
      pass(op.micros * training_.batches * percent / 100);
      builder_.span(0, op.name, SpanKind::kOperator, innerBegin, now_).details = detailsOf(op);
      allocate(innerBegin, op.allocates * training_.batches);
      pass(6);
      builder_.span(0, op.around, around, outerBegin, now_);
    }
    builder_.span(0, zone, SpanKind::kZone, begin, now_);
  }

  void addAllreduce() {
    if (training_.worldSize == 1) {
      return;
    }
    const std::int64_t begin = now_;
    span("wait for ranks", SpanKind::kWait, training_.wait);
    pass(27);
    builder_.span(0, "gloo:all_reduce", SpanKind::kCollective, begin, now_);
  }

  void addOptimizer() {
    const std::int64_t begin = now_;
    pass(4);
    span("aten::add_", SpanKind::kOperator, 110);
    builder_.span(0, "optimizer", SpanKind::kZone, begin, now_);
  }

  void span(const char* name, SpanKind kind, std::int64_t micros) {
    const std::int64_t begin = now_;
    pass(micros);
    builder_.span(0, name, kind, begin, now_);
  }

  void pass(std::int64_t micros) { now_ += micros * kMicrosecond; }

  std::uint32_t detailsOf(const Operator& op) {
    std::vector<SpanDetails>& all = builder_.trace().details;
    SpanDetails details;
    details.shapes = op.shapes;
    details.flops = op.flops * static_cast<double>(training_.batches);
    all.push_back(details);
    return static_cast<std::uint32_t>(all.size() - 1);
  }

  void allocate(std::int64_t time, std::int64_t bytes) {
    TraceMemoryEvent event;
    event.time = time;
    event.address = ++address_;
    event.bytes = bytes;
    allocated_.push_back(event);
    note(event);
  }

  /// Called at the end of a step, outside of its operators.
  void freeAll() {
    for (TraceMemoryEvent& event : allocated_) {
      event.time = now_;
      event.bytes = -event.bytes;
      note(event);
    }
    allocated_.clear();
  }

  void note(TraceMemoryEvent event) {
    inUse_ += event.bytes;
    event.totalAllocated = inUse_;
    builder_.trace().memory.push_back(event);
  }

  Training training_;
  TraceBuilder builder_;
  std::int64_t now_ = 0;
  std::int64_t inUse_ = 0;
  std::uint64_t address_ = 0x1000;
  std::vector<TraceMemoryEvent> allocated_;  // in this step
};

void write(const std::filesystem::path& logDir, const Training& training) {
  const Trace trace = TrainingTrace(training).take();
  detail::profile::writeXPlane(
      detail::profile::xplanePath(logDir.string(), "2026_11_21_19_32_01", trace), trace)
      .throwIfError();
}

}  // namespace

void writeDocumentTraces(const std::filesystem::path& root) {
  write(root / "runs/one", {});
  write(root / "runs/job", {0, 2, 1, 100, 3390});
  write(root / "runs/job", {1, 2, 1, 170, 2});
  write(root / "runs/before", {});
  write(root / "runs/after", {0, 1, 2, 100, 2});
}

}  // namespace steptape
