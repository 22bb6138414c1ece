// SPDX-License-Identifier: Apache-2.0
#include "steptape/libtorch/op_profiler.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "steptape/base/status.h"
#include "steptape/libtorch/tensor_traits.h"
#include "steptape/process/zone.h"
#include "steptape/ranks/testing.h"

#include "profile/logged_values.h"
#include "profile/record_builder.h"

#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

torch::Tensor multiply(int times) {
  torch::Tensor product = torch::eye(4);
  for (int i = 0; i < times; ++i) {
    product = torch::mm(product, product);
  }
  return product;
}

/// A convolution, a pool and a linear layer, forward and backward.
class SmallNet {
 public:
  void trainStep() {
    net_->zero_grad();
    const torch::Tensor output = net_->forward(torch::ones({2, 1, 8, 8}));
    output.sum().backward();
  }

 private:
  torch::nn::Sequential net_{torch::nn::Conv2d(1, 3, 3), torch::nn::ReLU(), torch::nn::MaxPool2d(2),
                             torch::nn::Flatten(), torch::nn::Linear(27, 5)};
};

std::uint64_t calls(const OpProfiler& profiler, std::string_view name) {
  return find(profiler.profile(), name).calls;
}

TEST(OpProfiler, CountsOperatorsExactly) {
  OpProfiler profiler;
  multiply(7);
  profiler.stop();
  multiply(2);
  EXPECT_EQ(calls(profiler, "aten::mm"), 7U);
  EXPECT_EQ(find(profiler.profile(), "aten::mm").kind, SpanKind::kOperator);
}

TEST(OpProfiler, CountsTheForwardAndBackwardOfANetwork) {
  SmallNet net;
  net.trainStep();
  OpProfiler profiler;
  for (int i = 0; i < 3; ++i) {
    net.trainStep();
  }
  profiler.stop();
  EXPECT_EQ(calls(profiler, "aten::conv2d"), 3U);
  EXPECT_EQ(calls(profiler, "aten::relu"), 3U);
  EXPECT_EQ(calls(profiler, "aten::addmm"), 3U);
  EXPECT_EQ(calls(profiler, "AddmmBackward0"), 3U);
  EXPECT_EQ(calls(profiler, "ConvolutionBackward0"), 3U);
  EXPECT_EQ(calls(profiler, "aten::convolution_backward"), 3U);
  EXPECT_EQ(calls(profiler, "autograd::engine::evaluate_function: AddmmBackward0"), 3U);
  EXPECT_EQ(find(profiler.profile(), "AddmmBackward0").kind, SpanKind::kBackward);
  EXPECT_EQ(profiler.profile().dropped, 0U);
}

TEST(OpProfiler, NestsOperatorsInZonesAndInEachOther) {
  OpProfiler profiler;
  {
    STEPTAPE_ZONE("multiply");
    multiply(100);
  }
  profiler.stop();
  const OpProfile profile = profiler.profile();
  std::chrono::nanoseconds self{};
  for (const OpStats& op : profile.operators) {
    EXPECT_LE(op.self, op.total) << op.name;
    self += op.self;
  }
  const OpStats zone = find(profile, "multiply");
  EXPECT_EQ(zone.calls, 1U);
  EXPECT_LT(zone.self, zone.total);
  // Everything is inside the zone, so the sum of the self times is the zone's total, with a
  // rounding error of one nanosecond each.
  EXPECT_NEAR(static_cast<double>(self.count()), static_cast<double>(zone.total.count()),
              static_cast<double>(profile.operators.size()));
  EXPECT_LE(zone.total, profile.wall);
}

TEST(OpProfiler, SeesTheOperatorsOfOtherThreads) {
  OpProfiler profiler;
  std::thread first([] { multiply(3); });
  std::thread second([] { multiply(4); });
  first.join();
  second.join();
  profiler.stop();
  EXPECT_EQ(calls(profiler, "aten::mm"), 7U);
}

TEST(OpProfiler, SeesBackwardStartedOnAnotherThread) {
  SmallNet net;
  OpProfiler profiler;
  std::thread([&] { net.trainStep(); }).join();
  profiler.stop();
  EXPECT_EQ(calls(profiler, "ConvolutionBackward0"), 1U);
}

