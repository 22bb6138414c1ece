// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/graph_scopes.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

TEST(GraphScopes, ShortenTypesToTheirUserVisibleNames) {
  EXPECT_EQ(detail::libtorch::shortTypeName("torch::nn::Conv2dImpl"), "Conv2d");
  EXPECT_EQ(detail::libtorch::shortTypeName("(anonymous namespace)::Net"), "Net");
  EXPECT_EQ(detail::libtorch::shortTypeName("a::(anonymous namespace)::f(int, b::C)::Net"), "Net");
  EXPECT_EQ(detail::libtorch::shortTypeName("a::Block<64, b::ReLUImpl>"), "Block<64, ReLUImpl>");
  EXPECT_EQ(detail::libtorch::shortTypeName("Impl"), "Impl");
}

TEST(GraphScopes, ShareTheirFirstLevels) {
  EXPECT_EQ(detail::libtorch::commonScope({"Net", "a", "b"}, {"Net", "a", "c"}),
            (detail::libtorch::Scope{"Net", "a"}));
  EXPECT_EQ(detail::libtorch::commonScope({"Net"}, {"Net", "a"}), detail::libtorch::Scope{"Net"});
}

}  // namespace
}  // namespace steptape
