// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/tensor_origins.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

bool shareElements(const torch::Tensor& a, const torch::Tensor& b) {
  return detail::libtorch::shareElements(detail::libtorch::TensorLayout(a),
                                         detail::libtorch::TensorLayout(b));
}

TEST(SharedElements, AreTheCommonElementsOfSlices) {
  const torch::Tensor whole = torch::zeros({4, 6});
  EXPECT_TRUE(shareElements(whole, whole.select(0, 3)));
  EXPECT_FALSE(shareElements(whole.select(0, 0), whole.select(0, 1)));
  EXPECT_FALSE(shareElements(whole.select(1, 0), whole.select(1, 1)));
  EXPECT_FALSE(shareElements(whole.narrow(1, 0, 3), whole.narrow(1, 3, 3)));
  EXPECT_TRUE(shareElements(whole.narrow(1, 0, 4), whole.narrow(1, 3, 3)));
  EXPECT_FALSE(shareElements(whole.narrow(1, 0, 3).narrow(0, 0, 2), whole.narrow(0, 2, 2)));
  EXPECT_FALSE(shareElements(whole.slice(1, 0, 6, 2), whole.slice(1, 1, 6, 2)));
  EXPECT_TRUE(shareElements(whole.slice(1, 0, 6, 2), whole.slice(1, 2, 6, 2)));
}

TEST(SharedElements, AgreeWithTheAddressesOfAllElements) {
  const torch::Tensor whole = torch::arange(3 * 4 * 5).view({3, 4, 5});
  std::vector<torch::Tensor> boxes;
  for (std::int64_t i = 0; i < 40; ++i) {
    boxes.push_back(whole.slice(0, i % 2, 1 + i % 3).slice(1, i % 3, 2 + i % 4).slice(2, i % 5));
  }
  for (const torch::Tensor& a : boxes) {
    for (const torch::Tensor& b : boxes) {
      EXPECT_EQ(shareElements(a, b), torch::isin(a.contiguous(), b.contiguous()).any().item<bool>())
          << a.sizes() << a.storage_offset() << b.sizes() << b.storage_offset();
    }
  }
}

TEST(SharedElements, AreAnyInARangeOfOtherStrides) {
  const torch::Tensor whole = torch::zeros({4, 6});
  EXPECT_TRUE(shareElements(whole.t(), whole));
  EXPECT_FALSE(shareElements(whole.narrow(0, 0, 2).t(), whole.narrow(0, 2, 2)));
  EXPECT_FALSE(shareElements(whole.narrow(0, 0, 0), whole));
  EXPECT_TRUE(shareElements(whole.select(0, 1).expand({3, 6}), whole.select(0, 1).expand({3, 6})));
}

}  // namespace
}  // namespace steptape
