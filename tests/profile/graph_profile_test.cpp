// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/graph_profile.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/events/record_reader.h"
#include "steptape/ranks/testing.h"

#include "events/messages/event_codec.h"
#include "profile/span_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kMicros = 1000;  // of the nanoseconds of a trace

SpanDetails ofModule(const char* module) {
  SpanDetails details;
  details.module = module;
  return details;
}

/// Adds spans at times in microseconds.
class StepBuilder : public SpanChain {
 public:
  StepBuilder& in(const char* module) {
    with(ofModule(module));
    return *this;
  }
  StepBuilder& call(const char* name, std::int64_t start, std::int64_t end,
                    std::int64_t sequence = -1) {
    op(name, start * kMicros, end * kMicros, sequence);
    return *this;
  }
  StepBuilder& elsewhere() {
    withoutDetails();
    return *this;
  }
  StepBuilder& stepAt(std::int64_t number, std::int64_t start, std::int64_t end) {
    step(number, start * kMicros, end * kMicros);
    return *this;
  }
};

event::GraphNode nodeOf(const std::string& name, const std::string& op) {
  event::GraphNode node;
  node.name = name;
  node.op = op;
  return node;
}

/// Returns a graph of two convolutions, each followed by operators without parameters.
event::Graph convolutions() {
  event::Graph graph;
  graph.nodes = {nodeOf("input/x", "IO Node"),
                 nodeOf("Net/conv1[Conv2d]/weight", "Parameter"),
                 nodeOf("Net/conv1[Conv2d]/_convolution", "aten::_convolution"),
                 nodeOf("Net/relu_1", "aten::relu"),
                 nodeOf("Net/stage[Sequential]/0[Conv2d]/_convolution", "aten::_convolution"),
                 nodeOf("Net/relu_2", "aten::relu"),
                 nodeOf("Net/log_softmax", "aten::log_softmax")};
  return graph;
}

/// Returns microseconds by node.
std::map<std::string, std::int64_t> micros(const std::vector<event::GraphNodeStats>& stats) {
  std::map<std::string, std::int64_t> byNode;
  for (const event::GraphNodeStats& node : stats) {
    byNode[node.name] = node.durationMicros;
  }
  return byNode;
}

/// Adds a forward pass over convolutions(), starting at `at`, whose second layer is slow.
void pass(StepBuilder& trace, std::int64_t at) {
  trace.in("conv1").call("aten::conv2d", at, at + 12).call("aten::_convolution", at + 1, at + 11);
  trace.elsewhere().call("aten::relu", at + 20, at + 23);
  trace.in("stage.0")
      .call("aten::conv2d", at + 30, at + 92)
      .call("aten::_convolution", at + 31, at + 91);
  trace.elsewhere()
      .call("aten::relu", at + 92, at + 94)
      .call("aten::log_softmax", at + 95, at + 99);
}

constexpr auto kSlowLayer = "Net/stage[Sequential]/0[Conv2d]/_convolution";

TEST(ProfileGraph, GivesEachLayerOfATypeItsOwnTime) {
  StepBuilder trace;
  pass(trace, 0);
  trace.stepAt(7, 0, 200);
  EXPECT_THAT(micros(profileGraph(convolutions(), trace.build()).forward),
              UnorderedElementsAre(Pair("Net/conv1[Conv2d]/_convolution", 10), Pair(kSlowLayer, 60),
                                   Pair("Net/relu_1", 3), Pair("Net/relu_2", 2),
                                   Pair("Net/log_softmax", 4)));
}

TEST(ProfileGraph, TakesTheMeanOfTheSteps) {
  StepBuilder trace;
  pass(trace, 0);
  trace.in("conv1").call("aten::_convolution", 200, 230);
  trace.stepAt(7, 0, 200).stepAt(8, 200, 400);
  EXPECT_EQ(micros(profileGraph(convolutions(), trace.build()).forward)
                .at("Net/conv1[Conv2d]/_convolution"),
            20);
}

