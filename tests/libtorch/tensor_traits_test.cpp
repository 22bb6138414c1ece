// SPDX-License-Identifier: Apache-2.0
#include "steptape/libtorch/tensor_traits.h"

#include <cstdint>
#include <vector>

#include "steptape/base/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

/// Returns the view's element at one index, read through its strides.
template <typename T>
T at(const TensorView& view, const std::vector<std::int64_t>& index) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    offset += index[i] * view.strides()[i];
  }
  return static_cast<const T*>(view.data())[offset];
}

TEST(TensorTraits, ViewsAContiguousTensorWithoutACopy) {
  const torch::Tensor tensor = torch::arange(6, torch::kFloat32).reshape({2, 3});
  const TensorView view = tensor;
  EXPECT_EQ(view.data(), tensor.data_ptr());
  EXPECT_EQ(view.dtype(), DType::kFloat32);
  EXPECT_THAT(view.shape(), ElementsAre(2, 3));
  EXPECT_TRUE(view.isContiguous());
}

TEST(TensorTraits, ViewsAStridedTensorWithoutACopy) {
  const torch::Tensor tensor =
      torch::arange(24, torch::kInt64).reshape({4, 6}).t().slice(0, 1, 6, 2);
  const TensorView view = tensor;
  EXPECT_EQ(view.data(), tensor.data_ptr());
  EXPECT_THAT(view.shape(), ElementsAre(3, 4));
  EXPECT_THAT(view.strides(), ElementsAre(2, 6));
  EXPECT_EQ(at<std::int64_t>(view, {2, 3}), 23);
}

TEST(TensorTraits, ViewsAnExpandedTensorWithoutACopy) {
  const torch::Tensor tensor = torch::tensor({1.5, 2.5}, torch::kFloat64).expand({3, 2});
  const TensorView view = tensor;
  EXPECT_THAT(view.strides(), ElementsAre(0, 1));
  EXPECT_EQ(at<double>(view, {2, 1}), 2.5);
}

TEST(TensorTraits, ViewsEveryElementTypeAsItIs) {
  const std::vector<std::pair<torch::ScalarType, DType>> types = {
      {torch::kBool, DType::kBool},       {torch::kUInt8, DType::kUInt8},
      {torch::kInt8, DType::kInt8},       {torch::kInt16, DType::kInt16},
      {torch::kInt32, DType::kInt32},     {torch::kInt64, DType::kInt64},
      {torch::kHalf, DType::kFloat16},    {torch::kBFloat16, DType::kBFloat16},
      {torch::kFloat32, DType::kFloat32}, {torch::kFloat64, DType::kFloat64}};
  for (const auto& [torchType, dtype] : types) {
    const torch::Tensor tensor = torch::ones({2}, torchType);
    const TensorView view = tensor;
    EXPECT_EQ(view.dtype(), dtype);
    EXPECT_EQ(view.data(), tensor.data_ptr()) << dtypeName(dtype);
  }
}

TEST(TensorTraits, ViewsHalvesBitByBit) {
  const TensorView half = torch::tensor({1.5F}).to(torch::kHalf);
  EXPECT_EQ(at<std::uint16_t>(half, {0}), 0x3E00);  // IEEE binary16 of 1.5
  const TensorView bfloat = torch::tensor({1.5F}).to(torch::kBFloat16);
  EXPECT_EQ(at<std::uint16_t>(bfloat, {0}), 0x3FC0);  // upper half of IEEE binary32 of 1.5
}

TEST(TensorTraits, ViewsAParameterDespiteItsGradient) {
  const torch::Tensor parameter = torch::ones({3}, torch::requires_grad());
  const TensorView view = parameter;
  EXPECT_EQ(view.data(), parameter.data_ptr());
}

TEST(TensorTraits, KeepsTheMemoryOfATemporaryAlive) {
  const TensorView view = torch::full({1000}, 7, torch::kInt32);
  const torch::Tensor other = torch::zeros({1000}, torch::kInt32);  // would reuse freed memory
  EXPECT_EQ(at<std::int32_t>(view, {999}), 7);
}

TEST(TensorTraits, ViewsAnEmptyTensor) {
  const TensorView view = torch::empty({0, 3});
  EXPECT_EQ(view.numel(), 0);
}

TEST(TensorTraits, MakesASparseTensorDense) {
  const torch::Tensor dense = torch::tensor({{0.0F, 2.0F}, {0.0F, 0.0F}});
  const TensorView view = dense.to_sparse();
  EXPECT_THAT(view.shape(), ElementsAre(2, 2));
  EXPECT_EQ(at<float>(view, {0, 1}), 2.0F);
  EXPECT_EQ(at<float>(view, {1, 1}), 0.0F);
}

TEST(TensorTraits, DequantizesAQuantizedTensor) {
  const torch::Tensor tensor = torch::tensor({0.5F, 1.0F});
  const TensorView view = torch::quantize_per_tensor(tensor, 0.5, 0, torch::kQInt8);
  EXPECT_EQ(view.dtype(), DType::kFloat32);
  EXPECT_EQ(at<float>(view, {1}), 1.0F);
}

TEST(TensorTraits, CarriesOutALazyNegation) {
  const torch::Tensor complex = torch::complex(torch::zeros({1}), torch::ones({1}));
  const TensorView view = torch::imag(complex.conj());
  EXPECT_EQ(at<float>(view, {0}), -1.0F);
}

TEST(TensorTraits, RefusesAnUndefinedTensor) {
  EXPECT_THAT([] { const TensorView view = torch::Tensor(); },
              ThrowsMessage<Error>(StartsWith("got an undefined at::Tensor; expected one with a")));
}

TEST(TensorTraits, RefusesComplexNumbersByName) {
  EXPECT_THAT(
      [] { const TensorView view = torch::zeros({1}, torch::kComplexFloat); },
      ThrowsMessage<Error>(StartsWith("got a tensor of element type ComplexFloat; expected ")));
}

TEST(ScalarTraits, TakesATensorOfOneElement) {
  EXPECT_EQ(ScalarTraits<at::Tensor>::value(torch::tensor(0.25)), 0.25);
  EXPECT_EQ(ScalarTraits<at::Tensor>::value(torch::full({1, 1}, 3, torch::kInt64)), 3.0);
  EXPECT_EQ(ScalarTraits<at::Tensor>::value(torch::tensor(1.5F).to(torch::kBFloat16)), 1.5);
  EXPECT_EQ(ScalarTraits<at::Tensor>::value(torch::ones({}, torch::requires_grad())), 1.0);
}

TEST(ScalarTraits, NamesTheShapeOfAnythingElse) {
  EXPECT_THAT(
      [] {
        ScalarTraits<at::Tensor>::value(torch::zeros({2, 3}));
      },
      ThrowsMessage<Error>("scalar: got a tensor of shape (2, 3); expected one element"));
  EXPECT_THAT([] { ScalarTraits<at::Tensor>::value(torch::zeros({0})); },
              ThrowsMessage<Error>("scalar: got a tensor of shape (0); expected one element"));
}

TEST(ScalarTraits, RefusesAComplexNumber) {
  EXPECT_THAT(
      [] { ScalarTraits<at::Tensor>::value(torch::zeros({}, torch::kComplexDouble)); },
      ThrowsMessage<Error>("scalar: got a tensor of type ComplexDouble; expected a real type"));
}

}  // namespace
}  // namespace steptape
