// SPDX-License-Identifier: Apache-2.0
#include "events/messages/scalar_event_view.h"

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "steptape/events/plugin_content.h"

#include "events/messages/event_codec.h"
#include "events/messages/scalar_agreement.h"
#include "events/messages/wire_format.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::events::appendBytesField;
using detail::events::appendVarintField;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string littleEndian(float number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// Messages in wire format, field by field, so that tests can include fields that no encoder
/// writes.
class Wire {
 public:
  Wire& bytes(std::uint32_t field, const std::string& value) {
    appendBytesField(&out_, field, value);
    return *this;
  }
  Wire& bytes(std::uint32_t field, const Wire& value) { return bytes(field, value.out_); }
  Wire& varint(std::uint32_t field, std::uint64_t value) {
    appendVarintField(&out_, field, value);
    return *this;
  }
  Wire& float32(std::uint32_t field, float value) {
    out_.push_back(static_cast<char>(field << 3 | 5));
    out_ += littleEndian(value);
    return *this;
  }
  Wire& raw(const std::string& value) {
    out_ += value;
    return *this;
  }
  const std::string& str() const { return out_; }

 private:
  std::string out_;
};

// Field numbers in event.proto.
constexpr std::uint32_t kStep = 2;
constexpr std::uint32_t kSummary = 5;
constexpr std::uint32_t kValue = 1;
constexpr std::uint32_t kTag = 1;
constexpr std::uint32_t kSimpleValue = 2;
constexpr std::uint32_t kTensor = 8;
constexpr std::uint32_t kMetadata = 9;
constexpr std::uint32_t kType = 1;
constexpr std::uint32_t kShape = 2;
constexpr std::uint32_t kContent = 4;
constexpr std::uint32_t kFloats = 5;

std::string eventOf(const Wire& value) {
  return Wire().varint(kStep, 7).bytes(kSummary, Wire().bytes(kValue, value)).str();
}
std::string eventOfTensor(const Wire& tensor) {
  return eventOf(Wire().bytes(kTag, "loss").bytes(kTensor, tensor));
}

void expectScalar(const std::string& payload, float number) {
  const WalkedEvent walked(payload);
  ASSERT_TRUE(walked.isWhole);
  ASSERT_THAT(walked.scalars, SizeIs(1));
  EXPECT_EQ(walked.scalars[0].value, number);
  EXPECT_EQ(scalarDisagreement(payload), "");
}

void expectLeftToProtobuf(const std::string& payload) {
  EXPECT_FALSE(WalkedEvent(payload).isWhole);
}

TEST(ScalarEventView, ReadsASimpleValue) {
  const std::string payload = eventOf(Wire().bytes(kTag, "loss").float32(kSimpleValue, 0.5F));
  expectScalar(payload, 0.5F);
  const WalkedEvent walked(payload);
  EXPECT_EQ(walked.step, 7);
  EXPECT_EQ(walked.scalars[0].tag, "loss");
  EXPECT_FALSE(walked.scalars[0].isTensor);
  EXPECT_FALSE(walked.scalars[0].hasMetadata);
}

TEST(ScalarEventView, ReadsATensorInEachFormThatWritersUse) {
  const auto tensor = [] { return Wire().varint(kType, 1); };
  expectScalar(eventOfTensor(tensor().bytes(kContent, littleEndian(2))), 2);
  expectScalar(eventOfTensor(tensor().bytes(kFloats, littleEndian(3))), 3);
  expectScalar(eventOfTensor(tensor().float32(kFloats, 4)), 4);
  expectScalar(eventOfTensor(tensor().bytes(kShape, "").float32(kFloats, 5)), 5);
}

TEST(ScalarEventView, ReadsNegativeSteps) {
  const std::string payload =
      Wire()
          .varint(kStep, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::min()))
          .bytes(kSummary, "")
          .str();
  const WalkedEvent walked(payload);
  EXPECT_TRUE(walked.isWhole);
  EXPECT_EQ(walked.step, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(scalarDisagreement(payload), "");
}

TEST(ScalarEventView, ReadsStepsOfAnyLength) {
  for (int bits = 0; bits < 64; ++bits) {
    const std::int64_t power = static_cast<std::int64_t>(std::uint64_t{1} << bits);
    for (const std::int64_t step : {power, static_cast<std::int64_t>(std::uint64_t(power) - 1)}) {
      const std::string payload =
          Wire().varint(kStep, static_cast<std::uint64_t>(step)).bytes(kSummary, "").str();
      EXPECT_EQ(WalkedEvent(payload).step, step);
      EXPECT_EQ(scalarDisagreement(payload), "");
    }
  }
}

TEST(ScalarEventView, GivesNoScalarTheMetadataOfTheOneBeforeIt) {
  const Wire first = Wire()
                         .bytes(kTag, "a")
                         .float32(kSimpleValue, 1)
                         .bytes(kMetadata, Wire().bytes(2, "the display name of a"));
  const Wire second = Wire().bytes(kTag, "b").float32(kSimpleValue, 2);
  const WalkedEvent walked(
      Wire().bytes(kSummary, Wire().bytes(kValue, first).bytes(kValue, second)).str());
  ASSERT_TRUE(walked.isWhole);
  EXPECT_TRUE(walked.scalars[0].hasMetadata);
  EXPECT_FALSE(walked.scalars[1].hasMetadata);
  EXPECT_THAT(walked.scalars[1].metadata, IsEmpty());
}

TEST(ScalarEventView, LeavesFieldsThatComeTwiceToProtobuf) {
  // The last occurrence of a field counts; messages are merged.
  const Wire value = Wire().bytes(kTag, "loss").float32(kSimpleValue, 1);
  expectLeftToProtobuf(eventOf(Wire().bytes(kTag, "first").bytes(kTag, "loss")));
  expectLeftToProtobuf(
      eventOf(Wire().bytes(kTag, "loss").float32(kSimpleValue, 1).float32(kSimpleValue, 2)));
  expectLeftToProtobuf(Wire()
                           .bytes(kSummary, Wire().bytes(kValue, value))
                           .bytes(kSummary, Wire().bytes(kValue, value))
                           .str());
  expectLeftToProtobuf(
      eventOfTensor(Wire().varint(kType, 1).bytes(kContent, littleEndian(1)).float32(kFloats, 2)));
}

TEST(ScalarEventView, LeavesUnknownFieldsToProtobuf) {
  expectLeftToProtobuf(eventOf(Wire().bytes(kTag, "loss").float32(kSimpleValue, 1).varint(15, 1)));
  expectLeftToProtobuf(eventOfTensor(Wire().varint(kType, 1).float32(kFloats, 1).varint(15, 1)));
}

TEST(ScalarEventView, LeavesOtherTensorsToProtobuf) {
  const auto tensor = [](std::uint64_t type) { return Wire().varint(kType, type); };
  expectLeftToProtobuf(eventOfTensor(tensor(2).bytes(kContent, littleEndian(1))));  // double
  expectLeftToProtobuf(eventOfTensor(tensor(1).bytes(kContent, littleEndian(1) + littleEndian(2))));
  expectLeftToProtobuf(
      eventOfTensor(tensor(1).bytes(kShape, Wire().bytes(2, "")).float32(kFloats, 1)));  // rank 1
  expectLeftToProtobuf(eventOfTensor(tensor(1)));
  // Protocol Buffers takes the lower half: 1, DT_FLOAT.
  expectLeftToProtobuf(eventOfTensor(tensor((std::uint64_t{1} << 32) + 1).float32(kFloats, 1)));
}

TEST(ScalarEventView, LeavesInvalidMetadataToProtobuf) {
  for (const std::string metadata : {"\x0a", "\x0a\x05x", "\x20", "\x0a\x01\x0a", "\x13\x14"}) {
    const std::string payload =
        eventOf(Wire().bytes(kTag, "loss").float32(kSimpleValue, 1).bytes(kMetadata, metadata));
    EXPECT_FALSE(WalkedEvent(payload).isWhole) << ::testing::PrintToString(metadata);
  }
}

TEST(ScalarEventView, LeavesSizesOfMoreThanFiveBytesToProtobufWhichRefusesThem) {
  const std::string four = std::string("\x84\x80\x80\x80\x80\x00", 6);
  const std::string payload = eventOf(Wire().raw("\x0a" + four + "loss").float32(kSimpleValue, 1));
  expectLeftToProtobuf(payload);
  event::Event event;
  EXPECT_FALSE(detail::events::decodeEvent(payload, &event).ok());
}

TEST(ScalarEventView, LeavesEventsThatAreNotASummaryToProtobuf) {
  expectLeftToProtobuf("");
  expectLeftToProtobuf(Wire().varint(kStep, 1).str());
  expectLeftToProtobuf(Wire().bytes(3, "brain.Event:2").str());
}

/// Makes random events, valid ones and some others.
class RandomEvents {
 public:
  explicit RandomEvents(unsigned seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }

  std::string payload() {
    event::Event event;
    event.wallTime = oneOf<double>({0, 1.7e9, -1, std::numeric_limits<double>::quiet_NaN(),
                                    std::numeric_limits<double>::infinity()});
    event.step = oneOf<std::int64_t>({0, 1, -1, 1 << 20, std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max()});
    auto& summary = event.what.emplace<event::Summary>();
    for (std::uint32_t values = below(4); values > 0; --values) {
      summary.values.push_back(value());
    }
    std::string bytes;
    detail::events::encodeEvent(event, &bytes);
    return bytes;
  }

 private:
  template <typename T>
  T oneOf(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<std::uint32_t>(choices.size()))];
  }

  event::Value value() {
    event::Value value;
    value.tag = oneOf<std::string>({"loss", "", "a/b", std::string(200, 't'), "\xff"});
    const float number = oneOf<float>({0, -0.0F, 1.5F, std::numeric_limits<float>::quiet_NaN()});
    if (below(2) == 0) {
      value.data = number;
    } else {
      event::Tensor tensor;
      tensor.type = below(8) == 0 ? event::TensorType::kInt32 : event::TensorType::kFloat;
      tensor.content = littleEndian(number);
      if (below(8) == 0) {
        tensor.shape = {1};
      }
      value.data = tensor;
    }
    if (below(2) == 0) {
      value.metadata = metadata();
    }
    return value;
  }

  event::SummaryMetadata metadata() {
    event::SummaryMetadata metadata;
    metadata.pluginName = oneOf<std::string>({event::kScalarsPlugin, "", "images"});
    metadata.pluginContent = oneOf<std::string>({"", "\x08\x01"});
    metadata.displayName = oneOf<std::string>({"", "Loss"});
    metadata.description = oneOf<std::string>({"", "*what it is*"});
    metadata.dataClass =
        oneOf<event::DataClass>({event::DataClass::kUnknown, event::DataClass::kScalar});
    return metadata;
  }

  std::mt19937 random_;
};

