// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto/perfetto_arguments.h"

#include <cmath>

#include "events/messages/wire_format.h"
#include "profile/trace/chrome/chrome_events.h"
#include "profile/trace/chrome/chrome_format.h"
#include "profile/trace/perfetto/perfetto_format.h"

namespace steptape::detail::profile {
namespace {

namespace annotation = perfetto::annotation;

template <typename Number>
std::string varintField(std::uint32_t field, Number value) {
  std::string bytes;
  events::appendVarintField(&bytes, field, static_cast<std::uint64_t>(value));
  return bytes;
}

}  // namespace

void PerfettoArguments::add(std::string_view name, std::string_view value) {
  const std::uint64_t number = names_->numberOf(perfetto::interned::kAnnotationNames, name);
  events::appendBytesField(event_, perfetto::event::kAnnotation,
                           varintField(annotation::kNameIid, number).append(value));
}

void PerfettoArguments::addInteger(std::string_view name, std::int64_t value) {
  add(name, varintField(annotation::kInteger, value));
}

void PerfettoArguments::addNumber(std::string_view name, double value) {
  constexpr double kMaxExactInteger = 9007199254740992;  // 2^53
  if (value == std::trunc(value) && std::abs(value) <= kMaxExactInteger) {
    return addInteger(name, static_cast<std::int64_t>(value));
  }
  std::string field;
  events::appendDoubleField(&field, annotation::kDouble, value);
  add(name, field);
}

void PerfettoArguments::addText(std::string_view name, std::string_view text) {
  add(name, varintField(annotation::kTextIid, names_->numberOf(perfetto::interned::kTexts, text)));
}

void PerfettoArguments::addName(const TraceName& name) {
  if (kindOfChromeCategory(chromeCategoryOf(name)) != name.kind) {
    addText("kind", spanKindName(name.kind));
  }
  if (name.color != 0) {
    addText("color", chromeColor(name.color));
  }
}

void PerfettoArguments::addDetails(const SpanDetails& details) {
  if (!details.shapes.empty()) {
    addText("Input Dims", details.shapes);
  }
  if (!details.types.empty()) {
    addText("Input type", details.types);
  }
  if (!details.arguments.empty()) {
    addMembers("{" + details.arguments + "}");
  }
  if (!details.module.empty()) {
    addText("module", details.module);
  }
  if (details.flops != 0) {
    addNumber("flops", details.flops);
  }
  if (details.bytes != 0) {
    addInteger("bytes", details.bytes);
  }
}

void PerfettoArguments::addMembers(const std::string& json) {
  for (const auto& [name, value] : jsonMembers(json)) {
    if (!value.isString && (value.text == "true" || value.text == "false")) {
      add(name, varintField(annotation::kBool, value.text == "true" ? 1 : 0));
    } else if (value.isString || !value.number()) {
      addText(name, value.text);
    } else if (const auto integer = value.integer()) {
      addInteger(name, *integer);
    } else {
      addNumber(name, *value.number());
    }
  }
}

}  // namespace steptape::detail::profile
