// SPDX-License-Identifier: Apache-2.0
#include "events/messages/event_codec.h"

#include <string>

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string encoded(const event::Event& event) {
  std::string bytes;
  detail::events::encodeEvent(event, &bytes);
  return bytes;
}

event::Event decoded(const std::string& bytes) {
  event::Event event;
  const Status status = detail::events::decodeEvent(bytes, &event);
  EXPECT_TRUE(status.ok()) << status.message();
  return event;
}

event::Event roundTrip(event::Event::What what) {
  event::Event event;
  event.what = std::move(what);
  return decoded(encoded(event));
}

template <typename Data>
Data roundTripData(Data data) {
  event::Value value;
  value.tag = "tag";
  value.data = std::move(data);
  return std::get<Data>(
      std::get<event::Summary>(roundTrip(event::Summary{{value}}).what).values.at(0).data);
}

// Bytes written by TensorFlow. @source tensorboard/data/server/tf_record.rs, test_success
TEST(EventCodec, WritesAFileVersionAsTensorFlowDoes) {
  const std::string golden =
      std::string("\x09\x00\x00\x80\x38\x99\xd6\xd7\x41\x1a\x0d", 11) + "brain.Event:2";
  const event::Event event = decoded(golden);
  EXPECT_EQ(std::get<event::FileVersion>(event.what).version, "brain.Event:2");
  EXPECT_EQ(event.wallTime, 1'599'759'586.0);
  EXPECT_EQ(encoded(event), golden);
}

TEST(EventCodec, AppendsToExistingBytes) {
  event::Event event;
  event.step = 1;
  std::string bytes = "kept";
  detail::events::encodeEvent(event, &bytes);
  EXPECT_EQ(bytes, "kept\x10\x01");
}

TEST(EventCodec, KeepsTimeStepAndWriter) {
  event::Event event;
  event.wallTime = 1'700'000'000.125;
  event.step = -5;
  event.sourceWriter = "steptape";
  const event::Event back = decoded(encoded(event));
  EXPECT_EQ(back.wallTime, event.wallTime);
  EXPECT_EQ(back.step, -5);
  EXPECT_EQ(back.sourceWriter, "steptape");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(back.what));
}

TEST(EventCodec, KeepsASessionLog) {
  const event::SessionLog log = std::get<event::SessionLog>(
      roundTrip(event::SessionLog{event::SessionLog::Status::kStart, "ckpt", "hello"}).what);
  EXPECT_EQ(log.status, event::SessionLog::Status::kStart);
  EXPECT_EQ(log.checkpointPath, "ckpt");
  EXPECT_EQ(log.message, "hello");
}

TEST(EventCodec, KeepsGraphs) {
  const std::string bytes("\0\xff", 2);
  EXPECT_EQ(std::get<event::GraphDef>(roundTrip(event::GraphDef{bytes}).what).bytes, bytes);
  EXPECT_EQ(std::get<event::MetaGraphDef>(roundTrip(event::MetaGraphDef{bytes}).what).bytes, bytes);
  const auto metadata =
      std::get<event::TaggedRunMetadata>(roundTrip(event::TaggedRunMetadata{"step1", bytes}).what);
  EXPECT_EQ(metadata.tag, "step1");
  EXPECT_EQ(metadata.bytes, bytes);
}

TEST(EventCodec, KeepsMetadata) {
  event::Value value;
  value.metadata = event::SummaryMetadata{"images", std::string("\x10\0", 2), "Name", "What it is",
                                          event::DataClass::kBlobSequence};
  const event::Summary summary = std::get<event::Summary>(roundTrip(event::Summary{{value}}).what);
  const event::SummaryMetadata& metadata = summary.values.at(0).metadata.value();
  EXPECT_EQ(metadata.pluginName, "images");
  EXPECT_EQ(metadata.pluginContent, std::string("\x10\0", 2));
  EXPECT_EQ(metadata.displayName, "Name");
  EXPECT_EQ(metadata.description, "What it is");
  EXPECT_EQ(metadata.dataClass, event::DataClass::kBlobSequence);
}

TEST(EventCodec, DistinguishesMissingFromEmptyMetadata) {
  event::Value without;
  event::Value empty;
  empty.metadata.emplace();
  const event::Summary summary =
      std::get<event::Summary>(roundTrip(event::Summary{{without, empty}}).what);
  EXPECT_FALSE(summary.values.at(0).metadata.has_value());
  EXPECT_TRUE(summary.values.at(1).metadata.has_value());
}

