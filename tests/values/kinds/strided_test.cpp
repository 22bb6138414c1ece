// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/tensor/strided.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::values {
namespace {

using ::testing::UnorderedElementsAreArray;

std::vector<double> gather(const TensorView& view) {
  std::vector<double> all;
  forEachBlock<double>(view, [&](const double* block, std::size_t count) {
    all.insert(all.end(), block, block + count);
  });
  return all;
}

std::vector<double> counting(int first, int last) {
  std::vector<double> values(static_cast<std::size_t>(last - first + 1));
  std::iota(values.begin(), values.end(), first);
  return values;
}

class StridedWalk : public ::testing::Test {
 protected:
  StridedWalk() : data_(counting(0, 23)) {}
  std::vector<double> data_;
};

TEST_F(StridedWalk, MergesAContiguousTensorToOneRun) {
  const auto dimensions = mergedDimensions(TensorView(data_.data(), {2, 3, 4}));
  ASSERT_EQ(dimensions.size(), 1U);
  EXPECT_EQ(dimensions[0].size, 24);
  EXPECT_EQ(dimensions[0].stride, 1);
}

TEST_F(StridedWalk, MergesAPermutedTensorToOneRun) {
  EXPECT_EQ(mergedDimensions(TensorView(data_.data(), {4, 2, 3}, {1, 12, 4})).size(), 1U);
}

TEST_F(StridedWalk, VisitsATransposedTensor) {
  EXPECT_THAT(gather(TensorView(data_.data(), {4, 6}, {1, 4})),
              UnorderedElementsAreArray(counting(0, 23)));
}

TEST_F(StridedWalk, VisitsEverySecondColumnAndNoOther) {
  EXPECT_THAT(gather(TensorView(data_.data(), {2, 3}, {6, 2})),
              UnorderedElementsAreArray({0, 2, 4, 6, 8, 10}));
}

TEST_F(StridedWalk, VisitsNegativeStrides) {
  EXPECT_THAT(gather(TensorView(data_.data() + 23, {3, 2}, {-8, -1})),
              UnorderedElementsAreArray({23, 22, 15, 14, 7, 6}));
}

TEST_F(StridedWalk, RepeatsAnElementOfStrideZero) {
  EXPECT_THAT(gather(TensorView(data_.data() + 5, {2, 3}, {1, 0})),
              UnorderedElementsAreArray({5, 5, 5, 6, 6, 6}));
}

TEST_F(StridedWalk, VisitsTheElementOfAScalar) {
  EXPECT_EQ(gather(TensorView(data_.data() + 3, std::vector<std::int64_t>{})),
            std::vector<double>{3});
}

TEST_F(StridedWalk, VisitsNothingOfAnEmptyTensor) {
  EXPECT_TRUE(gather(TensorView(data_.data(), {4, 0})).empty());
}

TEST(StridedBlocks, LieWithinATensorOfTheSameType) {
  const std::vector<float> values(10'000, 1.0F);
  std::size_t seen = 0;
  forEachBlock<float>(values, [&](const float* block, std::size_t count) {
    EXPECT_EQ(block, values.data() + seen);
    seen += count;
  });
  EXPECT_EQ(seen, values.size());
}

TEST(StridedBlocks, HandOnMoreThanABlockOfConvertedElements) {
  std::vector<int> values(5'001);
  std::iota(values.begin(), values.end(), -2'500);
  EXPECT_EQ(gather(values), counting(-2'500, 2'500));
}

template <typename T>
void expectWidened(std::vector<T> values, const std::vector<double>& expected) {
  EXPECT_EQ(gather(values), expected) << dtypeName(dtypeOf<T>());
}

TEST(Widen, KeepsTheValuesOfEveryArithmeticType) {
  expectWidened<std::uint8_t>({0, 255}, {0, 255});
  expectWidened<std::int8_t>({-128, 127}, {-128, 127});
  expectWidened<std::uint16_t>({0, 65535}, {0, 65535});
  expectWidened<std::int16_t>({-32768, 32767}, {-32768, 32767});
  expectWidened<std::uint32_t>({0, 4294967295U}, {0, 4294967295.0});
  expectWidened<std::int32_t>({INT32_MIN, INT32_MAX}, {-2147483648.0, 2147483647.0});
  expectWidened<std::uint64_t>({1, UINT64_MAX}, {1, 0x1p64});
  expectWidened<std::int64_t>({INT64_MIN, 7}, {-0x1p63, 7});
  expectWidened<float>({0.1F, -2}, {0.1F, -2});
}

TEST(Widen, TakesEveryByteButZeroForTrue) {
  const std::uint8_t bytes[] = {0, 1, 2, 255};
  EXPECT_EQ(gather(TensorView(bytes, DType::kBool, {4}, {})), (std::vector<double>{0, 1, 1, 1}));
}

// Values of IEEE 754-2019, 3.6, and of bfloat16's definition as the upper half of binary32.
TEST(Widen, DecodesFloat16) {
  EXPECT_EQ(toFloat(base::Float16{0x3C00}), 1.0F);
  EXPECT_EQ(toFloat(base::Float16{0xC000}), -2.0F);
  EXPECT_EQ(toFloat(base::Float16{0x7BFF}), 65504.0F);
  EXPECT_EQ(toFloat(base::Float16{0x0400}), 0x1p-14F);
  EXPECT_EQ(toFloat(base::Float16{0x0001}), 0x1p-24F);
  EXPECT_EQ(toFloat(base::Float16{0x83FF}), -0x1.FF8p-15F);
  EXPECT_EQ(toFloat(base::Float16{0xFC00}), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(toFloat(base::Float16{0x7E00})));
  EXPECT_TRUE(std::signbit(toFloat(base::Float16{0x8000})));
}

TEST(Widen, DecodesBFloat16) {
  EXPECT_EQ(toFloat(base::BFloat16{0x3F80}), 1.0F);
  EXPECT_EQ(toFloat(base::BFloat16{0xC040}), -3.0F);
  EXPECT_EQ(toFloat(base::BFloat16{0x7F80}), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(toFloat(base::BFloat16{0x7FC0})));
}

}  // namespace
}  // namespace steptape::detail::values
