// SPDX-License-Identifier: Apache-2.0
#include "log/export/value_json.h"

#include <string>
#include <variant>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/log/run_reader.h"
#include "steptape/log/values.h"

#include "base/got_expected.h"
#include "log/export/content_json.h"
#include "log/export/json_parts.h"
#include "log/export/tensor_json.h"
#include "log/reader/media_format.h"

namespace steptape::detail::log {
namespace {

/// The tag's metadata, and the destinations of a value.
struct Context {
  const event::SummaryMetadata& metadata;
  MediaFiles* media;
  ExportText* out;
};

void appendFiles(std::string_view open, const std::vector<std::string>& files, const Context& to) {
  appendJsonList(open, files, "]", to.out, [&](const std::string& file) {
    appendJsonMember("{", "format", mediaFormat(file), to.out);
    to.out->text() += ",\"bytes\":";
    appendJsonInteger(&to.out->text(), static_cast<std::int64_t>(file.size()));
    if (to.media != nullptr) {
      appendJsonMember(",", "file", to.media->write(file), to.out);
    }
    to.out->text() += '}';
  });
}

Status appendImages(const event::Value& value, const Context& to) {
  ImageValue images;
  Status status = decodeImages(value, &images);
  if (status.ok()) {
    std::string& text = to.out->text();
    text += "\"width\":";
    appendJsonInteger(&text, images.width);
    text += ",\"height\":";
    appendJsonInteger(&text, images.height);
    appendFiles(",\"images\":[", images.encoded, to);
  }
  return status;
}

Status appendAudio(const event::Value& value, const Context& to) {
  AudioValue audio;
  Status status = decodeAudio(value, to.metadata, &audio);
  if (status.ok()) {
    appendJsonMember("", "content_type", audio.contentType, to.out);
    if (audio.sampleRate) {
      to.out->text() += ",\"sample_rate\":";
      appendJsonReal(&to.out->text(), *audio.sampleRate);
    }
    appendFiles(",\"clips\":[", audio.encoded, to);
  }
  return status;
}

Status appendText(const event::Value& value, const Context& to) {
  TextValue text;
  Status status = decodeText(value, &text);
  if (!status.ok()) {
    return status;
  }
  if (text.strings.size() == 1) {  // of any rank: torch and tensorboardX write rank 1
    appendJsonMember("", "value", text.strings.front(), to.out);
  } else {
    to.out->text() += "\"shape\":";
    appendJsonIntegers(text.shape, to.out);
    to.out->text() += ",\"value\":";
    appendJsonStrings(text.strings, to.out);
  }
  return status;
}

Status appendHistogram(const event::Value& value, const Context& to) {
  HistogramValue histogram;
  Status status = decodeHistogram(value, &histogram);
  if (status.ok()) {
    appendJsonList("\"value\":[", histogram.buckets, "]", to.out, [&](const HistogramBucket& each) {
      appendJsonReals({each.left, each.right, each.count}, to.out);
    });
  }
  return status;
}

Status appendPrCurve(const event::Value& value, const Context& to) {
  PrCurveValue curve;
  Status status = decodePrCurve(value, &curve);
  if (status.ok()) {
    const auto appendRow = [&](const char* before, const std::vector<double>& row) {
      to.out->text() += before;
      appendJsonReals(row, to.out);
    };
    appendRow("\"value\":{\"true_positives\":", curve.truePositives);
    appendRow(",\"false_positives\":", curve.falsePositives);
    appendRow(",\"true_negatives\":", curve.trueNegatives);
    appendRow(",\"false_negatives\":", curve.falseNegatives);
    appendRow(",\"precision\":", curve.precision);
    appendRow(",\"recall\":", curve.recall);
    to.out->text() += '}';
  }
  return status;
}

const char* nameOf(event::MeshPart part) {
  switch (part) {
    case event::MeshPart::kVertex:
      return "vertices";
    case event::MeshPart::kFace:
      return "faces";
    case event::MeshPart::kColor:
      return "colors";
  }
  return "unknown";
}

void appendTypeAndShape(const event::Tensor& tensor, const char* before, ExportText* out) {
  appendJsonMember(before, "dtype", typeName(tensor.type), out);
  out->text() += ",\"shape\":";
  appendJsonIntegers(tensor.shape, out);
}

Status appendMesh(const event::Value& value, const Context& to) {
  MeshValue mesh;
  Status status = decodeMesh(value, to.metadata, &mesh);
  if (status.ok()) {
    appendJsonMember("", "mesh", mesh.mesh.name, to.out);
    appendJsonMember(",", "part", nameOf(mesh.mesh.part), to.out);
    appendTypeAndShape(mesh.numbers, ",", to.out);
    to.out->text() += ",\"bytes\":";
    appendJsonInteger(&to.out->text(), static_cast<std::int64_t>(mesh.numbers.content.size()));
  }
  return status;
}

/// The record is in the metadata; there may be no value.
Status appendHparams(const event::Value& value, const Context& to) {
  HparamsContent content;
  Status status = decodeHparamsContent(
      (value.metadata ? *value.metadata : to.metadata).pluginContent, &content);
  if (status.ok()) {
    to.out->text() += "\"value\":";
    appendJson(content, to.out);
  }
  return status;
}

Status appendLayout(const event::Value& value, const Context& to) {
  CustomScalarsLayout layout;
  Status status = decodeLayout(value, &layout);
  if (status.ok()) {
    to.out->text() += "\"value\":";
    appendJson(layout, to.out);
  }
  return status;
}

Status appendGraph(const event::Value& value, const Context& to) {
  event::Tensor graph;
  Status status = decodeTensor(value, &graph);
  if (status.ok() && graph.strings.size() != 1) {
    status = Status(
        ErrorCode::kDataLoss,
        "graph: " + base::gotExpected(std::to_string(graph.strings.size()) + " strings", "1"));
  }
  if (status.ok()) {
    to.out->text() += "\"bytes\":";
    appendJsonInteger(&to.out->text(), static_cast<std::int64_t>(graph.strings.front().size()));
  }
  return status;
}

Status appendTensor(const event::Value& value, const Context& to) {
  event::Tensor tensor;
  Status status = decodeTensor(value, &tensor);
  if (status.ok()) {
    appendTypeAndShape(tensor, "", to.out);
    to.out->text() += ",\"value\":";
    appendJsonElements(tensor, to.out);
  }
  return status;
}

using AppendPlugin = Status (*)(const event::Value& value, const Context& to);

AppendPlugin appenderOf(std::string_view plugin) {
  static constexpr std::pair<std::string_view, AppendPlugin> kPlugins[] = {
      {event::kImagesPlugin, appendImages},
      {event::kAudioPlugin, appendAudio},
      {event::kTextPlugin, appendText},
      {event::kHistogramsPlugin, appendHistogram},
      {event::kPrCurvesPlugin, appendPrCurve},
      {event::kMeshPlugin, appendMesh},
      {event::kHparamsPlugin, appendHparams},
      {event::kCustomScalarsPlugin, appendLayout},
      {kGraphsPlugin, appendGraph},
      {kTaggedRunMetadataPlugin, appendGraph},
  };
  for (const auto& [name, appender] : kPlugins) {
    if (name == plugin) {
      return appender;
    }
  }
  return appendTensor;
}

}  // namespace

void appendValueJson(const event::Value& value, const event::SummaryMetadata& metadata,
                     MediaFiles* media, ExportText* out) {
  const Context to{metadata, media, out};
  const Status status = appenderOf(metadata.pluginName)(value, to);
  // Each function appends only after checking the value.
  if (!status.ok() && !appendTensor(value, to).ok()) {
    out->text() += "\"value\":null";
    appendJsonMember(",", "problem", status.message(), out);
  }
}

}  // namespace steptape::detail::log
