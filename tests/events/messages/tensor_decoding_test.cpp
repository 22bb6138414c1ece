// SPDX-License-Identifier: Apache-2.0
// Tensors in the form of other writers: numbers in a typed list instead of bytes.
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "events/messages/event_codec.h"
#include "events/messages/wire_bytes.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Writes one tensor field by field, with the field numbers of
/// tensorflow/core/framework/tensor.proto.
class TensorBytes {
 public:
  TensorBytes& type(event::TensorType type) {
    detail::events::appendVarintField(&bytes_, 1, static_cast<std::uint64_t>(type));
    return *this;
  }
  TensorBytes& dimension(std::int64_t size) {
    bytes_ += bytesField(2, bytesField(2, numberField(1, static_cast<std::uint64_t>(size))));
    return *this;
  }
  TensorBytes& varints(std::uint32_t field, const std::vector<std::int64_t>& values) {
    std::string packed;
    for (const std::int64_t value : values) {
      detail::events::appendVarint(&packed, static_cast<std::uint64_t>(value));
    }
    detail::events::appendBytesField(&bytes_, field, packed);
    return *this;
  }
  template <typename T>
  TensorBytes& fixed(std::uint32_t field, const std::vector<T>& values) {
    detail::events::appendBytesField(
        &bytes_, field, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
    return *this;
  }

  /// Returns an event that holds the tensor under the tag "t".
  std::string event() const {
    return bytesField(5, bytesField(1, bytesField(1, "t") + bytesField(8, bytes_)));
  }

  event::Tensor decoded() const {
    event::Event result;
    const Status status = detail::events::decodeEvent(event(), &result);
    EXPECT_TRUE(status.ok()) << status.message();
    return std::get<event::Tensor>(std::get<event::Summary>(result.what).values.at(0).data);
  }
  std::string failure() const {
    event::Event result;
    return detail::events::decodeEvent(event(), &result).message();
  }

 private:
  std::string bytes_;
};

template <typename T>
std::vector<T> numbersOf(const event::Tensor& tensor) {
  std::vector<T> numbers(tensor.content.size() / sizeof(T));
  std::memcpy(numbers.data(), tensor.content.data(), tensor.content.size());
  return numbers;
}

constexpr std::uint32_t kFloatVal = 5;
constexpr std::uint32_t kDoubleVal = 6;
constexpr std::uint32_t kIntVal = 7;
constexpr std::uint32_t kInt64Val = 10;
constexpr std::uint32_t kBoolVal = 11;
constexpr std::uint32_t kHalfVal = 13;
constexpr std::uint32_t kUInt32Val = 16;
constexpr std::uint32_t kUInt64Val = 17;

TEST(TensorDecoding, TakesFloats) {
  TensorBytes bytes;
  bytes.type(event::TensorType::kFloat).fixed<float>(kFloatVal, {0.75F});
  EXPECT_THAT(numbersOf<float>(bytes.decoded()), ElementsAre(0.75F));
  EXPECT_THAT(bytes.decoded().shape, IsEmpty());
}

TEST(TensorDecoding, TakesDoubles) {
  TensorBytes bytes;
  bytes.type(event::TensorType::kDouble).dimension(2).fixed<double>(kDoubleVal, {0.1, -2});
  EXPECT_THAT(numbersOf<double>(bytes.decoded()), ElementsAre(0.1, -2.0));
}

TEST(TensorDecoding, TakesIntegersOfEveryWidth) {
  const auto tensor = [](event::TensorType type, std::uint32_t field) {
    return TensorBytes().type(type).dimension(2).varints(field, {1, 2}).decoded();
  };
  EXPECT_THAT(numbersOf<std::int8_t>(tensor(event::TensorType::kInt8, kIntVal)), ElementsAre(1, 2));
  EXPECT_THAT(numbersOf<std::uint8_t>(tensor(event::TensorType::kUInt8, kIntVal)),
              ElementsAre(1, 2));
  EXPECT_THAT(numbersOf<std::int16_t>(tensor(event::TensorType::kInt16, kIntVal)),
              ElementsAre(1, 2));
  EXPECT_THAT(numbersOf<std::uint16_t>(tensor(event::TensorType::kUInt16, kIntVal)),
              ElementsAre(1, 2));
  EXPECT_THAT(numbersOf<std::int32_t>(tensor(event::TensorType::kInt32, kIntVal)),
              ElementsAre(1, 2));
  EXPECT_THAT(numbersOf<std::uint32_t>(tensor(event::TensorType::kUInt32, kUInt32Val)),
              ElementsAre(1, 2));
  EXPECT_THAT(numbersOf<std::int64_t>(tensor(event::TensorType::kInt64, kInt64Val)),
              ElementsAre(1, 2));
  EXPECT_THAT(numbersOf<std::uint64_t>(tensor(event::TensorType::kUInt64, kUInt64Val)),
              ElementsAre(1, 2));
}

TEST(TensorDecoding, KeepsTheSignOfIntegers) {
  TensorBytes bytes;
  bytes.type(event::TensorType::kInt8).varints(kIntVal, {-3});
  EXPECT_THAT(numbersOf<std::int8_t>(bytes.decoded()), ElementsAre(-3));
}

TEST(TensorDecoding, TakesBooleansAndHalves) {
  TensorBytes booleans;
  booleans.type(event::TensorType::kBool).dimension(2).varints(kBoolVal, {1, 0});
  EXPECT_EQ(booleans.decoded().content, std::string("\1\0", 2));

  TensorBytes half;
  half.type(event::TensorType::kHalf).varints(kHalfVal, {0x3c00});  // 1.0
  EXPECT_EQ(half.decoded().content, std::string("\0\x3c", 2));
}

// torch 2.13's tensor_proto() of 1, -2, 0, 6e-8, 65504, infinity and NaN as torch.half, and of 1,
// -2.5 and 0 as torch.bfloat16. The expected bits are those of the tensors themselves.
TEST(TensorDecoding, TakesHalvesThatTorchStoredAsFloats) {
  TensorBytes half;
  half.type(event::TensorType::kHalf)
      .dimension(7)
      .varints(kHalfVal,
               {0x3f800000, 0xc0000000, 0, 0x33800000, 0x477fe000, 0x7f800000, 0x7fc00000});
  EXPECT_THAT(numbersOf<std::uint16_t>(half.decoded()),
              ElementsAre(0x3c00, 0xc000, 0, 0x0001, 0x7bff, 0x7c00, 0x7e00));

  TensorBytes bfloat;
  bfloat.type(event::TensorType::kBFloat16)
      .dimension(3)
      .varints(kHalfVal, {0x3f800000, 0xc0200000, 0});
  EXPECT_THAT(numbersOf<std::uint16_t>(bfloat.decoded()), ElementsAre(0x3f80, 0xc020, 0));
}

TEST(TensorDecoding, TakesBytesThatTorchStoredAsWiderNumbers) {
  TensorBytes bytes;
  bytes.type(event::TensorType::kUInt8).dimension(2).varints(kUInt32Val, {1, 255});
  EXPECT_THAT(numbersOf<std::uint8_t>(bytes.decoded()), ElementsAre(1, 255));
}

TEST(TensorDecoding, RepeatsTheLastValueGiven) {
  TensorBytes bytes;
  bytes.type(event::TensorType::kFloat).dimension(4).fixed<float>(kFloatVal, {1, 2});
  EXPECT_THAT(numbersOf<float>(bytes.decoded()), ElementsAre(1, 2, 2, 2));
}

TEST(TensorDecoding, FillsWithZerosIfNoValueIsGiven) {
  TensorBytes bytes;
  bytes.type(event::TensorType::kFloat).dimension(2);
  EXPECT_THAT(numbersOf<float>(bytes.decoded()), ElementsAre(0, 0));
}

TEST(TensorDecoding, KeepsATensorWithoutElements) {
  TensorBytes bytes;
  bytes.type(event::TensorType::kFloat).dimension(0);
  EXPECT_THAT(bytes.decoded().shape, ElementsAre(0));
  EXPECT_EQ(bytes.decoded().content, "");
}

TEST(TensorDecoding, KeepsATypeItDoesNotKnow) {
  constexpr auto kComplex64 = static_cast<event::TensorType>(8);
  TensorBytes bytes;
  bytes.type(kComplex64).fixed<float>(9, {1, 2});
  EXPECT_EQ(bytes.decoded().type, kComplex64);
  EXPECT_EQ(bytes.decoded().content, "");
}

TEST(TensorDecoding, DoesNotAllocateForAHugeShape) {
  TensorBytes bytes;
  bytes.type(event::TensorType::kFloat)
      .dimension(std::int64_t{1} << 40)
      .fixed<float>(kFloatVal, {1});
  EXPECT_EQ(
      bytes.failure(),
      "tensor too large: got 1 values; expected one for each of 1099511627776 elements in tag 't'");
}

TEST(TensorDecoding, RejectsAnInvalidShape) {
  TensorBytes negative;
  negative.type(event::TensorType::kFloat).dimension(-1);
  EXPECT_EQ(negative.failure(),
            "tensor shape: got dimension -1; expected 0 or more, and fewer than 2^64 elements in "
            "tag 't'");

  TensorBytes overflowing;
  overflowing.type(event::TensorType::kFloat).dimension(std::int64_t{1} << 62).dimension(8);
  EXPECT_EQ(
      overflowing.failure(),
      "tensor shape: got dimension 8; expected 0 or more, and fewer than 2^64 elements in tag 't'");
}

}  // namespace
}  // namespace steptape