TEST(OpProfiler, SeesUserScopes) {
  OpProfiler profiler;
  {
    RECORD_USER_SCOPE("my scope");
    multiply(1);
  }
  profiler.stop();
  const OpStats scope = find(profiler.profile(), "my scope");
  EXPECT_EQ(scope.calls, 1U);
  EXPECT_EQ(scope.kind, SpanKind::kUserScope);
  EXPECT_LT(scope.self, scope.total);
}

TEST(OpProfiler, SeesUserScopesAloneWithoutOperators) {
  SmallNet net;
  OpProfilerOptions options;
  options.operators = false;
  options.shapes = true;
  options.operatorSampling = 1000;
  OpProfiler profiler(options);
  for (int i = 0; i < 3; ++i) {
    STEPTAPE_ZONE("my zone");
    RECORD_USER_SCOPE("my scope");
    net.trainStep();
  }
  profiler.stop();
  std::map<std::string, std::uint64_t> calls;
  for (const OpStats& stats : profiler.stats()) {
    calls[stats.name] = stats.calls;
  }
  EXPECT_THAT(calls, UnorderedElementsAre(Pair("my zone", 3U), Pair("my scope", 3U)));
}

TEST(OpProfiler, LetsOperatorsTakeThePathWithoutObserversWithoutOperators) {
  OpProfilerOptions options;
  options.operators = false;
  OpProfiler profiler(options);
  EXPECT_FALSE(at::RecordFunction(at::RecordScope::FUNCTION).isActive());
  EXPECT_FALSE(at::RecordFunction(at::RecordScope::BACKWARD_FUNCTION).isActive());
  EXPECT_TRUE(at::RecordFunction(at::RecordScope::USER_SCOPE).isActive());
}

TEST(OpProfiler, StaysInOrderWhenAnOperatorThrows) {
  OpProfiler profiler;
  EXPECT_THROW(torch::mm(torch::ones({2, 3}), torch::ones({2, 3})), c10::Error);
  {
    STEPTAPE_ZONE("after");
    multiply(1);
  }
  profiler.stop();
  EXPECT_EQ(calls(profiler, "aten::mm"), 2U);
  const OpStats after = find(profiler.profile(), "after");
  EXPECT_LT(after.self, after.total) << "the operators inside were not taken from it";
  EXPECT_EQ(profiler.profile().dropped, 0U);
}

TEST(OpProfiler, EndsTheSpansAroundAnOperatorThatThrows) {
  OpProfiler profiler;
  try {
    STEPTAPE_ZONE("forward");
    RECORD_USER_SCOPE("layer");
    multiply(1);
    torch::mm(torch::ones({2, 3}), torch::ones({2, 3}));
  } catch (const c10::Error&) {
    profiler.step();
  }
  multiply(1);
  profiler.stop();
  const OpProfile profile = profiler.profile();
  const OpStats forward = find(profile, "forward");
  const OpStats layer = find(profile, "layer");
  EXPECT_EQ(forward.calls, 1U);
  EXPECT_EQ(layer.calls, 1U);
  EXPECT_GE(forward.total, layer.total);
  EXPECT_LT(layer.self, layer.total);
  EXPECT_EQ(profile.dropped, 0U);
}

TEST(OpProfiler, RecordsAllOperatorsIfAnotherCallbackThrows) {
  static int thrown = 0;
  thrown = 0;
  const at::CallbackHandle theirs = at::addGlobalCallback(
      at::RecordFunctionCallback(
          [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
            ++thrown;
            throw std::runtime_error("their begin");
          },
          [](const at::RecordFunction&, at::ObserverContext*) {
            ++thrown;
            throw std::runtime_error("their end");
          })
          .scopes({at::RecordScope::FUNCTION}));
  OpProfiler profiler;
  {
    STEPTAPE_ZONE("around");
    multiply(3);
  }
  profiler.stop();
  at::removeCallback(theirs);
  EXPECT_GE(thrown, 3);
  EXPECT_EQ(calls(profiler, "aten::mm"), 3U);
  const OpStats around = find(profiler.profile(), "around");
  EXPECT_EQ(around.calls, 1U);
  EXPECT_LT(around.self, around.total);
  EXPECT_EQ(profiler.profile().dropped, 0U);
}