TEST(EventCodec, KeepsATensor) {
  event::Tensor tensor;
  tensor.type = event::TensorType::kInt16;
  tensor.shape = {1, 2};
  tensor.content = std::string("\1\0\2\0", 4);
  const event::Tensor back = roundTripData(tensor);
  EXPECT_EQ(back.type, event::TensorType::kInt16);
  EXPECT_THAT(back.shape, ElementsAre(1, 2));
  EXPECT_EQ(back.content, tensor.content);
}

TEST(EventCodec, KeepsATensorOfStrings) {
  event::Tensor tensor;
  tensor.type = event::TensorType::kString;
  tensor.shape = {2};
  tensor.strings = {"one", std::string("\0\xff", 2)};
  EXPECT_EQ(roundTripData(tensor).strings, tensor.strings);
}

TEST(EventCodec, KeepsTheCompatibleForms) {
  EXPECT_EQ(roundTripData(0.0F), 0.0F);

  const auto image = roundTripData(event::SummaryImage{2, 3, 4, "png"});
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.width, 3);
  EXPECT_EQ(image.colorspace, 4);
  EXPECT_EQ(image.encoded, "png");

  const auto audio = roundTripData(event::SummaryAudio{44100, 2, 10, "wav", "audio/wav"});
  EXPECT_EQ(audio.sampleRate, 44100);
  EXPECT_EQ(audio.numChannels, 2);
  EXPECT_EQ(audio.lengthFrames, 10);
  EXPECT_EQ(audio.encoded, "wav");
  EXPECT_EQ(audio.contentType, "audio/wav");

  const auto histogram = roundTripData(event::SummaryHistogram{1, 2, 3, 4, 5, {1, 2}, {3, 0}});
  EXPECT_EQ(histogram.min, 1);
  EXPECT_EQ(histogram.max, 2);
  EXPECT_EQ(histogram.num, 3);
  EXPECT_EQ(histogram.sum, 4);
  EXPECT_EQ(histogram.sumSquares, 5);
  EXPECT_THAT(histogram.bucketLimits, ElementsAre(1, 2));
  EXPECT_THAT(histogram.bucketCounts, ElementsAre(3, 0));
}

TEST(EventCodec, ReadsATagThatIsNotUtf8) {
  event::Value value;
  value.tag = "loss\xff";
  EXPECT_EQ(std::get<event::Summary>(roundTrip(event::Summary{{value}}).what).values.at(0).tag,
            "loss\xff");
}

TEST(EventCodec, SkipsFieldsItDoesNotKnow) {
  EXPECT_EQ(decoded(std::string("\x10\x07\xfa\x07\x03new", 8)).step, 7);  // field 127
}

TEST(EventCodec, RejectsOtherBytes) {
  event::Event event;
  const Status status = detail::events::decodeEvent("\x10", &event);  // a step without its number
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kDataLoss);
  EXPECT_EQ(status.message(), "record: got 1 other bytes; expected a tensorflow.Event message");
}

TEST(EventCodec, TakesTheTagOfOldWritersFromTheNodesName) {
  const std::string value = "\x3a\x04node\x15" + std::string("\0\0\x80\x3f", 4);
  const event::Event event = decoded("\x2a\x0d\x0a\x0b" + value);
  EXPECT_EQ(std::get<event::Summary>(event.what).values.at(0).tag, "node");
}

TEST(EventCodec, NamesFormatsThatAreFramedAlike) {
  event::Event event;
  // tf.train.Example: features, a map, of texts.
  const Status example = detail::events::decodeEvent("\x0a\x05\x0a\x03\x0a\x01x", &event);
  EXPECT_EQ(
      example.message(),
      "record: got a tf.train.Example or another message; expected a tensorflow.Event message");
  // VisualDL's Record: values, each with its number first.
  const Status visual = detail::events::decodeEvent("\x0a\x07\x08\x01\x12\x03tag", &event);
  EXPECT_EQ(visual.message(),
            "record: got a record of VisualDL; expected a tensorflow.Event message");
}

TEST(EventCodec, DoesNotTakeTheMetadataOfAValueForMindSporesHistogram) {
  event::Value value;
  value.tag = "_hparams_/session_start_info";
  value.metadata.emplace();
  value.metadata->displayName = "name";
  value.metadata->dataClass = event::DataClass::kTensor;
  const event::Event event = roundTrip(event::Summary{{value}});
  const event::Value& decodedValue = std::get<event::Summary>(event.what).values.at(0);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(decodedValue.data));
  EXPECT_EQ(decodedValue.metadata.value().displayName, "name");
}

}  // namespace
}  // namespace steptape
