// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/embedding/embedding_config.h"

#include <cinttypes>
#include <cstdio>

#include "values/kinds/embedding/embedding_text_format.h"

namespace steptape::detail::values {
namespace {

std::string fiveDigits(std::int64_t step) {
  char digits[24];
  std::snprintf(digits, sizeof(digits), "%05" PRId64, step);
  return digits;
}

void appendPercent(char c, std::string* out) {
  char escape[4];
  std::snprintf(escape, sizeof(escape), "%%%02x", static_cast<unsigned char>(c));
  out->append(escape);
}

std::string blockOf(const EmbeddingEntry& entry) {
  std::string block = "embeddings {\n";
  block += "  tensor_name: " + quotedText(entry.tensorName) + "\n";
  if (!entry.metadataPath.empty()) {
    block += "  metadata_path: " + quotedText(entry.metadataPath) + "\n";
  }
  if (!entry.spritePath.empty()) {
    const std::string cell = "    single_image_dim: " + std::to_string(entry.spriteCell) + "\n";
    block += "  sprite {\n    image_path: " + quotedText(entry.spritePath) + "\n";
    block += cell + cell + "  }\n";
  }
  return block + "  tensor_path: " + quotedText(entry.tensorPath) + "\n}";
}

bool isEntryOf(const TextField& field, const std::string& tensorName) {
  if (field.name != "embeddings") {
    return false;
  }
  for (const TextField& inner : field.fields) {
    if (inner.name == "tensor_name" && inner.text == tensorName) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string embeddingDirectory(std::string_view tag, std::int64_t step) {
  // As directory names, these two would lead to another directory.
  const bool isDots = tag == "." || tag == "..";
  std::string directory = fiveDigits(step) + "/";
  for (const char c : tag) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '%' || c == '/' || c == '\\' || byte < 0x20 || byte == 0x7F || isDots) {
      appendPercent(c, &directory);
    } else {
      directory += c;
    }
  }
  return directory;
}

std::string embeddingName(std::string_view tag, std::int64_t step) {
  return std::string(tag) + ":" + fiveDigits(step);
}

std::optional<std::string> withEmbedding(std::string_view config, const EmbeddingEntry& entry) {
  const auto fields = readTextFormat(config);
  if (!fields) {
    return std::nullopt;
  }
  std::string result;
  std::size_t copied = 0;
  bool isIn = false;
  for (const TextField& field : *fields) {
    if (isEntryOf(field, entry.tensorName)) {
      result += config.substr(copied, field.begin - copied);
      result += isIn ? "" : blockOf(entry);
      copied = field.end;
      isIn = true;
    }
  }
  result += config.substr(copied);
  if (!result.empty() && result.back() != '\n') {
    result += '\n';
  }
  return isIn ? result : result + blockOf(entry) + "\n";
}

}  // namespace steptape::detail::values