TEST(ScalarEventViewProperty, AgreesWithProtobufOnWhatAnEncoderWrites) {
  RandomEvents random(1);
  int whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string payload = random.payload();
    ASSERT_EQ(scalarDisagreement(payload), "") << ::testing::PrintToString(payload);
    whole += WalkedEvent(payload).isWhole ? 1 : 0;
  }
  EXPECT_GE(whole, 5'000) << "the fast way is hardly ever taken";
}

TEST(ScalarEventViewProperty, AgreesWithProtobufOnEveryTruncation) {
  RandomEvents random(2);
  for (int i = 0; i < 300; ++i) {
    const std::string payload = random.payload();
    for (std::size_t size = 0; size < payload.size(); ++size) {
      const std::string cut = payload.substr(0, size);
      ASSERT_EQ(scalarDisagreement(cut), "") << ::testing::PrintToString(cut);
    }
  }
}

TEST(ScalarEventViewProperty, AgreesWithProtobufOnMutatedBytes) {
  RandomEvents random(3);
  int whole = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string payload = random.payload();
    for (std::uint32_t changes = 1 + random.below(3); changes > 0 && !payload.empty(); --changes) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(payload.size()));
      switch (random.below(3)) {
        case 0:
          payload[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          payload.erase(at, 1 + random.below(3));
          break;
        default:
          payload.insert(at, 1, static_cast<char>(random.below(256)));
      }
    }
    ASSERT_EQ(scalarDisagreement(payload), "") << ::testing::PrintToString(payload);
    whole += WalkedEvent(payload).isWhole ? 1 : 0;
  }
  EXPECT_GE(whole, 10'000) << "hardly any mutated event is left for the comparison";
}

}  // namespace
}  // namespace steptape
