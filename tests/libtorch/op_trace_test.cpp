// SPDX-License-Identifier: Apache-2.0
// OpProfiler's records of a training loop, compared with LibTorch's own profiler.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/libtorch/op_profiler.h"
#include "steptape/process/zone.h"
#include "steptape/profile/trace_summary.h"

#include "libtorch/kineto_profile.h"
#include "process/blackbox/rank_state.h"
#include "process/blackbox/state_page.h"
#include "profile/record_builder.h"
#include "support/own_black_boxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Convolution, normalization and linear layers with a training step that is always the same.
class TrainingLoop {
 public:
  explicit TrainingLoop(int batchSize = 6) {
    torch::manual_seed(7);
    net = torch::nn::Sequential(
        torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 4, 3).stride(2).padding(1)),
        torch::nn::BatchNorm2d(4), torch::nn::ReLU(), torch::nn::Flatten(),
        torch::nn::Linear(64, 16), torch::nn::ReLU(), torch::nn::Linear(16, 5));
    optimizer_ = std::make_unique<torch::optim::SGD>(net->parameters(),
                                                     torch::optim::SGDOptions(0.1).momentum(0.9));
    input_ = torch::randn({batchSize, 1, 8, 8});
    target_ = torch::arange(batchSize) % 5;
  }

  void step() {
    optimizer_->zero_grad();
    torch::nn::functional::cross_entropy(net->forward(input_), target_).backward();
    optimizer_->step();
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      step();
    }
  }

  torch::nn::Sequential net;

 private:
  std::unique_ptr<torch::optim::SGD> optimizer_;
  torch::Tensor input_;
  torch::Tensor target_;
};

/// Returns the trace of `steps` steps of a loop, recorded with `options`.
Trace traceOf(TrainingLoop& loop, OpProfilerOptions options, int steps = 2) {
  Trace trace;
  options.onTrace = [&](const Trace& made, SummaryWriter*, std::int64_t) { trace = made; };
  OpProfiler profiler(std::move(options));
  profiler.watch(*loop.net);
  for (int i = 0; i < steps; ++i) {
    loop.step();
    profiler.step();
  }
  profiler.stop();
  EXPECT_TRUE(profiler.flush().ok());
  return trace;
}

OpProfilerOptions withShapes() {
  OpProfilerOptions options;
  options.shapes = true;
  return options;
}

TEST(OpProfilerBesideLibTorchs, CountsTheSameCallsOfTheSameOperators) {
  constexpr int kSteps = 3;
  TrainingLoop loop;
  loop.steps(2);  // excludes one-time work
  const std::map<std::string, KinetoOp> theirs = kinetoProfile([&] { loop.steps(kSteps); });
  OpProfiler profiler;
  loop.steps(kSteps);
  profiler.stop();
  std::map<std::string, std::uint64_t> ours;
  for (const OpStats& op : profiler.stats()) {
    ours[op.name] += op.calls;
  }
  std::map<std::string, std::uint64_t> theirCalls;
  for (const auto& [name, op] : theirs) {
    theirCalls[name] = op.calls;
  }
  EXPECT_EQ(ours, theirCalls);
  EXPECT_GT(ours.size(), 30U);
}

TEST(OpProfilerBesideLibTorchs, FindsTheSameSharesOfTheTime) {
  TrainingLoop loop(1000);  // long operators, so that the profilers' overhead is relatively small
  loop.steps(5);
  // Both record the same steps: other load on the machine affects both alike.
  OpProfiler profiler;
  const std::map<std::string, KinetoOp> theirs = kinetoProfile([&] {
    profiler.start();
    loop.steps(40);
    profiler.stop();
  });
  double allOfTheirs = 0;
  for (const auto& [name, op] : theirs) {
    allOfTheirs += op.selfNanos;
  }
  const std::vector<OpStats> ours = profiler.stats();
  double allOfOurs = 0;
  for (const OpStats& op : ours) {
    allOfOurs += static_cast<double>(op.self.count());
  }
  double difference = 0;
  for (const OpStats& op : ours) {
    const double share = static_cast<double>(op.self.count()) / allOfOurs;
    difference += std::abs(share - theirs.at(op.name).selfNanos / allOfTheirs);
  }
  // Unrelated shares differ by up to 2 in total; shares of operators in reverse order by more than
  // 1.
  EXPECT_LT(difference, 0.4);
}

