// SPDX-License-Identifier: Apache-2.0
// Files of other writers are read as their readers read them; see tests/golden/README.md.
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "steptape/events/record_reader.h"

#include "events/messages/event_codec.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

constexpr double kWallTime = 1'700'000'000.5;

class GoldenFile : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { load(GetParam()); }

  void load(const std::string& name) {
    const std::string path = STEPTAPE_SOURCE_DIR "/tests/golden/" + name;
    RecordReader reader(std::make_unique<FileByteSource>(path));
    std::string_view payload;
    while (reader.next(&payload) == ReadOutcome::kRecord) {
      event::Event event;
      const Status status = detail::events::decodeEvent(payload, &event);
      ASSERT_TRUE(status.ok()) << status.message();
      events_.push_back(event);
    }
    ASSERT_TRUE(reader.lastError().ok()) << reader.lastError().message();
    ASSERT_FALSE(events_.empty());
  }

  /// Returns the only value of `tag`, after checking its step and time.
  event::Value valueOf(const std::string& tag, std::int64_t step) const {
    for (const event::Event& event : events_) {
      const auto* summary = std::get_if<event::Summary>(&event.what);
      if (summary != nullptr && summary->values.at(0).tag == tag && event.step == step) {
        EXPECT_EQ(event.wallTime,
                  tag == "loss/train" ? kWallTime + static_cast<double>(step) : kWallTime);
        return summary->values.at(0);
      }
    }
    ADD_FAILURE() << "no value of " << tag << " at step " << step;
    return {};
  }

  std::vector<event::Event> events_;
};

TEST_P(GoldenFile, BeginsWithItsVersion) {
  EXPECT_EQ(std::get<event::FileVersion>(events_.at(0).what).version, "brain.Event:2");
}

TEST_P(GoldenFile, HoldsItsScalars) {
  EXPECT_EQ(std::get<float>(valueOf("loss/train", 0).data), 1.0F);
  EXPECT_EQ(std::get<float>(valueOf("loss/train", 1).data), 0.5F);
  EXPECT_EQ(std::get<float>(valueOf("loss/train", 2).data), 1.0F / 3.0F);
  EXPECT_TRUE(std::isnan(std::get<float>(valueOf("diverged", 3).data)));
}

TEST_P(GoldenFile, HoldsItsHistogram) {
  const auto histogram = std::get<event::SummaryHistogram>(valueOf("weights", 1).data);
  EXPECT_EQ(histogram.min, -1);
  EXPECT_EQ(histogram.max, 2);
  EXPECT_EQ(histogram.num, 5);
  EXPECT_EQ(histogram.sum, 2);
  EXPECT_EQ(histogram.sumSquares, 5.5);
  EXPECT_EQ(histogram.bucketLimits.size(), histogram.bucketCounts.size());
}

TEST_P(GoldenFile, HoldsItsImage) {
  const auto image = std::get<event::SummaryImage>(valueOf("sample", 2).data);
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.width, 2);
  EXPECT_EQ(image.colorspace, 3);
  EXPECT_THAT(image.encoded, StartsWith("\x89PNG"));
}

TEST_P(GoldenFile, HoldsItsText) {
  const event::Value value = valueOf("note/text_summary", 4);
  EXPECT_EQ(value.metadata.value().pluginName, "text");
  EXPECT_THAT(std::get<event::Tensor>(value.data).strings, ElementsAre("*markdown*"));
}

INSTANTIATE_TEST_SUITE_P(Peers, GoldenFile,
                         ::testing::Values("torch.tfevents", "tensorboardx.tfevents"));

class TorchFile : public GoldenFile {
 protected:
  void SetUp() override { load("torch.tfevents"); }
};

TEST_F(TorchFile, HoldsANewStyleScalar) {
  const auto tensor = std::get<event::Tensor>(valueOf("accuracy", 5).data);
  EXPECT_EQ(tensor.type, event::TensorType::kFloat);
  EXPECT_EQ(tensor.content, std::string("\0\0\x40\x3f", 4));  // 0.75
}

