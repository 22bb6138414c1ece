// SPDX-License-Identifier: Apache-2.0
#include "log/check/metadata_by_form.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "steptape/events/plugin_content.h"
#include "steptape/log/values.h"

#include "base/utf8.h"
#include "log/reader/media_format.h"
#include "log/reader/value_checks.h"

namespace steptape::detail::log {
namespace {

constexpr std::string_view kLayoutTag = "custom_scalars__config__";

event::SummaryMetadata metadataOf(const char* plugin, event::DataClass dataClass,
                                  std::string content = {}) {
  event::SummaryMetadata metadata;
  metadata.pluginName = plugin;
  metadata.pluginContent = std::move(content);
  metadata.dataClass = dataClass;
  return metadata;
}

bool isPicture(std::string_view file) {
  const std::string_view format = mediaFormat(file);
  return format == "png" || format == "gif" || format == "jpg" || format == "bmp";
}

bool isWav(std::string_view file) {
  return mediaFormat(file) == std::string_view("wav");
}

bool areImages(const event::Value& value) {
  ImageValue images;
  return decodeImages(value, &images).ok() && !images.encoded.empty() &&
         std::all_of(images.encoded.begin(), images.encoded.end(), isPicture);
}

bool isAudio(const event::Value& value) {
  AudioValue audio;
  return decodeAudio(value, event::SummaryMetadata(), &audio).ok() && !audio.encoded.empty() &&
         std::all_of(audio.encoded.begin(), audio.encoded.end(), isWav);
}

/// Returns whether a text has no control characters. A serialized message may be valid UTF-8, but
/// it has some.
bool isPrintable(std::string_view text) {
  return base::isValidUtf8(text) && std::all_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n' || c == '\r';
         });
}

bool isText(const event::Tensor& tensor) {
  return tensor.shape.size() <= 2 && !tensor.strings.empty() &&
         std::all_of(tensor.strings.begin(), tensor.strings.end(), isPrintable);
}

bool isHistogram(const event::Value& value) {
  HistogramValue histogram;
  if (!decodeHistogram(value, &histogram).ok()) {
    return false;
  }
  double edge = -std::numeric_limits<double>::infinity();
  for (const HistogramBucket& bucket : histogram.buckets) {
    if (!(bucket.left >= edge && bucket.right >= bucket.left && bucket.count >= 0)) {
      return false;
    }
    edge = bucket.left;
  }
  return true;
}

bool isPrCurve(const event::Value& value) {
  PrCurveValue curve;
  if (!decodePrCurve(value, &curve).ok() || curve.recall.empty()) {
    return false;
  }
  const auto isShare = [](double number) { return number >= 0 && number <= 1; };
  return std::all_of(curve.precision.begin(), curve.precision.end(), isShare) &&
         std::all_of(curve.recall.begin(), curve.recall.end(), isShare);
}

std::optional<event::SummaryMetadata> ofStrings(const event::Value& value,
                                                const event::Tensor& tensor) {
  CustomScalarsLayout layout;
  if (value.tag == kLayoutTag && decodeLayout(value, &layout).ok()) {
    return metadataOf(event::kCustomScalarsPlugin, event::DataClass::kTensor);
  }
  if (areImages(value)) {
    return metadataOf(event::kImagesPlugin, event::DataClass::kBlobSequence);
  }
  if (isAudio(value)) {
    // The Python loader plays clips with labels only if the audio declares no class.
    const bool hasLabels = tensor.shape.size() > 1;
    return metadataOf(event::kAudioPlugin,
                      hasLabels ? event::DataClass::kUnknown : event::DataClass::kBlobSequence,
                      event::audioPluginContent());
  }
  return isText(tensor) ? std::optional(metadataOf(event::kTextPlugin, event::DataClass::kTensor))
                        : std::nullopt;
}

std::optional<event::SummaryMetadata> ofFloats(const event::Value& value,
                                               const event::Tensor& tensor) {
  if (tensor.shape.empty()) {
    return metadataOf(event::kScalarsPlugin, event::DataClass::kScalar);
  }
  if (!isPrCurve(value)) {
    return std::nullopt;
  }
  const auto thresholds = static_cast<std::uint32_t>(tensor.shape[1]);
  return metadataOf(event::kPrCurvesPlugin, event::DataClass::kTensor,
                    event::prCurvePluginContent(thresholds));
}

}  // namespace

std::optional<event::SummaryMetadata> metadataByForm(const event::Value& value) {
  const event::Tensor* tensor = nullptr;
  if (!findTensor(value, "tensor", &tensor).ok()) {
    return std::nullopt;
  }
  switch (tensor->type) {
    case event::TensorType::kString:
      return ofStrings(value, *tensor);
    case event::TensorType::kFloat:
      return ofFloats(value, *tensor);
    case event::TensorType::kDouble:
      return isHistogram(value)
                 ? std::optional(metadataOf(event::kHistogramsPlugin, event::DataClass::kTensor))
                 : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace steptape::detail::log
