// SPDX-License-Identifier: Apache-2.0
// Values that are strings: image and audio files, texts, serialized messages.
#include <charconv>
#include <utility>

#include "steptape/log/values.h"

#include "log/reader/value_checks.h"

namespace steptape {
namespace {

using detail::log::unexpected;

Status parseSize(const std::string& text, const char* what, std::int64_t* size) {
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, *size);
  if (error != std::errc() || next != end) {
    return unexpected(what, std::to_string(text.size()) + " other bytes",
                      "a decimal number of pixels");
  }
  return Status();
}

Status contentTypeOf(const event::SummaryMetadata& metadata, std::string* contentType) {
  bool isWav = false;
  Status status = event::decodeAudioPluginContent(metadata.pluginContent, &isWav);
  *contentType = isWav ? "audio/wav" : "application/octet-stream";
  return status;
}

}  // namespace

Status decodeImages(const event::Value& value, ImageValue* images) {
  if (const auto* found = std::get_if<event::SummaryImage>(&value.data)) {
    *images = {found->width, found->height, {found->encoded}};
    return Status();
  }
  const event::Tensor* tensor = nullptr;
  if (Status status = detail::log::findStrings(value, "images", &tensor); !status.ok()) {
    return status;
  }
  const std::vector<std::string>& strings = tensor->strings;
  if (tensor->shape.size() != 1 || strings.size() < 2) {
    return unexpected("images", "shape " + detail::log::shapeText(tensor->shape),
                      "(n): width, height and the images");
  }
  if (Status status = parseSize(strings[0], "width of images", &images->width); !status.ok()) {
    return status;
  }
  if (Status status = parseSize(strings[1], "height of images", &images->height); !status.ok()) {
    return status;
  }
  images->encoded.assign(strings.begin() + 2, strings.end());
  return Status();
}

Status decodeAudio(const event::Value& value, const event::SummaryMetadata& metadata,
                   AudioValue* audio) {
  if (const auto* found = std::get_if<event::SummaryAudio>(&value.data)) {
    *audio = {{found->encoded},
              found->contentType,
              double{found->sampleRate},
              found->lengthFrames,
              found->numChannels};
    return Status();
  }
  const event::Tensor* tensor = nullptr;
  if (Status status = detail::log::findStrings(value, "audio", &tensor); !status.ok()) {
    return status;
  }
  if (tensor->shape.empty()) {
    return unexpected("audio", "shape ()", "(clips) or (clips, 2): clip and label");
  }
  *audio = AudioValue();
  if (!tensor->strings.empty()) {  // then no dimension is 0
    const std::size_t perClip =
        tensor->strings.size() / static_cast<std::size_t>(tensor->shape.front());
    for (std::size_t i = 0; i < tensor->strings.size(); i += perClip) {
      audio->encoded.push_back(tensor->strings[i]);
    }
  }
  return contentTypeOf(metadata, &audio->contentType);
}

Status decodeText(const event::Value& value, TextValue* text) {
  const event::Tensor* tensor = nullptr;
  Status status = detail::log::findStrings(value, "text", &tensor);
  if (status.ok()) {
    *text = {tensor->shape, tensor->strings};
  }
  return status;
}

Status decodeLayout(const event::Value& value, CustomScalarsLayout* layout) {
  const event::Tensor* tensor = nullptr;
  if (Status status = detail::log::findStrings(value, "layout", &tensor); !status.ok()) {
    return status;
  }
  if (tensor->strings.size() != 1) {
    return unexpected("layout", "shape " + detail::log::shapeText(tensor->shape), "()");
  }
  return decodeLayout(tensor->strings.front(), layout);
}

}  // namespace steptape