TEST_F(TorchFile, HoldsADoubleScalar) {
  const auto tensor = std::get<event::Tensor>(valueOf("precise", 6).data);
  EXPECT_EQ(tensor.type, event::TensorType::kDouble);
  double value = 0;
  ASSERT_EQ(tensor.content.size(), sizeof value);
  std::memcpy(&value, tensor.content.data(), sizeof value);
  EXPECT_EQ(value, 0.1);
}

TEST_F(TorchFile, HoldsItsAudio) {
  const auto audio = std::get<event::SummaryAudio>(valueOf("tone", 8).data);
  EXPECT_EQ(audio.sampleRate, 8000);
  EXPECT_EQ(audio.contentType, "audio/wav");
  EXPECT_THAT(audio.encoded, StartsWith("RIFF"));
}

class TensorboardXFile : public GoldenFile {
 protected:
  void SetUp() override { load("tensorboardx.tfevents"); }
};

TEST_F(TensorboardXFile, HoldsItsDisplayName) {
  const event::SummaryMetadata metadata = valueOf("named", 7).metadata.value();
  EXPECT_EQ(metadata.displayName, "Name");
  EXPECT_EQ(metadata.description, "What it is");
}

class MindSporeFile : public GoldenFile {
 protected:
  void SetUp() override { load("mindspore.summary"); }

  const event::Value& valueAt(std::size_t step, std::size_t number) const {
    return std::get<event::Summary>(events_.at(step + 1).what).values.at(number);
  }
  /// Returns the elements of a value's tensor.
  template <typename Number>
  static std::vector<Number> numbersOf(const event::Value& value) {
    const std::string& content = std::get<event::Tensor>(value.data).content;
    std::vector<Number> numbers(content.size() / sizeof(Number));
    std::memcpy(numbers.data(), content.data(), content.size());
    return numbers;
  }
};

TEST_F(MindSporeFile, HoldsItsScalars) {
  EXPECT_EQ(valueAt(2, 0).tag, "loss");
  EXPECT_EQ(std::get<float>(valueAt(2, 0).data), 1.0F);
  EXPECT_FALSE(valueAt(2, 0).metadata);
}

TEST_F(MindSporeFile, HoldsItsImage) {
  const auto image = std::get<event::SummaryImage>(valueAt(0, 1).data);
  EXPECT_EQ(image.width, 3);
  EXPECT_THAT(image.encoded, StartsWith("\x89PNG"));
}

TEST_F(MindSporeFile, HoldsItsTensorAsFloats) {
  const event::Value& value = valueAt(0, 2);
  const auto tensor = std::get<event::Tensor>(value.data);
  EXPECT_EQ(value.metadata.value().pluginName, "tensor");
  EXPECT_EQ(tensor.type, event::TensorType::kFloat);
  EXPECT_THAT(tensor.shape, ElementsAre(2, 3));
  EXPECT_THAT(numbersOf<float>(value), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(MindSporeFile, HoldsItsHistogramWithEdges) {
  const event::Value& value = valueAt(0, 3);
  EXPECT_EQ(value.metadata.value().pluginName, "histograms");
  EXPECT_THAT(std::get<event::Tensor>(value.data).shape, ElementsAre(2, 3));
  EXPECT_THAT(numbersOf<double>(value), ElementsAre(-1, 0, 3, 0, 1, 4));
}

TEST_F(MindSporeFile, NamesItsLossLandscape) {
  const event::Value& value = valueAt(2, 4);
  EXPECT_EQ(value.tag, "landscape");
  EXPECT_EQ(value.metadata.value().pluginName, "loss_landscape");
  EXPECT_EQ(std::get<event::Tensor>(value.data).strings.size(), 1u);
}

}  // namespace
}  // namespace steptape
