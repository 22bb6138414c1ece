// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/collective_details.h"

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "steptape/process/zone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::ranks {
namespace {

using ::testing::HasSubstr;

CollectiveCall allreduceOf(std::size_t count, const std::string& name) {
  CollectiveCall call;
  call.kind = CollectiveKind::kAllreduce;
  call.dtype = DType::kFloat32;
  call.count = count;
  call.name = name;
  return call;
}

TEST(CollectiveDetails, AreTheSameForEqualCallsOnly) {
  CollectiveDetails details(1, 4, {});
  std::vector<CollectiveCall> calls(7, allreduceOf(12, "gradients of layer 1"));
  calls[1].count = 13;
  calls[2].name = "gradients of layer 2";
  calls[3].name = "weights of layer 1";
  calls[4].op = ReduceOp::kMax;
  calls[5].dtype = DType::kFloat64;
  calls[6].kind = CollectiveKind::kBroadcast;
  calls.push_back(calls[6]);
  calls.back().root = 2;
  std::set<std::uint32_t> ids;
  for (const CollectiveCall& call : calls) {
    const std::uint32_t id = details.idOf(call, true);
    EXPECT_NE(id, 0U);
    EXPECT_EQ(details.idOf(call, true), id);
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), calls.size());
}

TEST(CollectiveDetails, StayCorrectForManyCalls) {
  CollectiveDetails details(0, 2, {});
  const auto argumentsOf = [&](const CollectiveCall& call) {
    return spanDetails(details.idOf(call, true)).arguments;
  };
  for (std::size_t count = 1; count < 2000; ++count) {
    CollectiveCall call = allreduceOf(count, "bucket " + std::to_string(count % 50));
    EXPECT_THAT(argumentsOf(call), HasSubstr("\"Name\": \"" + call.name + "\", "));
    // Calls that differ little sometimes share a slot.
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax}) {
        call.dtype = dtype;
        call.op = op;
        const std::string elements = std::to_string(count);
        ASSERT_THAT(
            argumentsOf(call),
            HasSubstr(std::string("\"Collective name\": \"allreduce\", \"Name\": \"") + call.name +
                      "\", \"Reduction\": \"" + reduceOpName(op) + "\", \"dtype\": \"" +
                      (dtype == DType::kFloat32 ? "Float" : "Double") + "\", \"In msg nelems\": " +
                      elements + ", \"Out msg nelems\": " + elements + ", "));
      }
    }
    call.kind = CollectiveKind::kBroadcast;
    for (call.root = 0; call.root < 4; ++call.root) {
      ASSERT_THAT(argumentsOf(call), HasSubstr("\"Root\": " + std::to_string(call.root) + ", "));
    }
  }
}

TEST(CollectiveDetails, TruncateALongListOfRanks) {
  std::vector<int> ranks(31);
  std::iota(ranks.begin(), ranks.end(), 5);
  CollectiveDetails many(0, 31, ranks);
  EXPECT_THAT(
      spanDetails(many.idOf(allreduceOf(1, ""), true)).arguments,
      HasSubstr("\"Process Group Ranks\": \"[5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, "
                "18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, ..., "
                "35]\""));
  ranks.pop_back();
  CollectiveDetails fewer(0, 30, ranks);
  EXPECT_THAT(spanDetails(fewer.idOf(allreduceOf(1, ""), true)).arguments,
              HasSubstr(", 33, 34]\""));
}

}  // namespace
}  // namespace steptape::detail::ranks
