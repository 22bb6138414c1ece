// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "steptape/wire/event.pb.h"

#include "base/got_expected.h"
#include "events/messages/event_codec.h"
#include "events/messages/event_fields.h"
#include "events/messages/mindspore_value.h"
#include "events/messages/object_bytes.h"
#include "events/messages/other_format.h"
#include "events/messages/parse_message.h"
#include "events/messages/tensor_decoder.h"
#include "events/messages/wire_fields.h"

namespace steptape {
namespace {

// Ordinary writers store a tensor of this size as bytes, and write no event of so many small
// objects.
constexpr std::uint64_t kMaxRepeatedBytes = 64 << 20;
constexpr std::uint64_t kMaxObjectBytes = 128 << 20;

// A smaller event cannot take as much memory as kMaxObjectBytes.
constexpr std::size_t kUncheckedBytes = 64 << 10;

event::SummaryMetadata metadataOf(const wire::SummaryMetadata& proto) {
  event::SummaryMetadata metadata;
  metadata.pluginName = proto.plugin_data().plugin_name();
  metadata.pluginContent = proto.plugin_data().content();
  metadata.displayName = proto.display_name();
  metadata.description = proto.summary_description();
  metadata.dataClass = static_cast<event::DataClass>(proto.data_class());
  return metadata;
}

event::SummaryImage decodeImage(wire::Summary::Image* proto) {
  return {proto->height(), proto->width(), proto->colorspace(),
          std::move(*proto->mutable_encoded_image_string())};
}

event::SummaryAudio decodeAudio(wire::Summary::Audio* proto) {
  return {proto->sample_rate(), proto->num_channels(), proto->length_frames(),
          std::move(*proto->mutable_encoded_audio_string()), proto->content_type()};
}

event::SummaryHistogram decodeHistogram(const wire::HistogramProto& proto) {
  return {proto.min(),
          proto.max(),
          proto.num(),
          proto.sum(),
          proto.sum_squares(),
          {proto.bucket_limit().begin(), proto.bucket_limit().end()},
          {proto.bucket().begin(), proto.bucket().end()}};
}

/// Returns whether a value lacks what each of TensorFlow's has, so that it may be MindSpore's.
bool mayBeMindSpores(const wire::Summary::Value& value) {
  const wire::TensorProto& tensor = value.tensor();
  switch (value.value_case()) {
    case wire::Summary::Value::VALUE_NOT_SET:
      return value.metadata().plugin_data().plugin_name().empty();
    case wire::Summary::Value::kTensor:
      return !tensor.has_tensor_shape() && tensor.tensor_content().empty() &&
             tensor.float_val().empty() && tensor.string_val().empty();
    default:
      return false;
  }
}

/// Decodes the values of `payload` that are MindSpore's.
void decodeMindSporeValues(std::string_view payload, event::Summary* summary) {
  std::size_t number = 0;
  detail::events::forEachField(payload, [&](const detail::events::WireField& field) {
    if (field.number != detail::events::kEventSummary) {
      return;
    }
    detail::events::forEachField(field.data, [&](const detail::events::WireField& value) {
      if (value.number == detail::events::kSummaryValue && number < summary->values.size()) {
        static_cast<void>(
            detail::events::decodeMindSporeValue(value.data, &summary->values[number++]));
      }
    });
  });
}

Status decodeValue(wire::Summary::Value* proto, std::uint64_t* repeatable, event::Value* value) {
  value->tag = proto->tag().empty() ? proto->node_name() : proto->tag();
  if (proto->has_metadata()) {
    value->metadata = metadataOf(proto->metadata());
  }
  switch (proto->value_case()) {
    case wire::Summary::Value::kSimpleValue:
      value->data = proto->simple_value();
      break;
    case wire::Summary::Value::kImage:
      value->data = decodeImage(proto->mutable_image());
      break;
    case wire::Summary::Value::kHisto:
      value->data = decodeHistogram(proto->histo());
      break;
    case wire::Summary::Value::kAudio:
      value->data = decodeAudio(proto->mutable_audio());
      break;
    case wire::Summary::Value::kTensor:
      return detail::events::decodeTensor(proto->mutable_tensor(), repeatable,
                                          &value->data.emplace<event::Tensor>());
    case wire::Summary::Value::VALUE_NOT_SET:
      break;
  }
  return Status();
}

Status decodeSummary(wire::Summary* proto, event::Summary* summary) {
  std::uint64_t repeatable = kMaxRepeatedBytes;
  summary->values.resize(static_cast<std::size_t>(proto->value_size()));
  for (int i = 0; i < proto->value_size(); ++i) {
    event::Value& value = summary->values[static_cast<std::size_t>(i)];
    const Status status = decodeValue(proto->mutable_value(i), &repeatable, &value);
    if (!status.ok()) {
      return Status(status.code(), status.message() + " in tag '" + value.tag + "'");
    }
  }
  return Status();
}

Status decodeWhat(wire::Event* proto, event::Event::What* what) {
  switch (proto->what_case()) {
    case wire::Event::kFileVersion:
      *what = event::FileVersion{proto->file_version()};
      break;
    case wire::Event::kGraphDef:
      *what = event::GraphDef{std::move(*proto->mutable_graph_def())};
      break;
    case wire::Event::kMetaGraphDef:
      *what = event::MetaGraphDef{std::move(*proto->mutable_meta_graph_def())};
      break;
    case wire::Event::kSummary:
      return decodeSummary(proto->mutable_summary(), &what->emplace<event::Summary>());
    case wire::Event::kSessionLog: {
      const wire::SessionLog& log = proto->session_log();
      *what = event::SessionLog{static_cast<event::SessionLog::Status>(log.status()),
                                log.checkpoint_path(), log.msg()};
      break;
    }
    case wire::Event::kTaggedRunMetadata: {
      wire::TaggedRunMetadata* const metadata = proto->mutable_tagged_run_metadata();
      *what =
          event::TaggedRunMetadata{metadata->tag(), std::move(*metadata->mutable_run_metadata())};
      break;
    }
    case wire::Event::WHAT_NOT_SET:
      *what = std::monostate();
      break;
  }
  return Status();
}

}  // namespace

Status detail::events::decodeEvent(std::string_view payload, event::Event* event) {
  if (payload.size() > kUncheckedBytes) {
    if (const std::uint64_t bytes = detail::events::objectBytes(payload); bytes > kMaxObjectBytes) {
      return Status(ErrorCode::kDataLoss,
                    "event of too many small parts: " +
                        detail::base::gotExpected(std::to_string(bytes) + " bytes of memory",
                                                  "at most " + std::to_string(kMaxObjectBytes)));
    }
  }
  if (const char* const format = detail::events::otherFormatOf(payload)) {
    return Status(ErrorCode::kDataLoss,
                  "record: " + detail::base::gotExpected(format, "a tensorflow.Event message"));
  }
  wire::Event proto;
  if (!detail::events::parseMessage(payload, &proto)) {
    return Status(
        ErrorCode::kDataLoss,
        "record: " + detail::base::gotExpected(std::to_string(payload.size()) + " other bytes",
                                               "a tensorflow.Event message"));
  }
  event->wallTime = proto.wall_time();
  event->step = proto.step();
  event->sourceWriter = proto.source_metadata().writer();
  const auto& values = proto.summary().value();
  const bool mayHaveMindSpores = std::any_of(values.begin(), values.end(), mayBeMindSpores);
  Status status = decodeWhat(&proto, &event->what);
  if (auto* summary = std::get_if<event::Summary>(&event->what);
      summary != nullptr && mayHaveMindSpores && status.ok()) {
    decodeMindSporeValues(payload, summary);
  }
  return status;
}

Status detail::events::decodeMetadata(std::string_view bytes, event::SummaryMetadata* metadata) {
  wire::SummaryMetadata proto;
  if (!detail::events::parseMessage(bytes, &proto)) {
    return Status(
        ErrorCode::kDataLoss,
        "metadata: " + detail::base::gotExpected(std::to_string(bytes.size()) + " other bytes",
                                                 "a tensorflow.SummaryMetadata message"));
  }
  *metadata = metadataOf(proto);
  return Status();
}

}  // namespace steptape