TEST(ProfileGraph, CountsOnlyStepsThatHaveTheNode) {
  StepBuilder trace;
  pass(trace, 0);
  trace.in("conv1").call("aten::_convolution", 200, 230);
  trace.stepAt(7, 0, 200).stepAt(8, 200, 400);
  EXPECT_EQ(micros(profileGraph(convolutions(), trace.build()).forward).at(kSlowLayer), 60);
}

TEST(ProfileGraph, AddsUpTheForwardPassesOfAStep) {
  StepBuilder trace;
  pass(trace, 0);
  pass(trace, 200);
  trace.stepAt(7, 0, 400);
  EXPECT_THAT(micros(profileGraph(convolutions(), trace.build()).forward),
              UnorderedElementsAre(Pair("Net/conv1[Conv2d]/_convolution", 20),
                                   Pair(kSlowLayer, 120), Pair("Net/relu_1", 6),
                                   Pair("Net/relu_2", 4), Pair("Net/log_softmax", 8)));
}

TEST(ProfileGraph, DoesNotMistakeTheLossForTheModel) {
  StepBuilder trace;
  pass(trace, 0);
  trace.call("aten::cross_entropy_loss", 110, 150).call("aten::log_softmax", 111, 149);
  trace.stepAt(7, 0, 200);
  EXPECT_EQ(micros(profileGraph(convolutions(), trace.build()).forward).at("Net/log_softmax"), 4);
}

TEST(ProfileGraph, DistinguishesTheCallsOfALayerThatIsUsedTwice) {
  event::Graph graph;
  graph.nodes = {nodeOf("Net/shared[Linear]/addmm_1", "aten::addmm"),
                 nodeOf("Net/shared[Linear]/addmm_2", "aten::addmm")};
  StepBuilder trace;
  trace.in("shared").call("aten::addmm", 0, 10).call("aten::addmm", 20, 50);
  trace.stepAt(7, 0, 200);
  EXPECT_THAT(micros(profileGraph(graph, trace.build()).forward),
              UnorderedElementsAre(Pair("Net/shared[Linear]/addmm_1", 10),
                                   Pair("Net/shared[Linear]/addmm_2", 30)));
}

TEST(ProfileGraph, CountsANestedCallOfTheSameNameAsPartOfTheOuterCall) {
  StepBuilder trace;
  trace.call("aten::relu", 0, 10).call("aten::relu", 1, 9).call("aten::relu", 20, 22);
  trace.stepAt(7, 0, 200);
  EXPECT_THAT(micros(profileGraph(convolutions(), trace.build()).forward),
              UnorderedElementsAre(Pair("Net/relu_1", 10), Pair("Net/relu_2", 2)));
}

TEST(ProfileGraph, ExcludesOperatorsBeforeTheModel) {
  StepBuilder trace;
  trace.call("aten::relu", 0, 5);
  pass(trace, 10);
  trace.stepAt(7, 0, 200);
  EXPECT_EQ(micros(profileGraph(convolutions(), trace.build()).forward).at("Net/relu_1"), 3);
}

TEST(ProfileGraph, ExcludesOperatorsAfterTheNextLayer) {
  StepBuilder trace;
  trace.in("conv1").call("aten::_convolution", 0, 10);
  trace.in("stage.0").call("aten::_convolution", 20, 80);
  trace.elsewhere().call("aten::relu", 80, 83);  // the first one was not called
  trace.stepAt(7, 0, 200);
  EXPECT_THAT(micros(profileGraph(convolutions(), trace.build()).forward),
              UnorderedElementsAre(Pair("Net/conv1[Conv2d]/_convolution", 10), Pair(kSlowLayer, 60),
                                   Pair("Net/relu_2", 3)));
}

TEST(ProfileGraph, DoesNotTakeAnOperatorOfAnotherModule) {
  StepBuilder trace;
  trace.in("conv1").call("aten::relu", 0, 10);
  trace.elsewhere().call("aten::relu", 20, 22);
  trace.stepAt(7, 0, 200);
  EXPECT_THAT(micros(profileGraph(convolutions(), trace.build()).forward),
              UnorderedElementsAre(Pair("Net/relu_1", 2)));
}

