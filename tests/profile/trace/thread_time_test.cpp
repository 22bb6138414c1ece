// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/thread_time.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "profile/trace/overlapping_trace.h"
#include "profile/trace/trace_builder.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::profile::OpenSpan;
using ::testing::ElementsAre;
using ::testing::Pair;

/// What visitThread() says of each span.
struct Recorder : detail::profile::ThreadVisitor {
  explicit Recorder(std::size_t spans) : self(spans, -1), parents(spans, -1) {}

  void begin(std::size_t i, const std::vector<OpenSpan>& around) {
    parents[i] = around.empty() ? -1 : static_cast<int>(around.back().index);
  }
  void pass(std::int64_t from, std::int64_t to, const std::vector<OpenSpan>& open) {
    EXPECT_LE(now, from);
    EXPECT_LT(from, to);
    now = to;
    passed[open.back().index] += to - from;
  }
  void end(std::size_t i, std::int64_t time, const std::vector<OpenSpan>&) {
    EXPECT_EQ(self[i], -1) << "ended twice";
    self[i] = time;
  }

  std::vector<std::int64_t> self;
  std::vector<int> parents;
  std::vector<std::int64_t> passed = std::vector<std::int64_t>(self.size(), 0);
  std::int64_t now = INT64_MIN;
};

Recorder visited(const std::vector<TraceSpan>& spans) {
  Recorder recorder(spans.size());
  detail::profile::visitThread(spans, &recorder);
  return recorder;
}

/// A thread with spans of which only the names matter besides the times.
class Spans {
 public:
  Spans& add(const std::string& name, std::int64_t start, std::int64_t end) {
    builder_.span(0, name, SpanKind::kZone, start, end);
    return *this;
  }
  Spans& addAsync(const std::string& name, std::int64_t start, std::int64_t end) {
    builder_.span(0, name, SpanKind::kCollective, start, end).flags = kDetached;
    return *this;
  }

  /// Returns the self time of each span.
  std::vector<std::pair<std::string, std::int64_t>> selfTimes() {
    const Trace trace = builder_.take();
    const std::vector<TraceSpan>& spans = trace.threads[0].spans;
    const Recorder recorder = visited(spans);
    std::vector<std::pair<std::string, std::int64_t>> times;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      times.emplace_back(trace.names[spans[i].name].text, recorder.self[i]);
    }
    return times;
  }
  /// Returns the parent of each span, as "child<parent".
  std::vector<std::string> parents() {
    const Trace trace = builder_.take();
    const std::vector<TraceSpan>& spans = trace.threads[0].spans;
    const auto nameOf = [&](std::size_t i) { return trace.names[spans[i].name].text; };
    const Recorder recorder = visited(spans);
    std::vector<std::string> pairs;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const int parent = recorder.parents[i];
      pairs.push_back(nameOf(i) + "<" +
                      (parent < 0 ? "" : nameOf(static_cast<std::size_t>(parent))));
    }
    return pairs;
  }
  /// Returns the names of the spans that do not nest with the others.
  std::vector<std::string> apart() {
    const Trace trace = builder_.take();
    std::vector<std::string> names;
    for (const TraceSpan& span : trace.threads[0].spans) {
      if ((span.flags & kDetached) != 0) {
        EXPECT_NE(span.flags & kOverlapping, 0);
        names.push_back(trace.names[span.name].text);
      }
    }
    return names;
  }

 private:
  TraceBuilder builder_;
};

TEST(SelfTimes, OfNestedSpansAreWithoutTheSpansInside) {
  EXPECT_THAT(Spans().add("a", 0, 100).add("b", 10, 60).add("c", 20, 30).selfTimes(),
              ElementsAre(Pair("a", 50), Pair("b", 40), Pair("c", 10)));
}

