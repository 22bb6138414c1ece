// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/chrome/span_texts.h"

#include <string>

#include "base/json_text.h"
#include "profile/trace/chrome/chrome_format.h"

namespace steptape::detail::profile {
namespace {

/// Maximum memory for a trace whose spans all differ.
constexpr std::size_t kMaxBytes = std::size_t{8} << 20;

std::string beginOfEvent(const TraceName& name) {
  return "},\n{\"name\":" + base::jsonString(name.text) +
         ",\"cat\":" + base::jsonString(chromeCategoryOf(name));
}

void addArgumentsOfName(const TraceName& name, std::string* text) {
  if (kindOfChromeCategory(chromeCategoryOf(name)) != name.kind) {
    *text += std::string("\"kind\":\"") + spanKindName(name.kind) + "\",";
  }
  if (name.color != 0) {
    *text += "\"color\":\"" + chromeColor(name.color) + "\",";
  }
}

void addDetails(const SpanDetails& details, std::string* text) {
  if (!details.shapes.empty()) {
    *text += "\"Input Dims\":" + details.shapes + ',';
  }
  if (!details.types.empty()) {
    *text += "\"Input type\":" + details.types + ',';
  }
  if (!details.arguments.empty()) {
    *text += details.arguments + ',';
  }
  if (!details.module.empty()) {
    *text += "\"module\":" + base::jsonString(details.module) + ',';
  }
  if (details.flops != 0) {
    *text += "\"flops\":" + base::jsonNumber(details.flops) + ',';
  }
  if (details.bytes != 0) {
    *text += "\"bytes\":" + std::to_string(details.bytes) + ',';
  }
}

std::string beginOfSpan(const TraceName& name, const SpanDetails& details) {
  std::string text = beginOfEvent(name) + ",\"args\":{";
  addArgumentsOfName(name, &text);
  addDetails(details, &text);
  return text + "\"External id\":";
}

}  // namespace

const std::string& SpanTexts::at(std::uint64_t key) {
  if (bytes_ > kMaxBytes) {
    texts_.clear();
    bytes_ = 0;
  }
  const auto [known, isNew] = texts_.try_emplace(key);
  if (isNew) {
    const TraceName& name = trace_.names[key >> 32];
    const auto details = static_cast<std::uint32_t>(key);
    known->second =
        details == kEnd ? beginOfEvent(name) : beginOfSpan(name, trace_.details[details]);
    bytes_ += sizeof *known + known->second.size();
  }
  return known->second;
}

}  // namespace steptape::detail::profile
