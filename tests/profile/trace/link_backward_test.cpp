// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "steptape/profile/trace.h"

#include "profile/trace/sample_trace.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A trace with one thread, whose spans are named by their kind.
class LinkBackward : public ::testing::Test {
 protected:
  LinkBackward() { sample_.thread(1); }

  void forward(const std::string& name, std::int64_t start, std::int64_t sequence,
               std::uint16_t thread = 1) {
    add(name, SpanKind::kOperator, start, sequence, thread);
  }
  void backward(const std::string& name, std::int64_t start, std::int64_t sequence,
                std::uint16_t thread = 1) {
    add(name, SpanKind::kBackward, start, sequence, thread);
  }
  void onAnotherThread() { sample_.thread(2); }

  /// Returns links such as "aten::add > AddBackward0".
  std::vector<std::string> links() {
    const Trace& trace = sample_.trace();
    const auto nameOf = [&trace](std::size_t thread, std::size_t span) {
      return trace.names[trace.threads[thread].spans[span].name].text;
    };
    std::vector<std::string> words;
    for (const TraceLink& link : linkBackward(trace)) {
      words.push_back(nameOf(link.fromThread, link.fromSpan) + " > " +
                      nameOf(link.toThread, link.toSpan));
    }
    return words;
  }

 private:
  void add(const std::string& name, SpanKind kind, std::int64_t start, std::int64_t sequence,
           std::uint16_t thread) {
    TraceSpan& span = sample_.span(name, kind, start, 10);
    span.sequence = sequence;
    span.forwardThread = thread;
  }

  SampleTrace sample_;
};

TEST_F(LinkBackward, PairsByNumberInTheOrderOfTheBackwardPass) {
  forward("linear", 0, 5);
  forward("relu", 100, 6);
  onAnotherThread();
  backward("ReluBackward", 200, 6);
  backward("LinearBackward", 300, 5);
  EXPECT_THAT(links(), ElementsAre("relu > ReluBackward", "linear > LinearBackward"));
}

TEST_F(LinkBackward, DistinguishesForwardThreads) {
  forward("first", 0, 5, 1);
  forward("second", 100, 5, 2);
  backward("Backward of 2", 200, 5, 2);
  backward("Backward of 1", 300, 5, 1);
  EXPECT_THAT(links(), ElementsAre("second > Backward of 2", "first > Backward of 1"));
}

TEST_F(LinkBackward, ChoosesTheLastOfOperatorsWithTheSameNumber) {
  forward("outer", 0, 5);
  forward("inner", 1, 5);
  backward("Backward", 200, 5);
  EXPECT_THAT(links(), ElementsAre("inner > Backward"));
}

TEST_F(LinkBackward, ChoosesNoOperatorThatBeganLater) {
  forward("before", 0, 5);
  backward("Backward", 200, 5);
  forward("behind", 300, 5);
  EXPECT_THAT(links(), ElementsAre("before > Backward"));
}

TEST_F(LinkBackward, SkipsANodeWhoseOperatorStartedLater) {
  backward("early Backward", 0, 5);
  forward("forward", 100, 5);
  backward("Backward", 200, 5);
  EXPECT_THAT(links(), ElementsAre("forward > Backward"));
}

TEST_F(LinkBackward, PairsACallOnce) {
  forward("forward", 0, 5);
  backward("Backward", 200, 5);
  backward("second Backward", 300, 5);
  EXPECT_THAT(links(), ElementsAre("forward > Backward"));
}

TEST_F(LinkBackward, IgnoresSpansWithoutANumber) {
  forward("forward", 0, -1);
  backward("Backward", 200, -1);
  EXPECT_THAT(links(), IsEmpty());
}

TEST_F(LinkBackward, DoesNotMistakeANodesWrapperForTheOperator) {
  forward("linear", 0, 5);
  forward("autograd::engine::evaluate_function: LinearBackward", 199, 5);
  backward("LinearBackward", 200, 5);
  EXPECT_THAT(links(), ElementsAre("linear > LinearBackward"));
}

}  // namespace
}  // namespace steptape
