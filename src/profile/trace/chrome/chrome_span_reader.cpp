// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/chrome/chrome_span_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "profile/trace/chrome/chrome_format.h"

namespace steptape::detail::profile {
namespace {

std::optional<SpanKind> kindNamed(const std::string& name) {
  for (std::size_t kind = 0; kind < kSpanKinds; ++kind) {
    if (name == spanKindName(static_cast<SpanKind>(kind))) {
      return static_cast<SpanKind>(kind);
    }
  }
  return {};
}

/// Parses "#RRGGBB".
std::optional<std::uint32_t> colorOf(const std::string& text) {
  std::uint32_t color = 0;
  const char* const end = text.data() + text.size();
  if (text.size() != 7 || text[0] != '#' ||
      std::from_chars(text.data() + 1, end, color, 16).ptr != end) {
    return {};
  }
  return color;
}

/// Processes the arguments of an event.
class ArgumentReader {
 public:
  explicit ArgumentReader(const ChromeEvent& event) {
    // Events of streams contain their row twice.
    const JsonValue* const stream = event.argument("stream");
    isOfStream_ = stream != nullptr && stream->text == event.threadId.text;
  }

  void take(const JsonMember& member) {
    const auto& [key, value] = member;
    if (takeText(key, value) || takeNumber(key, value) || isLeftOut(key) ||
        std::find(others_.begin(), others_.end(), key) != others_.end()) {
      return;
    }
    others_.push_back(key);
    details.arguments +=
        (details.arguments.empty() ? "" : ", ") + base::jsonString(key) + ": " + value.json();
  }

  SpanDetails details;
  TraceSpan span;
  std::optional<SpanKind> kind;
  std::uint32_t color = 0;

 private:
  /// @return whether the argument has its own member, also in takeNumber().
  bool takeText(std::string_view key, const JsonValue& value) {
    if (key == "Input Dims") {
      details.shapes = value.json();
    } else if (key == "Input type") {
      details.types = value.json();
    } else if (key == "module") {
      details.module = value.text;
    } else if (key == "kind") {
      kind = kindNamed(value.text);
    } else if (key == "color") {
      color = colorOf(value.text).value_or(0);
    } else {
      return false;
    }
    return true;
  }
  bool takeNumber(std::string_view key, const JsonValue& value) {
    if (key == "Sequence number") {
      span.sequence = value.integer().value_or(-1);
    } else if (key == "Fwd thread id") {
      span.forwardThread = static_cast<std::uint16_t>(value.integer().value_or(0));
    } else if (key == "bytes") {
      details.bytes = value.integer().value_or(0);
    } else if (key == "flops") {
      details.flops = value.number().value_or(0);
    } else if (key == "correlation" && isCorrelation(value)) {
      span.correlation = static_cast<std::uint32_t>(*value.integer());
    } else if (key == "value" && value.number()) {
      span.value = *value.number();
      span.flags |= kHasValue;
    } else {
      return key == "value";
    }
    return true;
  }
  static bool isCorrelation(const JsonValue& value) {
    return value.integer() && *value.integer() > 0 && *value.integer() < SpanRecord::kNoSequence;
  }
  bool isLeftOut(std::string_view key) const {
    constexpr std::array<std::string_view, 6> kOfEvents{"External id",        "Ev Idx",
                                                        "Record function id", "Python id",
                                                        "Python parent id",   kOverlapOnThread};
    return std::find(kOfEvents.begin(), kOfEvents.end(), key) != kOfEvents.end() ||
           (isOfStream_ && (key == "stream" || key == "device"));
  }

  bool isOfStream_;
  std::vector<std::string_view> others_;  // keys in details.arguments
};

/// Returns "<built-in method wait of PyCapsule object>" without the " at 0x7f61368c68e0" before the
/// ">". PyTorch names every call of a method by the first object that it was called on, so the
/// address says nothing about the call, but differs between ranks and runs.
std::string withoutAddress(const std::string& name) {
  constexpr std::string_view kBeforeAddress = " at 0x";
  const std::size_t begin = name.rfind(kBeforeAddress);
  if (begin == std::string::npos) {
    return name;
  }
  const std::size_t end =
      name.find_first_not_of("0123456789abcdefABCDEF", begin + kBeforeAddress.size());
  return end != std::string::npos && name[end] == '>' ? name.substr(0, begin) + name.substr(end)
                                                      : name;
}

}  // namespace

TraceSpan readChromeSpan(const ChromeEvent& event, TraceTables* tables) {
  ArgumentReader reader(event);
  for (const JsonMember& argument : event.arguments) {
    reader.take(argument);
  }
  TraceName name;
  name.text =
      event.category.text == kPythonCategory ? withoutAddress(event.name.text) : event.name.text;
  name.kind = reader.kind.value_or(kindOfChromeCategory(event.category.text));
  name.color = reader.color;
  if (event.category.text != chromeCategory(name.kind, name.text)) {
    name.category = event.category.text;
  }
  reader.span.name = tables->numberOf(name);
  reader.span.details = tables->numberOf(reader.details);
  return reader.span;
}

}  // namespace steptape::detail::profile