TEST(OpTrace, NestsOperatorsInStepsAndOnTheirThread) {
  TrainingLoop loop;
  const Trace trace = traceOf(loop, {}, 3);
  ASSERT_EQ(trace.steps.size(), 3U);
  EXPECT_EQ(trace.steps[0].number, 0);
  EXPECT_EQ(trace.steps[2].number, 2);
  std::size_t spans = 0;
  for (const TraceThread& thread : trace.threads) {
    std::vector<TraceSpan> ordered = thread.spans;
    nestSpans(&ordered);
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      EXPECT_EQ(ordered[i].flags & kDetached, 0);
      EXPECT_GE(ordered[i].start, 0);
      EXPECT_LE(ordered[i].start + ordered[i].duration, trace.duration);
    }
    spans += ordered.size();
  }
  EXPECT_GT(spans, 100U);
}

TEST(OpTrace, LinksEachBackwardNodeToItsForwardOperator) {
  TrainingLoop loop;
  const Trace trace = traceOf(loop, {});
  std::multimap<std::string, std::string> links;
  for (const TraceLink& link : linkBackward(trace)) {
    const TraceSpan& from = trace.threads[link.fromThread].spans[link.fromSpan];
    const TraceSpan& to = trace.threads[link.toThread].spans[link.toSpan];
    links.emplace(trace.names[to.name].text, trace.names[from.name].text);
  }
  EXPECT_EQ(links.count("AddmmBackward0"), 4U);
  for (const auto& [backward, forward] : links) {
    if (backward == "AddmmBackward0") {
      EXPECT_EQ(forward, "aten::addmm");
    } else if (backward == "ConvolutionBackward0") {
      EXPECT_EQ(forward, "aten::convolution");
    }
  }
  EXPECT_EQ(links.count("ConvolutionBackward0"), 2U);
}

TEST(OpTrace, CountsTheOperationsOfProductsAndConvolutions) {
  TrainingLoop loop;
  const OpProfile profile = summarize(traceOf(loop, withShapes()));
  constexpr double kSteps = 2;
  // (6, 64) x (64, 16) and (6, 16) x (16, 5).
  EXPECT_EQ(find(profile, "aten::addmm").flops, kSteps * 2 * 6 * (64 * 16 + 16 * 5));
  // 4 channels of 4 x 4 outputs of 6 images, each of 3 x 3 products.
  EXPECT_EQ(find(profile, "aten::convolution").flops, kSteps * 2 * 6 * 4 * 4 * 4 * 9);
  // Only of the weight: the image needs no gradient.
  EXPECT_EQ(find(profile, "aten::convolution_backward").flops, kSteps * 2 * 6 * 4 * 4 * 4 * 9);
  EXPECT_EQ(find(profile, "aten::relu").flops, 0);
  // Input, weight and bias, of 4 bytes per element.
  EXPECT_EQ(find(profile, "aten::convolution").bytes, kSteps * 4 * (6 * 64 + 4 * 9 + 4));
}

TEST(OpTrace, RecordsShapesAndTypesOfInputs) {
  TrainingLoop loop;
  const OpProfile profile = summarize(traceOf(loop, withShapes()), OpGrouping::kShape);
  std::map<std::string, std::uint64_t> callsByShape;
  for (const OpStats& op : profile.operators) {
    if (op.name == "aten::addmm") {
      callsByShape[op.shapes] = op.calls;
    }
  }
  EXPECT_THAT(callsByShape,
              ::testing::ElementsAre(::testing::Pair("[[16], [6, 64], [64, 16], [], []]", 2U),
                                     ::testing::Pair("[[5], [6, 16], [16, 5], [], []]", 2U)));
}

TEST(OpTrace, CountsOperatorsForTheModuleWhoseParametersTheyRead) {
  TrainingLoop loop;
  const OpProfile profile = summarize(traceOf(loop, withShapes()), OpGrouping::kModule);
  EXPECT_GT(find(profile, "0").self.count(), 0);
  EXPECT_GT(find(profile, "1").self.count(), 0);
  EXPECT_EQ(find(profile, "4").flops, 2 * (2.0 * 6 * 64 * 16) * 3) << "forward, and two gradients";
  EXPECT_GT(find(profile, "6").self.count(), 0);
  EXPECT_EQ(find(profile, "2").calls, 0U) << "a ReLU reads no parameters";
  EXPECT_GT(find(profile, "(no module)").self.count(), 0);
}

TEST(OpTrace, CountsBackwardOperatorsForTheZonesOfTheirForwardOnes) {
  TrainingLoop loop;
  Trace trace;
  OpProfilerOptions options;
  options.onTrace = [&](const Trace& made, SummaryWriter*, std::int64_t) { trace = made; };
  OpProfiler profiler(options);
  torch::Tensor loss;
  {
    STEPTAPE_ZONE("forward");
    loss = loop.net->forward(torch::ones({6, 1, 8, 8})).sum();
  }
  {
    STEPTAPE_ZONE("backward");
    loss.backward();
  }
  profiler.stop();
  ASSERT_TRUE(profiler.flush().ok());
  const OpProfile profile = summarize(trace, OpGrouping::kStack);
  EXPECT_EQ(find(profile, "forward;aten::addmm").calls, 2U);
  EXPECT_EQ(find(profile, "forward;AddmmBackward0").calls, 2U);
  EXPECT_GT(find(profile, "forward;aten::mm").calls, 0U) << "inside of that node";
  EXPECT_EQ(find(profile, "backward;AddmmBackward0").calls, 0U);
}

