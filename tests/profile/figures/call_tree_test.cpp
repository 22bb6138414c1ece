// SPDX-License-Identifier: Apache-2.0
#include "profile/figures/call_tree.h"

#include "profile/span_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::profile {
namespace {

/// Returns "a:10(b:4 c:1)" for a tree.
std::string textOf(const std::vector<Call>& calls, std::size_t index = 0) {
  const Call& call = calls[index];
  std::string text = call.name + ":" + std::to_string(call.total);
  if (call.children.empty()) {
    return text;
  }
  std::string children;
  for (const std::size_t child : call.children) {
    children += (children.empty() ? "" : " ") + textOf(calls, child);
  }
  return text + "(" + children + ")";
}

std::string treeOf(SpanChain& builder) {
  return textOf(mergeCalls(builder.build()));
}

TEST(MergeCalls, FollowsTheNestingOfSpans) {
  EXPECT_EQ(treeOf(SpanChain().op("a", 0, 10).op("b", 1, 5).op("c", 2, 3).op("d", 10, 12)),
            ":12(a:10(b:4(c:1)) d:2)");
}

TEST(MergeCalls, AddsUpSpansOfOnePathOnly) {
  EXPECT_EQ(treeOf(SpanChain()
                       .op("a", 0, 10)
                       .op("mm", 1, 3)
                       .op("mm", 3, 4)
                       .op("b", 10, 13)
                       .op("mm", 11, 12)),
            ":13(a:10(mm:3) b:3(mm:1))");
}

TEST(MergeCalls, AddsUpTheThreads) {
  EXPECT_EQ(treeOf(SpanChain().op("a", 0, 10).onThread(1).op("a", 5, 8)), ":13(a:13)");
}

TEST(MergeCalls, StacksRecursiveCalls) {
  EXPECT_EQ(treeOf(SpanChain().op("a", 0, 10).op("a", 2, 6)), ":10(a:10(a:4))");
}

TEST(MergeCalls, MergesEqualNamesOfTwoKinds) {
  EXPECT_EQ(treeOf(SpanChain().op("step", 0, 10).span("step", SpanKind::kZone, 10, 15)),
            ":15(step:15)");
}

TEST(MergeCalls, SortsByTimeAndThenByName) {
  EXPECT_EQ(treeOf(SpanChain().op("b", 0, 1).op("c", 1, 3).op("a", 3, 4)), ":4(c:2 a:1 b:1)");
}

TEST(MergeCalls, LeavesOutDetachedSpansAndDevices) {
  Trace trace = SpanChain()
                    .op("a", 0, 10)
                    .span("async", SpanKind::kCollective, 1, 30, -1, kDetached)
                    .onThread(1)
                    .op("kernel", 0, 5)
                    .build();
  trace.threads[1].device = 0;
  EXPECT_EQ(textOf(mergeCalls(trace)), ":10(a:10)");
}

TEST(MergeCalls, OfNothingIsNothing) {
  EXPECT_EQ(textOf(mergeCalls(Trace())), ":0");
}

}  // namespace
}  // namespace steptape::detail::profile
