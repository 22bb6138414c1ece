// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/text/span_phrases.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/json_text.h"
#include "profile/trace/chrome/chrome_format.h"

namespace steptape::detail::profile {
namespace {

/// Maximum memory for a trace whose spans all differ.
constexpr std::size_t kMaxBytes = std::size_t{8} << 20;

/// Builds a phrase, and decides where its parts end. Parts are looked up one by one: many short
/// parts take long, and few long parts differ more often.
class PhraseBuilder {
 public:
  void add(std::string_view text) { part_ += text; }

  void endPart() {
    if (!part_.empty()) {
      phrase_.add(part_);
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

  Phrase take() {
    endPart();
    return std::move(phrase_);
  }

 private:
  Phrase phrase_;
  std::string part_;
};

void addName(const TraceName& name, PhraseBuilder* phrase) {
  phrase->add("},\n{\"name\":");
  phrase->endPart();
  phrase->add(base::jsonString(name.text));
  phrase->endPart();
  phrase->add(",\"cat\":" + base::jsonString(chromeCategoryOf(name)));
}

void addArgumentsOfName(const TraceName& name, PhraseBuilder* phrase) {
  if (kindOfChromeCategory(chromeCategoryOf(name)) != name.kind) {
    phrase->add(std::string("\"kind\":\"") + spanKindName(name.kind) + "\",");
  }
  if (name.color != 0) {
    phrase->add("\"color\":\"" + chromeColor(name.color) + "\",");
  }
}

void addDetails(const SpanDetails& details, PhraseBuilder* phrase) {
  if (!details.shapes.empty()) {
    phrase->add("\"Input Dims\":");
    phrase->endPart();
    phrase->addLists(details.shapes + ',');
    phrase->endPart();
  }
  if (!details.types.empty()) {
    phrase->add("\"Input type\":" + details.types + ',');
    phrase->endPart();
  }
  if (!details.arguments.empty()) {
    phrase->addLists(details.arguments + ',');
    phrase->endPart();
  }
  if (!details.module.empty()) {
    phrase->add("\"module\":" + base::jsonString(details.module) + ',');
  }
  if (details.flops != 0) {
    phrase->add("\"flops\":" + base::jsonNumber(details.flops) + ',');
  }
  if (details.bytes != 0) {
    phrase->add("\"bytes\":" + std::to_string(details.bytes) + ',');
  }
}

Phrase beginOfSpan(const TraceName& name, const SpanDetails& details) {
  PhraseBuilder phrase;
  addName(name, &phrase);
  phrase.add(",\"args\":{");
  addArgumentsOfName(name, &phrase);
  addDetails(details, &phrase);
  phrase.add("\"External id\":");
  return phrase.take();
}

Phrase endOfSpan(const TraceName& name) {
  PhraseBuilder phrase;
  addName(name, &phrase);
  return phrase.take();
}

}  // namespace

void SpanPhrases::find(std::uint64_t key) {
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
    entry->phrase = details == kEnd ? endOfSpan(name) : beginOfSpan(name, trace_.details[details]);
    bytes_ += sizeof(Entry) + 2 * entry->phrase.size();  // the parts take about as much as the text
  }
  if (last_ != nullptr) {
    last_->next = entry;
  }
  last_ = entry;
}

}  // namespace steptape::detail::profile
