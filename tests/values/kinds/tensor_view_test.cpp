// SPDX-License-Identifier: Apache-2.0
#include "steptape/values/tensor_view.h"

#include "support/expect_error.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;
using Sizes = std::vector<std::int64_t>;

constexpr float kData[24] = {};

TEST(TensorView, HasRowMajorStridesByDefault) {
  const TensorView view(kData, {2, 3, 4});
  EXPECT_EQ(view.strides(), (Sizes{12, 4, 1}));
  EXPECT_EQ(view.numel(), 24);
  EXPECT_EQ(view.rank(), 3U);
  EXPECT_TRUE(view.isContiguous());
  EXPECT_EQ(view.dtype(), DType::kFloat32);
  EXPECT_EQ(view.shapeString(), "(2, 3, 4)");
}

TEST(TensorView, OfRankZeroHasOneElement) {
  const TensorView view(kData, Sizes{});
  EXPECT_EQ(view.numel(), 1);
  EXPECT_TRUE(view.isContiguous());
  EXPECT_EQ(view.shapeString(), "()");
}

TEST(TensorView, ReturnsTheBytesOfItsElementsLaidOutDensely) {
  EXPECT_EQ(TensorView(kData, {2, 3, 4}).nbytes(), 24 * sizeof(float));
  EXPECT_EQ(TensorView(kData, {4, 6}, {0, -1}).nbytes(), 24 * sizeof(float));
  EXPECT_EQ(TensorView(kData, DType::kBFloat16, {5}, {}).nbytes(), 10U);
  EXPECT_EQ(TensorView(kData, Sizes{}).nbytes(), sizeof(float));
  EXPECT_EQ(TensorView(kData, {3, 0}).nbytes(), 0U);
}

TEST(TensorView, ViewsAVectorAsRankOne) {
  const std::vector<std::int64_t> values = {1, 2, 3};
  const TensorView view = values;
  EXPECT_EQ(view.shape(), (Sizes{3}));
  EXPECT_EQ(view.dtype(), DType::kInt64);
  EXPECT_EQ(view.data(), values.data());
}

TEST(TensorView, MayBeEmptyWithoutData) {
  const TensorView view(static_cast<const float*>(nullptr), {INT64_MAX, 3, 0});
  EXPECT_EQ(view.numel(), 0);
  EXPECT_TRUE(view.isContiguous());
}

TEST(TensorView, IsNotContiguousWhenTransposed) {
  EXPECT_FALSE(TensorView(kData, {4, 6}, {1, 4}).isContiguous());
}

TEST(TensorView, IgnoresTheStrideOfADimensionOfOne) {
  EXPECT_TRUE(TensorView(kData, {4, 1, 6}, {6, 999, 1}).isContiguous());
}

TEST(TensorView, KeepsItsOwnerAlive) {
  auto owner = std::make_shared<float>(1.0F);
  const std::weak_ptr<float> watch = owner;
  TensorView view(owner.get(), DType::kFloat32, {1}, {}, owner);
  owner.reset();
  EXPECT_FALSE(watch.expired());
}

TEST(TensorView, RejectsANegativeDimension) {
  expectInvalidArgument(
      [] {
        TensorView(kData, {2, -1});
      },
      "TensorView: got shape (2, -1); expected dimensions of 0 or more");
}

TEST(TensorView, RejectsAnotherNumberOfStrides) {
  expectInvalidArgument(
      [] {
        TensorView(kData, {2, 3}, {1});
      },
      "TensorView: got 1 strides for shape (2, 3); expected 2");
}

TEST(TensorView, RejectsNullDataWithElements) {
  expectInvalidArgument([] { TensorView(static_cast<const float*>(nullptr), {2}); },
                        "TensorView: got a null data pointer for shape (2); expected the elements");
}

TEST(TensorView, RejectsMoreElementsThanCanBeCounted) {
  expectInvalidArgument(
      [] {
        TensorView(kData, {INT64_C(1) << 32, INT64_C(1) << 32});
      },
      "TensorView: got shape (4294967296, 4294967296); expected at most 2^63 - 1 elements");
}

TEST(DType, HasASizeAndAName) {
  EXPECT_EQ(dtypeSize(DType::kBool), 1U);
  EXPECT_EQ(dtypeSize(DType::kBFloat16), 2U);
  EXPECT_EQ(dtypeSize(DType::kUInt32), 4U);
  EXPECT_EQ(dtypeSize(DType::kFloat64), 8U);
  EXPECT_STREQ(dtypeName(DType::kFloat16), "float16");
  EXPECT_STREQ(dtypeName(DType::kInt64), "int64");
}

}  // namespace
}  // namespace steptape