TEST(SelfTimes, GiveTimeOfTwoOverlappingSpansToTheLaterOne) {
  EXPECT_THAT(Spans().add("alpha", 0, 100'000).add("beta", 60'000, 160'000).selfTimes(),
              ElementsAre(Pair("alpha", 60'000), Pair("beta", 100'000)));
}

// torch writes every record_function so with with_stack=True.
TEST(SelfTimes, OfAScopeBegunByAShortCallIncludeAllOfItsOwnTime) {
  const auto torchSpans = [] {
    return Spans()
        .add("main", 900'000, 2'100'000)
        .add("enter", 1'399'000, 1'401'000)
        .add("step", 1'400'000, 1'900'000)
        .add("add_", 1'450'000, 1'750'000);
  };
  EXPECT_THAT(torchSpans().selfTimes(), ElementsAre(Pair("main", 699'000), Pair("enter", 1'000),
                                                    Pair("step", 200'000), Pair("add_", 300'000)));
  EXPECT_THAT(torchSpans().parents(), ElementsAre("main<", "enter<main", "step<main", "add_<step"));
  EXPECT_THAT(torchSpans().apart(), ElementsAre("enter"));
}

TEST(SelfTimes, OfARoundedChildDoNotExceedItsOwnTime) {
  const auto rounded = [] { return Spans().add("a", 1'000, 101'000).add("b", 11'000, 102'000); };
  EXPECT_THAT(rounded().selfTimes(), ElementsAre(Pair("a", 10'000), Pair("b", 91'000)));
  EXPECT_THAT(rounded().parents(), ElementsAre("a<", "b<a"));
}

TEST(SelfTimes, OfSiblingsThatOverlapByARoundingAreTheirOwn) {
  const auto siblings = [] {
    return Spans().add("a", 0, 100'400).add("b", 100'000, 400'000).add("c", 110'000, 310'000);
  };
  EXPECT_THAT(siblings().selfTimes(),
              ElementsAre(Pair("a", 100'000), Pair("b", 100'000), Pair("c", 200'000)));
  EXPECT_THAT(siblings().parents(), ElementsAre("a<", "b<", "c<b"));
}

TEST(SelfTimes, OfShortSiblingsThatOverlapAreTheirOwn) {
  EXPECT_THAT(Spans().add("a", 0, 500).add("b", 300, 900).parents(), ElementsAre("a<", "b<"));
}

TEST(SelfTimes, DoNotIncludeWorkBesideTheThread) {
  EXPECT_THAT(Spans().addAsync("all_reduce", 0, 90).add("mm", 10, 50).selfTimes(),
              ElementsAre(Pair("all_reduce", 0), Pair("mm", 40)));
}

TEST(SelfTimes, OfAnyThreadAreThoseOfTheDefinition) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = overlappingTrace(seed);
    for (const TraceThread& thread : trace.threads) {
      std::vector<std::int64_t> expected(thread.spans.size(), 0);
      for (const int owner : ownersOf(thread.spans)) {
        if (owner >= 0) {
          ++expected[static_cast<std::size_t>(owner)];
        }
      }
      const Recorder recorder = visited(thread.spans);
      EXPECT_EQ(recorder.self, expected);
      EXPECT_EQ(recorder.passed, expected);
    }
  }
}

TEST(NestSpans, LeavesNestedSpansAmongTheOthers) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    for (const TraceThread& thread : overlappingTrace(seed).threads) {
      std::vector<std::int64_t> ends;
      for (const TraceSpan& span : thread.spans) {
        if ((span.flags & kDetached) != 0) {
          continue;
        }
        while (!ends.empty() && ends.back() <= span.start) {
          ends.pop_back();
        }
        EXPECT_TRUE(ends.empty() || detail::profile::endOf(span) <= ends.back());
        ends.push_back(detail::profile::endOf(span));
      }
    }
  }
}

TEST(NestSpans, HasTheSameResultASecondTime) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Trace trace = overlappingTrace(seed);
    for (TraceThread& thread : trace.threads) {
      const auto flagsOf = [&] {
        std::vector<int> flags;
        for (const TraceSpan& span : thread.spans) {
          flags.push_back(span.flags);
        }
        return flags;
      };
      const std::vector<int> first = flagsOf();
      nestSpans(&thread.spans);
      EXPECT_EQ(flagsOf(), first);
    }
  }
}

TEST(NestSpans, SeparatesTheLaterOfTwoEqualSpans) {
  EXPECT_THAT(Spans().add("a", 0, 10).add("b", 5, 15).apart(), ElementsAre("b"));
}

// A search among all open spans for each span would take seconds.
TEST(NestSpans, TakesLittleTimeForDeepStacksThatManySpansCross) {
  constexpr std::int64_t kDepth = 50'000;
  std::vector<TraceSpan> spans;
  for (std::int64_t i = 0; i < kDepth; ++i) {
    spans.emplace_back().start = i;
    spans.back().duration = 10 * kDepth - 2 * i;
  }
  for (std::int64_t i = 0; i < kDepth; ++i) {
    spans.emplace_back().start = kDepth + i;
    spans.back().duration = 9 * kDepth - i;
  }
  nestSpans(&spans);
  const Recorder recorder = visited(spans);
  std::int64_t sum = 0;
  for (const std::int64_t self : recorder.self) {
    sum += self;
  }
  EXPECT_EQ(sum, 10 * kDepth);
}

}  // namespace
}  // namespace steptape
