// SPDX-License-Identifier: Apache-2.0
//
// numberOf() and isRounded(): which values are scalars.
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "log/reader/event_values.h"
#include "log/reader/log_dir_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using event::TensorType;
using ::testing::Optional;

class NumberOfTest : public LogDirFixture {
 protected:
  template <typename Number>
  static event::Value one(TensorType type, Number number) {
    return tensorValue<Number>("loss", type, {number});
  }
  /// Returns `value` as a reader finds it in a file.
  static event::Value decoded(const event::Value& value) {
    event::Event event;
    event.what = event::Summary{{value}};
    std::string bytes;
    detail::events::encodeEvent(event, &bytes);
    event::Event back;
    EXPECT_TRUE(detail::events::decodeEvent(bytes, &back).ok());
    return std::get<event::Summary>(back.what).values.at(0);
  }
};

TEST_F(NumberOfTest, IsThatOfASimpleValue) {
  EXPECT_THAT(detail::log::numberOf({"loss", 1.5F, std::nullopt}), Optional(1.5));
}

TEST_F(NumberOfTest, IsThatOfATensorOfEachType) {
  EXPECT_THAT(detail::log::numberOf(one<float>(TensorType::kFloat, -1.5F)), Optional(-1.5));
  EXPECT_THAT(detail::log::numberOf(one<double>(TensorType::kDouble, 0.1)), Optional(0.1));
  EXPECT_THAT(detail::log::numberOf(one<std::int64_t>(TensorType::kInt64, -5)), Optional(-5));
  EXPECT_THAT(detail::log::numberOf(one<std::uint64_t>(TensorType::kUInt64, 1ULL << 63)),
              Optional(9223372036854775808.0));
  EXPECT_THAT(detail::log::numberOf(one<std::int32_t>(TensorType::kInt32, -7)), Optional(-7));
  EXPECT_THAT(detail::log::numberOf(one<std::uint32_t>(TensorType::kUInt32, 4294967295U)),
              Optional(4294967295.0));
  EXPECT_THAT(detail::log::numberOf(one<std::int16_t>(TensorType::kInt16, -300)), Optional(-300));
  EXPECT_THAT(detail::log::numberOf(one<std::uint16_t>(TensorType::kUInt16, 65535)),
              Optional(65535));
  EXPECT_THAT(detail::log::numberOf(one<std::int8_t>(TensorType::kInt8, -128)), Optional(-128));
  EXPECT_THAT(detail::log::numberOf(one<std::uint8_t>(TensorType::kUInt8, 255)), Optional(255));
  EXPECT_THAT(detail::log::numberOf(one<std::uint8_t>(TensorType::kBool, 1)), Optional(1));
  EXPECT_THAT(detail::log::numberOf(one<std::uint8_t>(TensorType::kBool, 0)), Optional(0));
}

TEST_F(NumberOfTest, IsThatOfBothTypesOf16Bits) {
  EXPECT_THAT(detail::log::numberOf(one<std::uint16_t>(TensorType::kHalf, 0x3e00)), Optional(1.5));
  EXPECT_THAT(detail::log::numberOf(one<std::uint16_t>(TensorType::kHalf, 0x8001)),
              Optional(-0x1p-24));
  EXPECT_THAT(detail::log::numberOf(one<std::uint16_t>(TensorType::kHalf, 0xfc00)),
              Optional(-std::numeric_limits<double>::infinity()));
  EXPECT_THAT(detail::log::numberOf(one<std::uint16_t>(TensorType::kBFloat16, 0x3fc0)),
              Optional(1.5));
  EXPECT_THAT(detail::log::numberOf(one<std::uint16_t>(TensorType::kBFloat16, 0x7f80)),
              Optional(std::numeric_limits<double>::infinity()));
}

TEST_F(NumberOfTest, IsThatOfOneElementWhateverItsShape) {
  event::Value value = one<std::int32_t>(TensorType::kInt32, 3);
  std::get<event::Tensor>(value.data).shape = {1, 1};
  EXPECT_THAT(detail::log::numberOf(value), Optional(3));
}

TEST_F(NumberOfTest, IsMissingInStringsListsAndOtherKinds) {
  event::Tensor text;
  text.type = TensorType::kString;
  text.strings = {"12345678"};
  EXPECT_EQ(detail::log::numberOf({"note", text, std::nullopt}), std::nullopt);
  EXPECT_EQ(detail::log::numberOf(tensorValue<float>("pair", TensorType::kFloat, {1, 2})),
            std::nullopt);
  EXPECT_EQ(detail::log::numberOf({"image", event::SummaryImage(), std::nullopt}), std::nullopt);
  event::Value unknown = one<std::uint8_t>(static_cast<TensorType>(11), 1);
  EXPECT_EQ(detail::log::numberOf(unknown), std::nullopt);
}

TEST_F(NumberOfTest, IsMissingInATensorWithoutAValue) {
  for (const TensorType type : {TensorType::kFloat, TensorType::kDouble, TensorType::kInt64,
                                TensorType::kBool, TensorType::kHalf}) {
    event::Tensor tensor;
    tensor.type = type;
    EXPECT_EQ(detail::log::numberOf(decoded({"loss", tensor, std::nullopt})), std::nullopt);
  }
}

TEST_F(NumberOfTest, IsRoundedOnlyIfNoDoubleEqualsAnInteger) {
  const auto isRounded = [](std::int64_t number) {
    return detail::log::isRounded(one<std::int64_t>(TensorType::kInt64, number));
  };
  EXPECT_FALSE(isRounded(0));
  EXPECT_FALSE(isRounded(std::int64_t{1} << 53));
  EXPECT_TRUE(isRounded((std::int64_t{1} << 53) + 1));
  EXPECT_FALSE(isRounded((std::int64_t{1} << 53) + 2));
  EXPECT_TRUE(isRounded(-(std::int64_t{1} << 53) - 1));
  EXPECT_TRUE(isRounded(std::numeric_limits<std::int64_t>::max()));
  EXPECT_FALSE(isRounded(std::numeric_limits<std::int64_t>::min()));
  EXPECT_TRUE(detail::log::isRounded(one<std::uint64_t>(TensorType::kUInt64, ~0ULL)));
  EXPECT_FALSE(detail::log::isRounded(one<std::uint64_t>(TensorType::kUInt64, 1ULL << 63)));
  EXPECT_FALSE(detail::log::isRounded(one<double>(TensorType::kDouble, 0.1)));
}

}  // namespace
}  // namespace steptape