TEST(OpProfiler, RecordsAnAsynchronousFunctionThatEndsOnAnotherThread) {
  OpProfiler profiler;
  {
    STEPTAPE_ZONE("outer");
    auto function = std::make_unique<at::RecordFunction>(at::RecordScope::FUNCTION);
    function->_setAsync();
    function->before("async op", -1);
    multiply(1);
    std::thread([&] { function.reset(); }).join();
  }
  profiler.stop();
  const OpStats async = find(profiler.profile(), "async op");
  EXPECT_EQ(async.calls, 1U);
  EXPECT_EQ(async.self.count(), 0);
  EXPECT_GT(async.total.count(), 0);
  EXPECT_EQ(calls(profiler, "outer"), 1U);
  EXPECT_EQ(profiler.profile().dropped, 0U);
}

TEST(OpProfiler, CountsDroppedSpans) {
  OpProfilerOptions options;
  options.recordsPerThread = 16;
  OpProfiler profiler(options);
  multiply(50);
  profiler.stop();
  const OpProfile profile = profiler.profile();
  std::uint64_t recorded = 0;
  for (const OpStats& op : profile.operators) {
    recorded += op.calls;
  }
  EXPECT_GT(profile.dropped, 0U);
  EXPECT_GE(recorded + profile.dropped, 50U);
  EXPECT_THAT(profiler.table(), HasSubstr("spans were dropped**"));
}

TEST(OpProfiler, ObservesNothingOutsideItsSteps) {
  OpProfilerOptions options;
  options.schedule.wait = 1;
  options.schedule.active = 1;
  options.schedule.repeat = 1;
  OpProfiler profiler(options);
  // RecordFunction is active, and costs time, only if a callback requests it.
  EXPECT_FALSE(at::RecordFunction(at::RecordScope::FUNCTION).isActive());
  multiply(1);
  profiler.step();
  EXPECT_TRUE(at::RecordFunction(at::RecordScope::FUNCTION).isActive());
  multiply(2);
  profiler.step();
  EXPECT_FALSE(at::RecordFunction(at::RecordScope::FUNCTION).isActive());
  multiply(4);
  EXPECT_EQ(calls(profiler, "aten::mm"), 2U);
}

TEST(OpProfiler, SwitchesOnAndOffWhileOperatorsRun) {
  std::atomic<bool> done{false};
  std::thread worker([&] {
    while (!done) {
      multiply(10);
    }
  });
  OpProfilerOptions options;
  options.schedule.wait = 1;
  options.schedule.active = 1;
  {
    OpProfiler profiler(options);
    for (int i = 0; i < 200; ++i) {
      multiply(1);
      profiler.step();
    }
    EXPECT_GE(calls(profiler, "aten::mm"), 1U);
  }
  done = true;
  worker.join();
}

TEST(OpProfiler, RefusesToRunTogetherWithAnother) {
  const OpProfiler first;
  EXPECT_THAT([] { const OpProfiler second; },
              ThrowsMessage<Error>("cannot start a profiler while another one runs in this "
                                   "process; stop() it first"));
}

TEST(OpProfiler, LogsItsTableAndTheSlowestOperators) {
  const testing::TempDir dir;
  OpProfiler profiler;
  multiply(5);
  profiler.stop();
  {
    OpTableOptions options;
    options.detailScalars = true;
    SummaryWriter writer(dir.string());
    profiler.writeTo(writer, 3, options);
    EXPECT_TRUE(writer.close().ok());
  }
  const LoggedValues logged = readLogged(dir.string());
  EXPECT_THAT(logged.texts.at({"profile/operators", 3}),
              HasSubstr("| `aten::mm` | operator | 5 |"));
  const OpStats mm = find(profiler.profile(), "aten::mm");
  EXPECT_FLOAT_EQ(logged.scalars.at({"profile/self_ms/aten::mm", 3}),
                  static_cast<float>(static_cast<double>(mm.self.count()) * 1e-6));
}

TEST(SummaryWriterWithTorch, AcceptsTensorsInPlaceOfNumbers) {
  const testing::TempDir dir;
  {
    SummaryWriter writer(dir.string());
    writer.addScalar("loss", torch::tensor(0.5), 1);
    writer.addScalar(writer.scalarTag("rate"), torch::tensor(0.25), 1);
    writer.addHistogram("weights", torch::ones({3}, torch::requires_grad()), 1);
    EXPECT_TRUE(writer.close().ok());
    EXPECT_EQ(writer.stats().values, 1U);
  }
}

}  // namespace
}  // namespace steptape
