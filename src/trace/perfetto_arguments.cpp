// SPDX-License-Identifier: Apache-2.0
#include "trace/perfetto_arguments.h"

#include <cmath>
#include <cstdio>

#include "base/utf8.h"
#include "event/wire_format.h"
#include "trace/chrome_events.h"
#include "trace/chrome_format.h"
#include "trace/perfetto_sequence.h"

namespace steptape::detail {
namespace {

namespace annotation = perfetto::annotation;
using perfetto::ArgumentName;

/// Begins an annotation.
std::string named(ArgumentName name) {
  std::string bytes;
  appendVarintField(&bytes, annotation::kNameIid, static_cast<std::uint64_t>(name));
  return bytes;
}
std::string named(std::string_view name) {
  std::string bytes;
  appendBytesField(&bytes, annotation::kName, name);
  return bytes;
}

void append(std::string* event, std::string_view bytes) {
  appendBytesField(event, perfetto::event::kAnnotation, bytes);
}

template <typename Name>
void appendInteger(std::string* event, Name name, std::int64_t value) {
  std::string bytes = named(name);
  appendVarintField(&bytes, annotation::kInteger, static_cast<std::uint64_t>(value));
  append(event, bytes);
}

template <typename Name>
void appendText(std::string* event, Name name, std::string_view text) {
  std::string bytes = named(name);
  appendBytesField(&bytes, annotation::kText, replaceInvalidUtf8(text));
  append(event, bytes);
}

template <typename Name>
void appendNumber(std::string* event, Name name, double value) {
  constexpr double kMaxExactInteger = 9007199254740992;  // 2^53
  if (value == std::trunc(value) && std::abs(value) <= kMaxExactInteger) {
    return appendInteger(event, name, static_cast<std::int64_t>(value));
  }
  std::string bytes = named(name);
  appendDoubleField(&bytes, annotation::kDouble, value);
  append(event, bytes);
}

// The texts of details have numbers of their own in each sequence.
enum class DetailsText : std::uint64_t { kShapes = 1, kTypes, kModule };

std::uint64_t iidOf(DetailsText text, std::uint32_t number) {
  return 3 * std::uint64_t{number} + static_cast<std::uint64_t>(text);
}

void appendInterned(std::string* event, ArgumentName name, std::uint64_t iid) {
  std::string bytes = named(name);
  appendVarintField(&bytes, annotation::kTextIid, iid);
  append(event, bytes);
}

void appendTextOfDetails(std::string* interned, std::uint64_t iid, std::string_view text) {
  if (!text.empty()) {
    appendInternedText(interned, perfetto::interned::kTexts, iid, text);
  }
}

void appendMember(std::string* event, const JsonMember& member) {
  const JsonValue& value = member.value;
  const std::string name = replaceInvalidUtf8(member.key);
  if (!value.isString && (value.text == "true" || value.text == "false")) {
    std::string bytes = named(std::string_view(name));
    appendVarintField(&bytes, annotation::kBool, value.text == "true" ? 1 : 0);
    return append(event, bytes);
  }
  if (value.isString || !value.number()) {
    return appendText(event, std::string_view(name), value.text);
  }
  if (const auto integer = value.integer()) {
    return appendInteger(event, std::string_view(name), *integer);
  }
  appendNumber(event, std::string_view(name), *value.number());
}

}  // namespace

void appendIntegerArgument(std::string* event, ArgumentName name, std::int64_t value) {
  appendInteger(event, name, value);
}
void appendIntegerArgument(std::string* event, std::string_view name, std::int64_t value) {
  appendInteger(event, name, value);
}
void beginIntegerArgument(std::string* event, ArgumentName name, std::size_t valueBytes) {
  std::string bytes = named(name);
  appendFieldKey(&bytes, annotation::kInteger, WireType::kVarint);
  appendFieldKey(event, perfetto::event::kAnnotation, WireType::kLengthDelimited);
  appendVarint(event, bytes.size() + valueBytes);
  *event += bytes;
}
void appendTextArgument(std::string* event, ArgumentName name, std::string_view text) {
  appendText(event, name, text);
}
void appendTextArgument(std::string* event, std::string_view name, std::string_view text) {
  appendText(event, name, text);
}

void appendArgumentsOfName(std::string* event, const TraceName& name) {
  if (kindOfChromeCategory(chromeCategoryOf(name)) != name.kind) {
    appendText(event, ArgumentName::kKind, spanKindName(name.kind));
  }
  if (name.color != 0) {
    appendText(event, ArgumentName::kColor, chromeColor(name.color));
  }
}

void appendDetails(std::string* event, const SpanDetails& details, std::uint32_t number) {
  if (!details.shapes.empty()) {
    appendInterned(event, ArgumentName::kShapes, iidOf(DetailsText::kShapes, number));
  }
  if (!details.types.empty()) {
    appendInterned(event, ArgumentName::kTypes, iidOf(DetailsText::kTypes, number));
  }
  if (!details.arguments.empty()) {
    for (const JsonMember& member : jsonMembers("{" + details.arguments + "}")) {
      appendMember(event, member);
    }
  }
  if (!details.module.empty()) {
    appendInterned(event, ArgumentName::kModule, iidOf(DetailsText::kModule, number));
  }
  if (details.flops != 0) {
    appendNumber(event, ArgumentName::kFlops, details.flops);
  }
  if (details.bytes != 0) {
    appendInteger(event, ArgumentName::kBytes, details.bytes);
  }
}

void appendTextsOfDetails(std::string* interned, const SpanDetails& details, std::uint32_t number) {
  appendTextOfDetails(interned, iidOf(DetailsText::kShapes, number), details.shapes);
  appendTextOfDetails(interned, iidOf(DetailsText::kTypes, number), details.types);
  appendTextOfDetails(interned, iidOf(DetailsText::kModule, number), details.module);
}

}  // namespace steptape::detail
