// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/graph_scopes.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

TEST(GraphScopes, ShortenTypesToTheirUserVisibleNames) {
  EXPECT_EQ(shortTypeName("torch::nn::Conv2dImpl"), "Conv2d");
  EXPECT_EQ(shortTypeName("(anonymous namespace)::Net"), "Net");
  EXPECT_EQ(shortTypeName("a::(anonymous namespace)::f(int, b::C)::Net"), "Net");
  EXPECT_EQ(shortTypeName("a::Block<64, b::ReLUImpl>"), "Block<64, ReLUImpl>");
  EXPECT_EQ(shortTypeName("Impl"), "Impl");
}

TEST(GraphScopes, ShareTheirFirstLevels) {
  EXPECT_EQ(commonScope({"Net", "a", "b"}, {"Net", "a", "c"}), (Scope{"Net", "a"}));
  EXPECT_EQ(commonScope({"Net"}, {"Net", "a"}), Scope{"Net"});
}

}  // namespace
}  // namespace steptape
