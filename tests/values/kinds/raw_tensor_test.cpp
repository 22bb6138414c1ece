// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/tensor/raw_tensor.h"

#include <cstring>

#include "support/expect_error.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;

template <typename T>
std::string bytesOf(std::initializer_list<T> numbers) {
  return std::string(reinterpret_cast<const char*>(numbers.begin()), numbers.size() * sizeof(T));
}

// tensorflow/core/framework/types.proto
TEST(TensorTypeOf, HasTheNumbersOfTensorFlow) {
  const std::vector<std::pair<DType, int>> types = {
      {DType::kBool, 10},  {DType::kUInt8, 4},    {DType::kInt8, 6},      {DType::kUInt16, 17},
      {DType::kInt16, 5},  {DType::kUInt32, 22},  {DType::kInt32, 3},     {DType::kUInt64, 23},
      {DType::kInt64, 9},  {DType::kFloat16, 19}, {DType::kBFloat16, 14}, {DType::kFloat32, 1},
      {DType::kFloat64, 2}};
  for (const auto& [dtype, number] : types) {
    EXPECT_EQ(static_cast<int>(detail::values::tensorTypeOf(dtype)), number) << dtypeName(dtype);
  }
}

TEST(RawTensor, KeepsShapeTypeAndBytes) {
  const std::vector<std::int16_t> numbers = {1, -2, 3, 4, 5, 6};
  const event::Tensor tensor = detail::values::rawTensor(TensorView(numbers.data(), {3, 2}));
  EXPECT_EQ(tensor.type, event::TensorType::kInt16);
  EXPECT_EQ(tensor.shape, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(tensor.content, bytesOf<std::int16_t>({1, -2, 3, 4, 5, 6}));
}

TEST(RawTensor, CopiesATransposedViewInItsOwnOrder) {
  const std::vector<double> numbers = {1, 2, 3, 4, 5, 6};
  const event::Tensor tensor =
      detail::values::rawTensor(TensorView(numbers.data(), {2, 3}, {1, 2}));
  EXPECT_EQ(tensor.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(tensor.content, bytesOf<double>({1, 3, 5, 2, 4, 6}));
}

TEST(RawTensor, AcceptsAScalar) {
  const float number = 7;
  const event::Tensor tensor = detail::values::rawTensor(TensorView(&number, {}));
  EXPECT_TRUE(tensor.shape.empty());
  EXPECT_EQ(tensor.content, bytesOf<float>({7}));
}

TEST(RawTensor, AcceptsAnEmptyTensor) {
  const event::Tensor tensor =
      detail::values::rawTensor(TensorView(static_cast<const float*>(nullptr), {2, 0}));
  EXPECT_EQ(tensor.shape, (std::vector<std::int64_t>{2, 0}));
  EXPECT_EQ(tensor.content, "");
}

TEST(CheckRawTensor, RejectsWhatNoRecordHolds) {
  // One repeated element: a tensor that needs no memory until it is copied.
  const double number = 0;
  expectInvalidArgument(
      [&] {
        detail::values::checkRawTensor(TensorView(&number, {INT64_C(1) << 20, 256}, {0, 0}));
      },
      "got shape (1048576, 256) of float64; expected at most 2146435072 bytes, since a record is "
      "below 2 GiB");
}

TEST(TensorValue, IsOfThePluginThatTorchNames) {
  event::SummaryMetadata metadata;
  metadata.displayName = "Raw";
  metadata.description = "as it is";
  const std::vector<float> numbers = {1};
  const event::Value value =
      detail::values::tensorValue("raw", detail::values::rawTensor(numbers), metadata);
  EXPECT_EQ(value.tag, "raw");
  EXPECT_EQ(std::get<event::Tensor>(value.data).content, bytesOf<float>({1}));
  EXPECT_EQ(value.metadata->pluginName, "tensor");
  EXPECT_EQ(value.metadata->pluginContent, "");
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kTensor);
  EXPECT_EQ(value.metadata->displayName, "Raw");
  EXPECT_EQ(value.metadata->description, "as it is");
}

}  // namespace
}  // namespace steptape
