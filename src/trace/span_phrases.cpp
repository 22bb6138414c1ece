// SPDX-License-Identifier: Apache-2.0
#include "trace/span_phrases.h"

#include <cstdio>
#include <string>

#include "steptape/base/json.h"

#include "trace/chrome_format.h"

namespace steptape::detail {
namespace {

/// A trace whose spans all differ takes no more memory than this many.
constexpr std::size_t kMaxEntries = 16 * 1024;

/// Lists that differ have elements in common, so each is a part.
void addLists(std::string_view text, Phrase* phrase) {
  constexpr std::string_view kBetween = "], ";
  for (std::size_t end; (end = text.find(kBetween)) != std::string_view::npos;) {
    phrase->add(text.substr(0, end + kBetween.size()));
    text.remove_prefix(end + kBetween.size());
  }
  phrase->add(text);
}

std::string categoryOf(const TraceName& name) {
  return name.category.empty() ? chromeCategory(name.kind) : name.category;
}

void addDetails(const SpanDetails& details, Phrase* phrase) {
  if (!details.shapes.empty()) {
    phrase->add("\"Input Dims\":");
    addLists(details.shapes + ',', phrase);
  }
  if (!details.types.empty()) {
    phrase->add("\"Input type\":" + details.types + ',');
  }
  std::string text;
  if (!details.module.empty()) {
    text += "\"module\":";
    appendJsonString(&text, details.module);
    text += ',';
  }
  if (details.flops != 0) {
    text += "\"flops\":";
    appendJsonNumber(&text, details.flops);
    text += ',';
  }
  if (details.bytes != 0) {
    text += "\"bytes\":";
    appendJsonInteger(&text, details.bytes);
    text += ',';
  }
  phrase->add(text);
  if (!details.arguments.empty()) {
    addLists(details.arguments + ',', phrase);
  }
}

void addName(const TraceName& name, Phrase* phrase) {
  phrase->add("},\n{\"name\":");
  phrase->add(quotedJson(name.text));
  phrase->add(",\"cat\":" + quotedJson(categoryOf(name)));
}

void addArguments(const TraceName& name, const SpanDetails& details, Phrase* phrase) {
  std::string text = ",\"args\":{";
  if (kindOfChromeCategory(categoryOf(name)) != name.kind) {
    text += std::string("\"kind\":\"") + spanKindName(name.kind) + "\",";
  }
  if (name.color != 0) {
    char color[24];
    std::snprintf(color, sizeof color, "\"color\":\"#%06X\",", name.color & 0xffffffu);
    text += color;
  }
  phrase->add(text);
  addDetails(details, phrase);
  phrase->add("\"External id\":");
}

}  // namespace

void SpanPhrases::find(std::uint64_t key) {
  if (entries_.size() == kMaxEntries) {
    entries_.clear();
    last_ = nullptr;
  }
  const auto [found, isNew] = entries_.try_emplace(key, Entry{key, nullptr, {}});
  Entry* const entry = &found->second;
  if (isNew) {
    const TraceName& name = trace_.names[key >> 32];
    const auto details = static_cast<std::uint32_t>(key);
    addName(name, &entry->phrase);
    if (details != kEnd) {
      addArguments(name, trace_.details[details], &entry->phrase);
    }
  }
  if (last_ != nullptr) {
    last_->next = entry;
  }
  last_ = entry;
}

}  // namespace steptape::detail