TEST(OpTrace, RecordsAllocationsAndDeallocations) {
  OpProfilerOptions options;
  options.memory = true;
  Trace trace;
  options.onTrace = [&](const Trace& made, SummaryWriter*, std::int64_t) { trace = made; };
  {
    OpProfiler profiler(std::move(options));
    { const torch::Tensor ones = torch::ones({1000, 250}); }
    profiler.stop();
    ASSERT_TRUE(profiler.flush().ok());
  }
  const MemorySummary memory = summarizeMemory(trace).at(0);
  EXPECT_EQ(memory.peak, 1000000);
  ASSERT_FALSE(memory.operators.empty());
  EXPECT_EQ(memory.operators[0].name, "aten::empty");
  EXPECT_EQ(memory.operators[0].allocated, 1000000);
  const auto freed = std::find_if(trace.memory.begin(), trace.memory.end(),
                                  [](const TraceMemoryEvent& e) { return e.bytes == -1000000; });
  ASSERT_NE(freed, trace.memory.end());
  EXPECT_GE(freed->totalAllocated, 0);
  EXPECT_EQ(freed->deviceIndex, -1);
}

TEST(OpTrace, TellsTheStateOfTheProcessTheMemoryOfItsDevice) {
  const test::OwnBlackBoxes boxes;
  detail::process::StatePage::keep();
  ASSERT_NE(detail::process::StatePage::current(), nullptr);
  OpProfilerOptions options;
  options.memory = true;
  {
    OpProfiler profiler(std::move(options));
    int block = 0;
    c10::reportMemoryUsageToProfiler(&block, 4096, 70000, 80000, c10::Device(c10::kCUDA, 0));
    c10::reportMemoryUsageToProfiler(&block, 512, 600, 0, c10::Device(c10::kCPU));
  }
  detail::process::RankState state;
  ASSERT_TRUE(readRankState(detail::process::StatePage::current()->box(), &state).ok());
  EXPECT_EQ(state.deviceBytes, 70000);
}

TEST(OpTrace, ReportsWhenAnotherProfilerRecordsMemory) {
  std::string problem;
  OpProfilerOptions options;
  options.memory = true;
  options.onError = [&](const Status& status) { problem = status.message(); };
  kinetoProfile([&] {
    OpProfiler profiler(options);
    torch::ones({10});
    profiler.stop();
    EXPECT_EQ(find(profiler.profile(), "aten::ones").calls, 1U);
  });
  EXPECT_THAT(problem, HasSubstr("another profiler"));
}

TEST(OpTrace, KeepsTheThreadsOfAModelApart) {
  OpProfilerOptions options;
  Trace trace;
  options.onTrace = [&](const Trace& made, SummaryWriter*, std::int64_t) { trace = made; };
  {
    OpProfiler profiler(std::move(options));
    std::thread first([] { torch::mm(torch::ones({2, 2}), torch::ones({2, 2})); });
    first.join();
    std::thread second([] { torch::mm(torch::ones({2, 2}), torch::ones({2, 2})); });
    second.join();
  }
  EXPECT_EQ(trace.threads.size(), 2U);
}

TEST(OpProfilerSampling, RecordsAboutTheRequestedShareOfOperators) {
  constexpr int kOperators = 20000;
  OpProfilerOptions options;
  options.operatorSampling = 10;
  OpProfiler profiler(options);
  const torch::Tensor one = torch::ones({1});
  torch::Tensor sum = torch::zeros({1});
  for (int i = 0; i < kOperators; ++i) {
    sum.add_(one);
  }
  profiler.stop();
  const OpStats add = find(profiler.profile(), "aten::add_");
  // 2000 are expected; ten percent is six times the standard deviation.
  EXPECT_NEAR(static_cast<double>(add.calls), kOperators, 10 * 6 * 45);
  EXPECT_EQ(add.self, add.total);
}

TEST(OpProfilerSampling, RefusesAnythingButAPowerOfTen) {
  OpProfilerOptions options;
  options.operatorSampling = 7;
  EXPECT_THAT([&] { OpProfiler profiler(options); },
              ThrowsMessage<Error>(
                  "OpProfilerOptions::operatorSampling: got 7; expected 1, 10, 100 or 1000"));
}

}  // namespace
}  // namespace steptape
