// SPDX-License-Identifier: Apache-2.0
#include "events/messages/scalar_event_encoder.h"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "steptape/events/plugin_content.h"

#include "events/framing/record_buffer.h"
#include "events/framing/record_format.h"
#include "events/messages/event_codec.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

struct Scalar {
  std::string tag;
  float value;
  bool withMetadata;
  event::SummaryMetadata metadata = {};
  ValueForm form = ValueForm::kCompatible;
};

Scalar asTensor(Scalar scalar) {
  scalar.form = ValueForm::kTensor;
  return scalar;
}

std::string encodedByHand(double wallTime, std::int64_t step, const std::vector<Scalar>& scalars) {
  detail::events::ScalarEventEncoder encoder;
  encoder.begin(wallTime, step);
  for (const Scalar& scalar : scalars) {
    encoder.add(detail::events::ScalarValueTemplate(scalar.tag, scalar.metadata, scalar.form),
                scalar.value, scalar.withMetadata);
  }
  std::string bytes;
  encoder.finish(&bytes);
  return bytes;
}

std::string encodedByProtobuf(double wallTime, std::int64_t step,
                              const std::vector<Scalar>& scalars) {
  event::Summary summary;
  for (const Scalar& scalar : scalars) {
    event::Value value;
    value.tag = scalar.tag;
    if (scalar.form == ValueForm::kCompatible) {
      value.data = scalar.value;
    } else {
      event::Tensor tensor;
      tensor.type = event::TensorType::kFloat;
      tensor.content.resize(sizeof(float));
      std::memcpy(tensor.content.data(), &scalar.value, sizeof(float));
      value.data = tensor;
    }
    const bool hasNames =
        !scalar.metadata.displayName.empty() || !scalar.metadata.description.empty();
    if (scalar.withMetadata && (hasNames || scalar.form == ValueForm::kTensor)) {
      value.metadata = scalar.metadata;
      value.metadata->pluginName = event::kScalarsPlugin;
      value.metadata->dataClass = event::DataClass::kScalar;
    }
    summary.values.push_back(value);
  }
  event::Event event;
  event.wallTime = wallTime;
  event.step = step;
  event.what = summary;
  std::string bytes;
  detail::events::encodeEvent(event, &bytes);
  return bytes;
}

/// Compares both forms.
void expectSameBytes(double wallTime, std::int64_t step, std::vector<Scalar> scalars) {
  for (const ValueForm form : {ValueForm::kCompatible, ValueForm::kTensor}) {
    for (Scalar& scalar : scalars) {
      scalar.form = form;
    }
    EXPECT_EQ(encodedByHand(wallTime, step, scalars), encodedByProtobuf(wallTime, step, scalars))
        << "wall time " << wallTime << ", step " << step << ", " << scalars.size() << " scalars";
  }
}

// The example in docs/event_file_format.md, which TensorBoard shows as 0.5 at step 300.
TEST(ScalarEventEncoder, GivesTheBytesOfTheFormatsDescription) {
  detail::events::RecordBuffer record;
  record.append(encodedByHand(1e9, 300, {{"loss", 0.5F, true}}));
  EXPECT_EQ(record.bytes(),
            std::string("\x1b\x00\x00\x00\x00\x00\x00\x00\x1a\x0d\x9e\x13"  // header
                        "\x09\x00\x00\x00\x00\x65\xcd\xcd\x41"              // wall time
                        "\x10\xac\x02"                                      // step
                        "\x2a\x0d\x0a\x0b\x0a\x04loss"                      // summary, value, tag
                        "\x15\x00\x00\x00\x3f"                              // simple_value
                        "\x94\xe7\xb4\xb0",                                 // footer
                        43));
  record.clear();
  record.append(encodedByHand(1e9, 300, {asTensor({"loss", 0.5F, true})}));
  EXPECT_EQ(record.bytes(),
            std::string("\x2f\x00\x00\x00\x00\x00\x00\x00\x6d\x5d\x1d\x50"  // header
                        "\x09\x00\x00\x00\x00\x65\xcd\xcd\x41"              // wall time
                        "\x10\xac\x02"                                      // step
                        "\x2a\x21\x0a\x1f\x0a\x04loss"                      // summary, value, tag
                        "\x42\x08\x08\x01\x22\x04\x00\x00\x00\x3f"          // tensor
                        "\x4a\x0d\x0a\x09\x0a\x07scalars\x20\x01"           // metadata
                        "\xe7\x30\x1f\x19",                                 // footer
                        63));
}

TEST(ScalarEventEncoder, LeavesOutTheMetadataOfLaterValues) {
  EXPECT_EQ(encodedByHand(1e9, 300, {asTensor({"loss", 0.5F, false})}),
            std::string("\x09\x00\x00\x00\x00\x65\xcd\xcd\x41"
                        "\x10\xac\x02"
                        "\x2a\x12\x0a\x10\x0a\x04loss"
                        "\x42\x08\x08\x01\x22\x04\x00\x00\x00\x3f",
                        32));
}

