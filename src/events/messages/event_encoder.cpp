// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <variant>

#include "steptape/wire/event.pb.h"

#include "base/got_expected.h"
#include "events/messages/event_codec.h"

namespace steptape {
namespace {

void encode(const event::SummaryMetadata& metadata, wire::SummaryMetadata* out) {
  if (!metadata.pluginName.empty() || !metadata.pluginContent.empty()) {
    out->mutable_plugin_data()->set_plugin_name(metadata.pluginName);
    out->mutable_plugin_data()->set_content(metadata.pluginContent);
  }
  out->set_display_name(metadata.displayName);
  out->set_summary_description(metadata.description);
  out->set_data_class(static_cast<std::int32_t>(metadata.dataClass));
}

void encode(const event::Tensor& tensor, wire::TensorProto* out) {
  out->set_dtype(static_cast<std::int32_t>(tensor.type));
  // A tensor without a shape has rank 0. Omitting the shape saves two bytes per scalar.
  for (const std::int64_t size : tensor.shape) {
    out->mutable_tensor_shape()->add_dim()->set_size(size);
  }
  out->set_tensor_content(tensor.content);
  for (const std::string& text : tensor.strings) {
    out->add_string_val(text);
  }
}

/// One overload per alternative of Value::Data.
struct ValueEncoder {
  wire::Summary::Value* out;

  void operator()(std::monostate) const {}
  void operator()(float value) const { out->set_simple_value(value); }
  void operator()(const event::Tensor& tensor) const { encode(tensor, out->mutable_tensor()); }
  void operator()(const event::SummaryImage& image) const {
    wire::Summary::Image* proto = out->mutable_image();
    proto->set_height(image.height);
    proto->set_width(image.width);
    proto->set_colorspace(image.colorspace);
    proto->set_encoded_image_string(image.encoded);
  }
  void operator()(const event::SummaryAudio& audio) const {
    wire::Summary::Audio* proto = out->mutable_audio();
    proto->set_sample_rate(audio.sampleRate);
    proto->set_num_channels(audio.numChannels);
    proto->set_length_frames(audio.lengthFrames);
    proto->set_encoded_audio_string(audio.encoded);
    proto->set_content_type(audio.contentType);
  }
  void operator()(const event::SummaryHistogram& histogram) const {
    wire::HistogramProto* proto = out->mutable_histo();
    proto->set_min(histogram.min);
    proto->set_max(histogram.max);
    proto->set_num(histogram.num);
    proto->set_sum(histogram.sum);
    proto->set_sum_squares(histogram.sumSquares);
    proto->mutable_bucket_limit()->Add(histogram.bucketLimits.begin(),
                                       histogram.bucketLimits.end());
    proto->mutable_bucket()->Add(histogram.bucketCounts.begin(), histogram.bucketCounts.end());
  }
};

/// One overload per alternative of Event::What.
struct WhatEncoder {
  wire::Event* out;

  void operator()(std::monostate) const {}
  void operator()(const event::FileVersion& version) const {
    out->set_file_version(version.version);
  }
  void operator()(const event::GraphDef& graph) const { out->set_graph_def(graph.bytes); }
  void operator()(const event::MetaGraphDef& graph) const { out->set_meta_graph_def(graph.bytes); }
  void operator()(const event::Summary& summary) const {
    wire::Summary* proto = out->mutable_summary();
    for (const event::Value& value : summary.values) {
      wire::Summary::Value* item = proto->add_value();
      item->set_tag(value.tag);
      std::visit(ValueEncoder{item}, value.data);
      if (value.metadata) {
        encode(*value.metadata, item->mutable_metadata());
      }
    }
  }
  void operator()(const event::SessionLog& log) const {
    wire::SessionLog* proto = out->mutable_session_log();
    proto->set_status(static_cast<wire::SessionLog::SessionStatus>(log.status));
    proto->set_checkpoint_path(log.checkpointPath);
    proto->set_msg(log.message);
  }
  void operator()(const event::TaggedRunMetadata& metadata) const {
    out->mutable_tagged_run_metadata()->set_tag(metadata.tag);
    out->mutable_tagged_run_metadata()->set_run_metadata(metadata.bytes);
  }
};

template <typename Message>
void append(const Message& message, const char* name, std::string* out) {
  if (!message.AppendToString(out)) {
    detail::base::reject(std::to_string(message.ByteSizeLong()) + " bytes", "less than 2 GiB",
                         name);
  }
}

}  // namespace

void detail::events::encodeEvent(const event::Event& event, std::string* out) {
  wire::Event proto;
  proto.set_wall_time(event.wallTime);
  proto.set_step(event.step);
  std::visit(WhatEncoder{&proto}, event.what);
  if (!event.sourceWriter.empty()) {
    proto.mutable_source_metadata()->set_writer(event.sourceWriter);
  }
  append(proto, "an event", out);
}

void detail::events::encodeMetadata(const event::SummaryMetadata& metadata, std::string* out) {
  wire::SummaryMetadata proto;
  encode(metadata, &proto);
  append(proto, "metadata", out);
}

void detail::events::encodeTensor(const event::Tensor& tensor, std::string* out) {
  wire::TensorProto proto;
  encode(tensor, &proto);
  append(proto, "a tensor", out);
}

}  // namespace steptape