TEST(ProfileGraph, OmitsOtherPartsOfAStepAndTimesOutsideOfSteps) {
  StepBuilder trace;
  trace.call("aten::relu", 10, 20).span("DataLoader", SpanKind::kInput, 0, 50 * kMicros);
  trace.span("ConvolutionBackward0", SpanKind::kBackward, 50 * kMicros, 80 * kMicros)
      .op("aten::relu", 60 * kMicros, 70 * kMicros);
  trace.span("optimizer", SpanKind::kZone, 80 * kMicros, 99 * kMicros)
      .op("aten::relu", 85 * kMicros, 90 * kMicros);
  trace.call("aten::relu", 120, 130);
  trace.stepAt(7, 0, 100);
  EXPECT_THAT(profileGraph(convolutions(), trace.build()).forward, IsEmpty());
}

TEST(ProfileGraph, MatchesByOrderWithoutModules) {
  StepBuilder trace;
  trace.call("aten::_convolution", 0, 10).call("aten::relu", 10, 12);
  trace.call("aten::_convolution", 20, 80).call("aten::relu", 80, 83);
  trace.stepAt(7, 0, 200);
  EXPECT_THAT(micros(profileGraph(convolutions(), trace.build()).forward),
              UnorderedElementsAre(Pair("Net/conv1[Conv2d]/_convolution", 10), Pair(kSlowLayer, 60),
                                   Pair("Net/relu_1", 2), Pair("Net/relu_2", 3)));
}

TEST(ProfileGraph, KnowsTheModelByTheNameItWasWatchedUnder) {
  StepBuilder trace;
  trace.in("net.stage.0").call("aten::_convolution", 0, 60);
  trace.in("net.conv1").call("aten::_convolution", 70, 80);
  trace.stepAt(7, 0, 200);
  GraphProfileOptions options;
  options.model = "net";
  EXPECT_THAT(
      micros(profileGraph(convolutions(), trace.build(), options).forward),
      UnorderedElementsAre(Pair("Net/conv1[Conv2d]/_convolution", 10), Pair(kSlowLayer, 60)));
}

TEST(ProfileGraph, AssignsGradientTimeToItsForwardOperator) {
  StepBuilder trace;
  trace.in("conv1")
      .call("aten::conv2d", 0, 12)
      .call("aten::convolution", 1, 12, 5)
      .call("aten::_convolution", 2, 11, 5);
  trace.in("stage.0")
      .call("aten::conv2d", 30, 92)
      .call("aten::convolution", 31, 92, 6)
      .call("aten::_convolution", 32, 91);
  trace.elsewhere();
  trace.onThread(1)
      .span("ConvolutionBackward0", SpanKind::kBackward, 100 * kMicros, 140 * kMicros, 6)
      .span("ConvolutionBackward0", SpanKind::kBackward, 140 * kMicros, 147 * kMicros, 5);
  trace.onThread(0);
  trace.stepAt(7, 0, 200);
  EXPECT_THAT(
      micros(profileGraph(convolutions(), trace.build()).backward),
      UnorderedElementsAre(Pair("Net/conv1[Conv2d]/_convolution", 7), Pair(kSlowLayer, 40)));
}

TEST(ProfileGraph, AssignsGradientTimeToTheCallerOfItsForwardOperator) {
  event::Graph graph;
  graph.nodes = {nodeOf("Net/fc[Linear]/linear", "aten::linear")};
  StepBuilder trace;
  trace.in("fc").call("aten::linear", 0, 12).call("aten::addmm", 1, 12, 5);
  trace.elsewhere();
  trace.span("AddmmBackward0", SpanKind::kBackward, 100 * kMicros, 140 * kMicros, 5);
  trace.stepAt(7, 0, 200);
  EXPECT_THAT(micros(profileGraph(graph, trace.build()).backward),
              UnorderedElementsAre(Pair("Net/fc[Linear]/linear", 40)));
}

