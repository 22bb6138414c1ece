// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/xml_text.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace steptape::detail::storage {
namespace {

void appendUtf8(std::uint32_t code, std::string* text) {
  if (code < 0x80) {
    *text += static_cast<char>(code);
  } else if (code < 0x800) {
    *text += static_cast<char>(0xc0 | (code >> 6));
    *text += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *text += static_cast<char>(0xe0 | (code >> 12));
    *text += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    *text += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    *text += static_cast<char>(0xf0 | ((code >> 18) & 7));
    *text += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    *text += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    *text += static_cast<char>(0x80 | (code & 0x3f));
  }
}

/// Appends what an entity stands for. @return whether it is known.
bool appendEntity(std::string_view name, std::string* text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNamed{
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  for (const auto& [known, character] : kNamed) {
    if (name == known) {
      *text += character;
      return true;
    }
  }
  if (name.size() < 2 || name.front() != '#') {
    return false;
  }
  const bool isHex = name[1] == 'x';
  name.remove_prefix(isHex ? 2 : 1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), code, isHex ? 16 : 10);
  if (error != std::errc() || end != name.data() + name.size() || code > 0x10ffff) {
    return false;
  }
  appendUtf8(code, text);
  return true;
}

std::string withoutEntities(std::string_view xml) {
  constexpr std::size_t kLongest = 12;
  std::string text;
  while (!xml.empty()) {
    const std::size_t end =
        xml.front() == '&' ? xml.substr(0, kLongest).find(';') : std::string_view::npos;
    if (end != std::string_view::npos && appendEntity(xml.substr(1, end - 1), &text)) {
      xml.remove_prefix(end + 1);
    } else {
      text += xml.front();
      xml.remove_prefix(1);
    }
  }
  return text;
}

}  // namespace

std::optional<std::string_view> nextElement(std::string_view* xml, std::string_view name) {
  const std::string open = "<" + std::string(name) + ">";
  const std::string close = "</" + std::string(name) + ">";
  const std::size_t begin = xml->find(open);
  const std::size_t end =
      begin == std::string_view::npos ? begin : xml->find(close, begin + open.size());
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t inside = begin + open.size();
  const std::string_view content = xml->substr(inside, end - inside);
  xml->remove_prefix(end + close.size());
  return content;
}

std::string elementText(std::string_view xml, std::string_view name) {
  const std::optional<std::string_view> content = nextElement(&xml, name);
  return content ? withoutEntities(*content) : std::string();
}

}  // namespace steptape::detail::storage
