// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/value_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/log/run_reader.h"
#include "steptape/log/values.h"

#include "base/text.h"
#include "log/reader/media_format.h"
#include "tools/steptape/tables/human_text.h"

namespace steptape::tools {
namespace {

using detail::base::startsWith;

std::string unreadable(const Status& status) {
  return "not readable: " + status.message();
}

/// Returns "4x28x28"; "scalar" for rank 0.
std::string shapeText(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

/// Returns the format by the first bytes of the file; empty for other formats.
std::string imageFormat(std::string_view file) {
  const std::string_view format = detail::log::mediaFormat(file);
  if (format == "png") {
    // An animated PNG has the chunk acTL before its pixels, in the first chunk after the header.
    return file.substr(0, 64).find("acTL") == std::string_view::npos ? "PNG" : "animated PNG";
  }
  static const std::vector<std::pair<std::string_view, const char*>> kNames{
      {"gif", "GIF"}, {"jpg", "JPEG"}, {"bmp", "BMP"}, {"webp", "WebP"}};
  for (const auto& [known, name] : kNames) {
    if (known == format) {
      return name;
    }
  }
  return "";
}

std::string describeImages(const event::Value& value) {
  ImageValue images;
  if (Status status = decodeImages(value, &images); !status.ok()) {
    return unreadable(status);
  }
  const std::string format = images.encoded.empty() ? "" : imageFormat(images.encoded.front());
  const std::string count =
      images.encoded.size() == 1 ? "" : counted(images.encoded.size(), "image") + " of ";
  return fmt::format("{}{}x{}{}{}", count, images.width, images.height, format.empty() ? "" : " ",
                     format);
}

/// Returns the unsigned little-endian number of `bytes` bytes at `offset`. REQUIRES: it is in the
/// file.
std::uint32_t littleEndianAt(std::string_view file, std::size_t offset, std::size_t bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = bytes; i > 0; --i) {
    number = number << 8 | static_cast<unsigned char>(file[offset + i - 1]);
  }
  return number;
}

std::string soundText(double sampleRate, std::int64_t channels, double seconds) {
  const std::string kind = channels == 1   ? "mono"
                           : channels == 2 ? "stereo"
                                           : fmt::format("{} channels", channels);
  return fmt::format("{:.0f} Hz {}, {}", sampleRate, kind, humanDuration(seconds));
}

/// Describes a WAV file by its header; empty for the rare other headers.
/// @source Multimedia Programming Interface and Data Specifications 1.0, "Waveform Audio File
///         Format": "fmt " first, then "data"
std::string describeWav(std::string_view file) {
  constexpr std::size_t kHeaderBytes = 44;
  if (file.size() < kHeaderBytes || !startsWith(file, "RIFF") || file.substr(8, 8) != "WAVEfmt " ||
      file.substr(36, 4) != "data") {
    return "";
  }
  const std::uint32_t bytesPerSecond = littleEndianAt(file, 28, 4);
  const std::uint32_t bytes = littleEndianAt(file, 40, 4);
  return soundText(littleEndianAt(file, 24, 4), littleEndianAt(file, 22, 2),
                   bytesPerSecond == 0 ? 0 : static_cast<double>(bytes) / bytesPerSecond);
}

std::string describeAudio(const event::Value& value, const event::SummaryMetadata& metadata) {
  AudioValue audio;
  if (Status status = decodeAudio(value, metadata, &audio); !status.ok()) {
    return unreadable(status);
  }
  const std::string count =
      audio.encoded.size() == 1 ? "" : counted(audio.encoded.size(), "clip") + ", ";
  if (audio.sampleRate && *audio.sampleRate > 0) {
    const double seconds = static_cast<double>(audio.frames.value_or(0)) / *audio.sampleRate;
    return count + soundText(*audio.sampleRate, audio.channels.value_or(1), seconds);
  }
  const std::string sound = audio.encoded.empty() ? "" : describeWav(audio.encoded.front());
  return count + (sound.empty() ? audio.contentType : sound);
}

std::string describeText(const event::Value& value) {
  TextValue text;
  if (Status status = decodeText(value, &text); !status.ok()) {
    return unreadable(status);
  }
  if (text.strings.size() != 1) {
    return "table " + shapeText(text.shape);
  }
  constexpr std::size_t kShownBytes = 200;
  const std::string& whole = text.strings.front();
  const std::string start = whole.substr(0, std::min(whole.find('\n'), kShownBytes));
  return fmt::format("\"{}\"{}", start, start.size() < whole.size() ? " ..." : "");
}

std::string describeHistogram(const event::Value& value) {
  HistogramValue histogram;
  if (Status status = decodeHistogram(value, &histogram); !status.ok()) {
    return unreadable(status);
  }
  double count = 0;
  std::size_t notNumbers = 0;
  for (const HistogramBucket& bucket : histogram.buckets) {
    count += std::isnan(bucket.count) ? 0 : bucket.count;
    notNumbers += std::isnan(bucket.count) ? 1 : 0;
  }
  if (count == 0 && notNumbers == 0) {
    return "empty";
  }
  const std::string missing =
      notNumbers == 0 ? "" : fmt::format(", {} with the count NaN", notNumbers);
  return fmt::format("{} to {}, {:.0f} {}, {}{}", shortNumber(histogram.buckets.front().left),
                     shortNumber(histogram.buckets.back().right), count,
                     count == 1 ? "number" : "numbers", counted(histogram.buckets.size(), "bucket"),
                     missing);
}

std::string describePrCurve(const event::Value& value) {
  PrCurveValue curve;
  const Status status = decodePrCurve(value, &curve);
  return status.ok() ? counted(curve.precision.size(), "threshold") : unreadable(status);
}

std::string describeMesh(const event::Value& value, const event::SummaryMetadata& metadata) {
  MeshValue mesh;
  if (Status status = decodeMesh(value, metadata, &mesh); !status.ok()) {
    return unreadable(status);
  }
  const char* part = mesh.mesh.part == event::MeshPart::kVertex ? "points"
                     : mesh.mesh.part == event::MeshPart::kFace ? "faces"
                                                                : "colors";
  const std::vector<std::int64_t>& shape = mesh.numbers.shape;
  const std::string count = shape[0] == 1 ? "" : fmt::format("{} x ", shape[0]);
  return fmt::format("{}{} {}", count, shape[1], part);
}

std::string describeLayout(const event::Value& value) {
  CustomScalarsLayout layout;
  if (Status status = decodeLayout(value, &layout); !status.ok()) {
    return unreadable(status);
  }
  std::size_t charts = 0;
  for (const CustomScalarsCategory& category : layout.categories) {
    charts += category.charts.size();
  }
  return fmt::format("{} in {}", counted(charts, "chart"),
                     layout.categories.size() == 1
                         ? "1 category"
                         : fmt::format("{} categories", layout.categories.size()));
}

std::string textOf(const HparamValue& hparam) {
  if (const auto* number = std::get_if<double>(&hparam.value())) {
    return shortNumber(*number);
  }
  if (const auto* flag = std::get_if<bool>(&hparam.value())) {
    return *flag ? "true" : "false";
  }
  return std::get<std::string>(hparam.value());
}

std::string describeHparams(const event::SummaryMetadata& metadata) {
  HparamsContent content;
  if (Status status = decodeHparamsContent(metadata.pluginContent, &content); !status.ok()) {
    return unreadable(status);
  }
  if (const auto* experiment = std::get_if<HparamsExperiment>(&content)) {
    return fmt::format("{}, {}", counted(experiment->hparams.size(), "hyperparameter"),
                       counted(experiment->metrics.size(), "metric"));
  }
  if (const auto* start = std::get_if<HparamsSessionStart>(&content)) {
    std::vector<std::string> settings;
    for (const auto& [name, value] : start->hparams) {
      settings.push_back(name + "=" + textOf(value));
    }
    return fmt::format("{}", fmt::join(settings, " "));
  }
  switch (std::get<HparamsSessionEnd>(content).status) {
    case SessionStatus::kSuccess:
      return "succeeded";
    case SessionStatus::kFailure:
      return "failed";
    case SessionStatus::kRunning:
      return "running";
  }
  return "ended";
}

std::string typeName(event::TensorType type) {
  static const std::vector<std::pair<event::TensorType, const char*>> kNames{
      {event::TensorType::kFloat, "float32"}, {event::TensorType::kDouble, "float64"},
      {event::TensorType::kInt32, "int32"},   {event::TensorType::kUInt8, "uint8"},
      {event::TensorType::kInt16, "int16"},   {event::TensorType::kInt8, "int8"},
      {event::TensorType::kString, "string"}, {event::TensorType::kInt64, "int64"},
      {event::TensorType::kBool, "bool"},     {event::TensorType::kBFloat16, "bfloat16"},
      {event::TensorType::kUInt16, "uint16"}, {event::TensorType::kHalf, "float16"},
      {event::TensorType::kUInt32, "uint32"}, {event::TensorType::kUInt64, "uint64"},
  };
  for (const auto& [known, name] : kNames) {
    if (known == type) {
      return name;
    }
  }
  return fmt::format("type {}", static_cast<int>(type));
}

std::string describeTensor(const event::Value& value) {
  event::Tensor tensor;
  const Status status = decodeTensor(value, &tensor);
  if (!status.ok()) {
    return unreadable(status);
  }
  if (tensor.shape.empty() && tensor.strings.size() == 1) {
    return "string of " + humanBytes(tensor.strings.front().size());
  }
  return typeName(tensor.type) + " " + shapeText(tensor.shape);
}

/// Returns the size of a serialized message or document.
std::string describeBytes(const event::Value& value) {
  event::Tensor tensor;
  const Status status = decodeTensor(value, &tensor);
  if (!status.ok() || tensor.strings.size() != 1) {
    return describeTensor(value);
  }
  return humanBytes(tensor.strings.front().size());
}

/// Returns whether `value` is a tensor of one element that is missing.
bool lacksElement(const event::Value& value) {
  const auto* const tensor = std::get_if<event::Tensor>(&value.data);
  return tensor != nullptr && tensor->content.empty() && tensor->strings.empty() &&
         std::all_of(tensor->shape.begin(), tensor->shape.end(),
                     [](std::int64_t size) { return size == 1; });
}

}  // namespace

std::string describeValue(const event::Value& value, const event::SummaryMetadata& metadata) {
  const std::string& plugin = metadata.pluginName;
  if (plugin != event::kHparamsPlugin && lacksElement(value)) {
    return "no value";
  }
  if (plugin == event::kImagesPlugin) {
    return describeImages(value);
  }
  if (plugin == event::kAudioPlugin) {
    return describeAudio(value, metadata);
  }
  if (plugin == event::kTextPlugin) {
    return describeText(value);
  }
  if (plugin == event::kHistogramsPlugin) {
    return describeHistogram(value);
  }
  if (plugin == event::kPrCurvesPlugin) {
    return describePrCurve(value);
  }
  if (plugin == event::kMeshPlugin) {
    return describeMesh(value, metadata);
  }
  if (plugin == event::kCustomScalarsPlugin) {
    return describeLayout(value);
  }
  if (plugin == event::kHparamsPlugin) {
    return describeHparams(metadata);
  }
  if (plugin == "graph_keras_model") {
    return "Keras model of " + describeBytes(value);
  }
  if (plugin == kGraphsPlugin || plugin == kTaggedRunMetadataPlugin) {
    return describeBytes(value);
  }
  return describeTensor(value);
}

}  // namespace steptape::tools
