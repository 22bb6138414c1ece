// SPDX-License-Identifier: Apache-2.0
#include "events/messages/add_metadata.h"

#include <string>
#include <variant>

#include "events/messages/event_codec.h"

#include <gmock/gmock.h>

namespace steptape::detail::events {
namespace {

using ::testing::ElementsAre;

event::Value scalar(const std::string& tag) {
  event::Tensor tensor;
  tensor.type = event::TensorType::kFloat;
  tensor.content.assign(4, '\0');
  return {tag, tensor, {}};
}

std::string encoded(const std::vector<event::Value>& values) {
  event::Event event;
  event.wallTime = 1.5;
  event.step = 7;
  event.what = event::Summary{values};
  std::string bytes;
  encodeEvent(event, &bytes);
  return bytes;
}

event::SummaryMetadata metadataOf(const std::string& plugin) {
  event::SummaryMetadata metadata;
  metadata.pluginName = plugin;
  metadata.dataClass = event::DataClass::kScalar;
  return metadata;
}

/// Returns the plugin of each value, "none" if there is no metadata.
std::vector<std::string> pluginsOf(const std::string& bytes) {
  event::Event event;
  EXPECT_TRUE(decodeEvent(bytes, &event).ok());
  std::vector<std::string> plugins;
  for (const event::Value& value : std::get<event::Summary>(event.what).values) {
    plugins.push_back(value.metadata ? value.metadata->pluginName : "none");
  }
  return plugins;
}

TEST(AddMetadata, GivesWhatTheWriterWouldHaveWritten) {
  event::Value described = scalar("loss");
  described.metadata = metadataOf("scalars");
  EXPECT_EQ(addMetadata(encoded({scalar("loss")}), {{"loss", metadataOf("scalars")}}),
            encoded({described}));
}

TEST(AddMetadata, DescribesTheFirstValueOfEachTagOnly) {
  const std::string event = encoded({scalar("a"), scalar("b"), scalar("c"), scalar("b")});
  EXPECT_THAT(pluginsOf(addMetadata(event, {{"b", metadataOf("x")}, {"c", metadataOf("y")}})),
              ElementsAre("none", "x", "y", "none"));
}

TEST(AddMetadata, LeavesAnEventWithoutTheTagAlone) {
  const std::string event = encoded({scalar("loss")});
  EXPECT_EQ(addMetadata(event, {{"other", metadataOf("scalars")}}), event);
}

TEST(AddMetadata, MergesWithExistingMetadata) {
  event::Value value = scalar("loss");
  value.metadata.emplace().displayName = "Loss";
  event::Event event;
  ASSERT_TRUE(
      decodeEvent(addMetadata(encoded({value}), {{"loss", metadataOf("scalars")}}), &event).ok());
  const event::SummaryMetadata& metadata =
      *std::get<event::Summary>(event.what).values.at(0).metadata;
  EXPECT_EQ(metadata.displayName, "Loss");
  EXPECT_EQ(metadata.pluginName, "scalars");
  EXPECT_EQ(metadata.dataClass, event::DataClass::kScalar);
}

TEST(AddMetadata, KeepsFieldsItDoesNotKnow) {
  // Field 127 of the event with the data "new", encoded by hand.
  const std::string unknown("\xfa\x07\x03new", 6);
  const std::string event = encoded({scalar("loss")});
  const MetadataByTag metadata{{"loss", metadataOf("scalars")}};
  EXPECT_EQ(addMetadata(unknown + event + unknown, metadata),
            unknown + addMetadata(event, metadata) + unknown);
}

}  // namespace
}  // namespace steptape::detail::events