TEST(ScalarEventEncoder, EncodesOneScalarLikeProtobuf) {
  expectSameBytes(1'700'000'000.25, 1, {{"loss", 0.31F, true}});
  expectSameBytes(1'700'000'000.25, 1, {{"loss", 0.31F, false}});
}

TEST(ScalarEventEncoder, EncodesEveryStepLikeProtobuf) {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t step :
       {std::int64_t{0}, std::int64_t{127}, std::int64_t{128}, std::int64_t{1} << 40,
        std::int64_t{-1}, Limits::min(), Limits::max()}) {
    expectSameBytes(1e9, step, {{"loss", 1, true}});
  }
}

TEST(ScalarEventEncoder, EncodesEveryWallTimeLikeProtobuf) {
  for (const double wallTime : {0.0, -0.0, 1e-300, -1.5, std::numeric_limits<double>::infinity()}) {
    expectSameBytes(wallTime, 1, {{"loss", 1, true}});
  }
}

TEST(ScalarEventEncoder, EncodesEveryValueLikeProtobuf) {
  using Limits = std::numeric_limits<float>;
  for (const float value : {0.0F, -0.0F, 1e-40F, Limits::max(), Limits::infinity(),
                            -Limits::infinity(), Limits::quiet_NaN()}) {
    expectSameBytes(1e9, 1, {{"loss", value, false}, {"loss", value, true}});
  }
}

// 127 and 128 bytes: a length takes one byte, then two, at every level of nesting.
TEST(ScalarEventEncoder, EncodesTagsOfEveryLengthLikeProtobuf) {
  for (std::size_t length = 0; length < 300; ++length) {
    const std::string tag(length, 't');
    expectSameBytes(1e9, 1, {{tag, 1, true}, {tag, 2, false}});
  }
}

TEST(ScalarEventEncoder, EncodesMetadataLikeProtobuf) {
  event::SummaryMetadata metadata;
  metadata.displayName = "Loss";
  expectSameBytes(1e9, 1, {{"loss", 1, true, metadata}, {"loss", 2, false, metadata}});
  for (std::size_t length = 0; length < 300; ++length) {
    metadata.description = std::string(length, 'd');
    expectSameBytes(1e9, 1, {{"loss", 1, true, metadata}, {"loss", 2, false, metadata}});
  }
}

TEST(ScalarEventEncoder, EncodesManyScalarsLikeProtobuf) {
  std::vector<Scalar> scalars;
  for (int i = 0; i < 1000; ++i) {
    scalars.push_back({"layer/" + std::to_string(i), static_cast<float>(i), i % 3 == 0});
    if (i % 100 == 0) {
      expectSameBytes(1e9, i, scalars);
    }
  }
}

TEST(ScalarEventEncoder, EncodesNoScalarsLikeProtobuf) {
  expectSameBytes(1e9, 1, {});
}

TEST(ScalarEventEncoder, DiscardsTheLastEventWhenItBegins) {
  const detail::events::ScalarValueTemplate loss("loss");
  detail::events::ScalarEventEncoder encoder;
  encoder.begin(1, 1);
  encoder.add(loss, 1, true);
  encoder.begin(1e9, 300);
  EXPECT_EQ(encoder.size(), 0u);
  encoder.add(loss, 0.5F, false);
  EXPECT_EQ(encoder.size(), 1u);
  std::string bytes = "kept";
  encoder.finish(&bytes);
  EXPECT_EQ(bytes, "kept" + encodedByHand(1e9, 300, {{"loss", 0.5F, false}}));
}

TEST(ScalarEventEncoder, NeedsMetadataWithASimpleValueForItsNamesOnly) {
  event::SummaryMetadata named;
  named.description = "cross-entropy";
  EXPECT_FALSE(detail::events::ScalarValueTemplate("loss").hasMetadata());
  EXPECT_TRUE(detail::events::ScalarValueTemplate("loss", named).hasMetadata());
  EXPECT_TRUE(detail::events::ScalarValueTemplate("loss", {}, ValueForm::kTensor).hasMetadata());
}

TEST(ScalarEventEncoder, NeedsAtMost22BytesPerScalarForTenTagsAStep) {
  std::vector<Scalar> scalars;
  for (int i = 0; i < 10; ++i) {
    scalars.push_back({"loss/tag" + std::to_string(i), 1, false});  // 9 characters
  }
  const std::size_t bytes =
      encodedByHand(1e9, 100'000, scalars).size() + detail::events::kFramingBytes;
  EXPECT_LE(bytes, 220u);
}

}  // namespace
}  // namespace steptape
