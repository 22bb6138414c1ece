// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/xplane/xprof_names.h"

#include <regex>
#include <string>

#include <gtest/gtest.h>

namespace steptape::detail::profile {
namespace {

TEST(XprofOperatorName, NamesOperatorsOfLibTorch) {
  EXPECT_EQ(xprofOperatorName("aten::addmm"), "aten.addmm:addmm");
  EXPECT_EQ(xprofOperatorName("aten::add_"), "aten.add_:add_");
  EXPECT_EQ(xprofOperatorName("AddmmBackward0"), "AddmmBackward0:AddmmBackward0");
  EXPECT_EQ(xprofOperatorName("torch::autograd::AccumulateGrad"),
            "torch.autograd.AccumulateGrad:AccumulateGrad");
  EXPECT_EQ(xprofOperatorName("autograd::engine::evaluate_function: AddmmBackward0"),
            "autograd.engine.evaluate_function/AddmmBackward0:AddmmBackward0");
}

TEST(XprofOperatorName, ReplacesUnknownNames) {
  EXPECT_EQ(xprofOperatorName("a b(c)"), "a_b_c_:a_b_c_");
  EXPECT_EQ(xprofOperatorName("gloo:all_reduce"), "gloo_all_reduce:gloo_all_reduce");
  EXPECT_EQ(xprofOperatorName("\xc3\xa9t\xc3\xa9"), "op/__t__:__t__");
}

TEST(XprofOperatorName, UsesTheLastPartAsType) {
  EXPECT_EQ(xprofOperatorName("aten::isNan"), "aten.isNan:_isNan");
  EXPECT_EQ(xprofOperatorName("aten::3d"), "aten.3d:_3d");
  EXPECT_EQ(xprofOperatorName("a->b"), "a->b:a__b");
  EXPECT_EQ(xprofOperatorName("aten::"), "aten.:_");
}

TEST(XprofOperatorName, KeepsOperatorsFromBeingTakenForSteps) {
  EXPECT_EQ(xprofOperatorName("train"), "op/train:train");
  EXPECT_EQ(xprofOperatorName("testing"), "op/testing:testing");
  EXPECT_EQ(xprofOperatorName("TraceContext"), "op/TraceContext:TraceContext");
  EXPECT_EQ(xprofOperatorName("IteratorGetNext"), "op/IteratorGetNext:IteratorGetNext");
}

TEST(XprofOperatorName, NamesEverything) {
  EXPECT_EQ(xprofOperatorName(""), "op/:_");
  EXPECT_EQ(xprofOperatorName("_x"), "op/_x:_x");
  EXPECT_EQ(xprofOperatorName("::"), ".:_");
  // XProf's pattern.
  static const std::regex kOperator(
      "[A-Za-z0-9.][A-Za-z0-9_./>-]*:([A-Z_][A-Za-z0-9_]*|[a-z_][a-z0-9_]*)");
  for (int first = 0; first < 256; ++first) {
    for (const char* const rest : {"", "x", "::Y", ": z", ":", ".", "/"}) {
      const std::string name = xprofOperatorName(std::string(1, static_cast<char>(first)) + rest);
      EXPECT_TRUE(std::regex_match(name, kOperator)) << first << rest << " became " << name;
    }
  }
}

}  // namespace
}  // namespace steptape::detail::profile
