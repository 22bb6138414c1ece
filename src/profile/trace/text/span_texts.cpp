// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/text/span_texts.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/json_text.h"
#include "profile/trace/chrome/chrome_format.h"

namespace steptape::detail::profile {
namespace {

/// Maximum memory for a trace whose spans all differ.
constexpr std::size_t kMaxBytes = std::size_t{8} << 20;

/// Builds a repeated text and decides where its parts end. Parts are looked up one by one: many
/// short parts take long, and few long parts differ more often.
class TextBuilder {
 public:
  void add(std::string_view text) { part_ += text; }

  void endPart() {
    if (!part_.empty()) {
      repeated_.add(part_);
      part_.clear();
    }
  }

  /// Adds JSON of lists; different lists have elements in common.
  void addLists(std::string_view json) {
    constexpr std::string_view kBetween = "], ";
    constexpr std::size_t kMinPart = 16;
    for (std::size_t end; (end = json.find(kBetween)) != std::string_view::npos;) {
      add(json.substr(0, end + kBetween.size()));
      json.remove_prefix(end + kBetween.size());
      if (part_.size() >= kMinPart) {
        endPart();
      }
    }
    add(json);
  }

  RepeatedText take() {
    endPart();
    return std::move(repeated_);
  }

 private:
  RepeatedText repeated_;
  std::string part_;
};

void addName(const TraceName& name, TextBuilder* repeated) {
  repeated->add("},\n{\"name\":");
  repeated->endPart();
  repeated->add(base::jsonString(name.text));
  repeated->endPart();
  repeated->add(",\"cat\":" + base::jsonString(chromeCategoryOf(name)));
}

void addArgumentsOfName(const TraceName& name, TextBuilder* repeated) {
  if (kindOfChromeCategory(chromeCategoryOf(name)) != name.kind) {
    repeated->add(std::string("\"kind\":\"") + spanKindName(name.kind) + "\",");
  }
  if (name.color != 0) {
    repeated->add("\"color\":\"" + chromeColor(name.color) + "\",");
  }
}

void addDetails(const SpanDetails& details, TextBuilder* repeated) {
  if (!details.shapes.empty()) {
    repeated->add("\"Input Dims\":");
    repeated->endPart();
    repeated->addLists(details.shapes + ',');
    repeated->endPart();
  }
  if (!details.types.empty()) {
    repeated->add("\"Input type\":" + details.types + ',');
    repeated->endPart();
  }
  if (!details.arguments.empty()) {
    repeated->addLists(details.arguments + ',');
    repeated->endPart();
  }
  if (!details.module.empty()) {
    repeated->add("\"module\":" + base::jsonString(details.module) + ',');
  }
  if (details.flops != 0) {
    repeated->add("\"flops\":" + base::jsonNumber(details.flops) + ',');
  }
  if (details.bytes != 0) {
    repeated->add("\"bytes\":" + std::to_string(details.bytes) + ',');
  }
}

RepeatedText beginOfSpan(const TraceName& name, const SpanDetails& details) {
  TextBuilder repeated;
  addName(name, &repeated);
  repeated.add(",\"args\":{");
  addArgumentsOfName(name, &repeated);
  addDetails(details, &repeated);
  repeated.add("\"External id\":");
  return repeated.take();
}

RepeatedText endOfSpan(const TraceName& name) {
  TextBuilder repeated;
  addName(name, &repeated);
  return repeated.take();
}

}  // namespace

void SpanTexts::find(std::uint64_t key) {
  if (bytes_ > kMaxBytes) {
    entries_.clear();
    bytes_ = 0;
    last_ = nullptr;
  }
  const auto [found, isNew] = entries_.try_emplace(key);
  Entry* const entry = &found->second;
  if (isNew) {
    const TraceName& name = trace_.names[key >> 32];
    const auto details = static_cast<std::uint32_t>(key);
    entry->key = key;
    entry->repeated =
        details == kEnd ? endOfSpan(name) : beginOfSpan(name, trace_.details[details]);
    bytes_ +=
        sizeof(Entry) + 2 * entry->repeated.size();  // the parts take about as much as the text
  }
  if (last_ != nullptr) {
    last_->next = entry;
  }
  last_ = entry;
}

}  // namespace steptape::detail::profile