TEST(ProfileGraph, ReportsTheMemoryThatACallKept) {
  StepBuilder trace;
  trace.in("conv1").call("aten::_convolution", 0, 10);
  trace.memory(1 * kMicros, 0x100, 4096).memory(2 * kMicros, 0x200, 1024);
  trace.memory(3 * kMicros, 0x200, -1024).memory(50 * kMicros, 0x300, 77);
  trace.stepAt(7, 0, 200);
  const GraphProfile profile = profileGraph(convolutions(), trace.build());
  ASSERT_EQ(profile.forward.size(), 1U);
  EXPECT_EQ(profile.forward[0].outputBytes, 4096);
}

TEST(ProfileGraph, UsesTheGraphsMemoryIfNoneWasRecorded) {
  event::Graph graph = convolutions();
  graph.nodes[2].outputShapes = {event::GraphShape{2, 6, 10}};
  graph.nodes[2].outputType = event::TensorType::kFloat;
  StepBuilder trace;
  trace.in("conv1").call("aten::_convolution", 0, 10);
  trace.stepAt(7, 0, 200);
  const GraphProfile profile = profileGraph(graph, trace.build());
  ASSERT_EQ(profile.forward.size(), 1U);
  EXPECT_EQ(profile.forward[0].outputBytes, 2 * 6 * 10 * 4);
}

TEST(ProfileGraph, PlacesANodeWhenItWasFirstCalled) {
  StepBuilder builder;
  builder.in("conv1").call("aten::_convolution", 30, 40).call("aten::_convolution", 230, 240);
  builder.stepAt(7, 0, 200).stepAt(8, 200, 400);
  Trace trace = builder.build();
  trace.originNanos = 1'700'000'000'000'000'000;
  const GraphProfile profile = profileGraph(convolutions(), trace);
  ASSERT_EQ(profile.forward.size(), 1U);
  EXPECT_EQ(profile.forward[0].startMicros, 1'700'000'000'000'030);
  EXPECT_EQ(profile.forward[0].device, "/device:CPU:0");
}

/// Returns the session runs of the event files in a directory.
std::vector<std::string> sessionRuns(const std::string& directory) {
  std::vector<std::string> tags;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    RecordReader reader(std::make_unique<FileByteSource>(entry.path().string()));
    std::string_view payload;
    while (reader.next(&payload) == ReadOutcome::kRecord) {
      event::Event event;
      detail::events::decodeEvent(payload, &event).throwIfError();
      if (const auto* const run = std::get_if<event::TaggedRunMetadata>(&event.what)) {
        tags.push_back(run->tag);
      }
    }
  }
  return tags;
}

TEST(WriteGraphProfile, AddsASessionRunForEachDirection) {
  const testing::TempDir directory;
  StepBuilder trace;
  trace.in("conv1").call("aten::_convolution", 0, 10, 5);
  trace.elsewhere();
  trace.span("ConvolutionBackward0", SpanKind::kBackward, 20 * kMicros, 30 * kMicros, 5);
  trace.stepAt(7, 0, 200);
  {
    SummaryWriter writer(directory.string());
    const event::Graph graph = convolutions();
    writer.addGraph(graph);
    writeGraphProfile(writer, graph, trace.build(), 8);
  }
  EXPECT_THAT(sessionRuns(directory.string()),
              ElementsAre("profile step 8", "profile step 8 backward"));
}

TEST(WriteGraphProfile, AddsNothingWhereNoNodeWasFound) {
  const testing::TempDir directory;
  {
    SummaryWriter writer(directory.string());
    writeGraphProfile(writer, convolutions(), StepBuilder().stepAt(7, 0, 200).build(), 8);
  }
  EXPECT_THAT(sessionRuns(directory.string()), IsEmpty());
}

}  // namespace
}  // namespace steptape
