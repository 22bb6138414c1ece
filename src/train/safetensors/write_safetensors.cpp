// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>

#include "steptape/base/json.h"
#include "steptape/train/safetensors.h"

#include "base/got_expected.h"
#include "base/little_endian.h"
#include "base/replacement_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/whole_file.h"
#include "train/safetensors/tensor_layout.h"

namespace steptape {
namespace {

/// The places of `tensors` in the order of the file.
std::vector<std::size_t> fileOrder(const std::vector<SafetensorsInfo>& tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&tensors](std::size_t a, std::size_t b) {
    return tensors[a].dtype != tensors[b].dtype ? tensors[a].dtype > tensors[b].dtype
                                                : tensors[a].name < tensors[b].name;
  });
  return order;
}

[[noreturn]] void rejectTensor(const SafetensorsInfo& info, const std::string& got,
                               const std::string& expected) {
  detail::base::reject(got, expected, "writeSafetensors " + detail::train::shownName(info.name));
}

/// @return the bytes of its elements.
std::uint64_t checkTensor(const SafetensorsInfo& info) {
  if (info.name == detail::train::kSafetensorsMetadataName ||
      !detail::base::isValidUtf8(info.name)) {
    rejectTensor(info, "this name", "UTF-8 other than \"__metadata__\"");
  }
  const std::optional<std::uint64_t> bytes = detail::train::byteSize(info);
  if (!bytes || !detail::train::fitsStrides(info)) {
    rejectTensor(info, detail::train::describe(info), "whole bytes, and fewer than 2^63 bits");
  }
  return *bytes;
}

void checkNamesDiffer(const std::vector<SafetensorsInfo>& tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const SafetensorsInfo& info : tensors) {
    names.push_back(info.name);
  }
  std::sort(names.begin(), names.end());
  const auto repeated = std::adjacent_find(names.begin(), names.end());
  if (repeated != names.end()) {
    detail::base::reject("two tensors of this name", "one",
                         "writeSafetensors " + detail::train::shownName(*repeated));
  }
}

void appendMetadata(std::string& json, const SafetensorsMetadata& metadata) {
  appendJsonString(&json, detail::train::kSafetensorsMetadataName);
  json += ":{";
  for (const auto& [name, text] : metadata) {
    appendJsonString(&json, name);
    json += ':';
    appendJsonString(&json, text);
    json += ',';
  }
  json.back() = '}';
}

void appendTensor(std::string& json, const SafetensorsInfo& info, std::uint64_t begin,
                  std::uint64_t end) {
  appendJsonString(&json, info.name);
  json += R"(:{"dtype":")" + std::string(safetensorsDTypeName(info.dtype)) + R"(","shape":[)";
  for (const std::int64_t dimension : info.shape) {
    json += std::to_string(dimension) + ',';
  }
  if (!info.shape.empty()) {
    json.pop_back();
  }
  json += R"(],"data_offsets":[)" + std::to_string(begin) + ',' + std::to_string(end) + "]}";
}

/// @return the length and the JSON, padded so that the first tensor is aligned.
std::string encodeHeader(const std::vector<SafetensorsInfo>& tensors,
                         const std::vector<std::size_t>& order,
                         const SafetensorsMetadata& metadata) {
  std::string json(detail::train::kSafetensorsLengthBytes, '\0');
  json += '{';
  if (!metadata.empty()) {
    appendMetadata(json, metadata);
  }
  std::uint64_t begin = 0;
  for (const std::size_t index : order) {
    json += json.back() == '{' ? "" : ",";
    const std::uint64_t end = begin + checkTensor(tensors[index]);
    appendTensor(json, tensors[index], begin, end);
    begin = end;
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const std::uint64_t bytes = json.size() - detail::train::kSafetensorsLengthBytes;
  if (bytes > detail::train::kMaxSafetensorsHeaderBytes) {
    detail::base::reject("a header of " + std::to_string(bytes) + " bytes",
                         "at most " + std::to_string(detail::train::kMaxSafetensorsHeaderBytes),
                         "writeSafetensors");
  }
  detail::base::storeLittleEndian64(json.data(), bytes);
  return json;
}

}  // namespace

void writeSafetensors(const std::string& path, const std::vector<SafetensorsInfo>& tensors,
                      const std::function<const void*(std::size_t index)>& elements,
                      const SafetensorsMetadata& metadata) {
  checkNamesDiffer(tensors);
  const std::vector<std::size_t> order = fileOrder(tensors);
  const std::string header = encodeHeader(tensors, order, metadata);
  detail::base::createDirectoriesOf(path).throwIfError();
  detail::base::ReplacementFile file(path);
  file.open().throwIfError();
  file.write(header);
  for (const std::size_t index : order) {
    const auto* const bytes = static_cast<const char*>(elements(index));
    file.write({bytes, static_cast<std::size_t>(*detail::train::byteSize(tensors[index]))});
    file.status().throwIfError();
  }
  file.finish().throwIfError();
  file.appear(true).throwIfError();
}

}  // namespace steptape
