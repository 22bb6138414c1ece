// SPDX-License-Identifier: Apache-2.0
#include "server/provider/served_values.h"

#include <utility>
#include <variant>

#include "steptape/base/status.h"
#include "steptape/events/plugin_content.h"
#include "steptape/log/values.h"

#include "base/little_endian.h"
#include "log/reader/event_values.h"
#include "log/reader/value_reader.h"

namespace steptape::detail::server {
namespace {

void appendDouble(std::string* out, double number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  out->resize(out->size() + sizeof bits);
  base::storeLittleEndian64(out->data() + out->size() - sizeof bits, bits);
}

/// Returns a table of left edges, right edges and counts.
event::Tensor bucketsOf(const event::SummaryHistogram& histogram) {
  event::Tensor tensor;
  tensor.type = event::TensorType::kDouble;
  const std::size_t count = std::min(histogram.bucketLimits.size(), histogram.bucketCounts.size());
  tensor.shape = {static_cast<std::int64_t>(count), 3};
  for (std::size_t i = 0; i < count; ++i) {
    appendDouble(&tensor.content, i == 0 ? histogram.min : histogram.bucketLimits[i - 1]);
    appendDouble(&tensor.content, i + 1 == count ? histogram.max : histogram.bucketLimits[i]);
    appendDouble(&tensor.content, histogram.bucketCounts[i]);
  }
  return tensor;
}

}  // namespace

bool ValueReader::read(const ValueLocation& location, event::Value* value) {
  try {
    if (file_ == nullptr || number_ != location.file) {
      file_ = run_->open(location.file);
      number_ = location.file;
    }
    return file_ != nullptr && log::readValue(*file_, location, value).ok();
  } catch (const Error&) {
    return false;
  }
}

std::optional<event::Tensor> tensorOf(const event::Value& value) {
  if (const auto* tensor = std::get_if<event::Tensor>(&value.data)) {
    return *tensor;
  }
  if (const auto* number = std::get_if<float>(&value.data)) {
    return log::tensorOf(*number);
  }
  if (const auto* histogram = std::get_if<event::SummaryHistogram>(&value.data)) {
    return bucketsOf(*histogram);
  }
  if (std::holds_alternative<std::monostate>(value.data)) {
    event::Tensor empty;
    empty.type = event::TensorType::kFloat;
    empty.shape = {0};
    return empty;
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> blobsOf(event::Value value, std::string_view plugin) {
  if (auto* image = std::get_if<event::SummaryImage>(&value.data)) {
    return std::vector<std::string>{std::to_string(image->width), std::to_string(image->height),
                                    std::move(image->encoded)};
  }
  if (auto* audio = std::get_if<event::SummaryAudio>(&value.data)) {
    return std::vector<std::string>{std::move(audio->encoded)};
  }
  auto* tensor = std::get_if<event::Tensor>(&value.data);
  if (tensor == nullptr || tensor->type != event::TensorType::kString) {
    return std::nullopt;
  }
  // Also those of Keras.
  const bool isGraph = plugin.substr(0, std::string_view("graph").size()) == "graph";
  if (tensor->shape.size() == 1 || (isGraph && tensor->shape.empty())) {
    return std::move(tensor->strings);
  }
  if (plugin == event::kAudioPlugin && tensor->shape.size() == 2 && tensor->shape[1] == 2) {
    std::vector<std::string> clips;  // without their labels
    for (std::size_t i = 0; i < tensor->strings.size(); i += 2) {
      clips.push_back(std::move(tensor->strings[i]));
    }
    return clips;
  }
  return std::nullopt;
}

}  // namespace steptape::detail::server
