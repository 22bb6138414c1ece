// SPDX-License-Identifier: Apache-2.0
#include "log/check/event_text.h"

#include <initializer_list>
#include <variant>

#include "base/utf8.h"

namespace steptape::detail::log {
namespace {

const std::string* findIllFormed(std::initializer_list<const std::string*> texts) {
  for (const std::string* text : texts) {
    if (!base::isValidUtf8(*text)) {
      return text;
    }
  }
  return nullptr;
}

const std::string* findIllFormed(const event::Value& value) {
  if (const std::string* text = findIllFormed({&value.tag})) {
    return text;
  }
  if (value.metadata) {
    const event::SummaryMetadata& metadata = *value.metadata;
    if (const std::string* text =
            findIllFormed({&metadata.pluginName, &metadata.displayName, &metadata.description})) {
      return text;
    }
  }
  const auto* audio = std::get_if<event::SummaryAudio>(&value.data);
  return audio != nullptr ? findIllFormed({&audio->contentType}) : nullptr;
}

const std::string* findIllFormed(const event::Event::What& what) {
  if (const auto* summary = std::get_if<event::Summary>(&what)) {
    for (const event::Value& value : summary->values) {
      if (const std::string* text = findIllFormed(value)) {
        return text;
      }
    }
    return nullptr;
  }
  if (const auto* version = std::get_if<event::FileVersion>(&what)) {
    return findIllFormed({&version->version});
  }
  if (const auto* log = std::get_if<event::SessionLog>(&what)) {
    return findIllFormed({&log->checkpointPath, &log->message});
  }
  const auto* metadata = std::get_if<event::TaggedRunMetadata>(&what);
  return metadata != nullptr ? findIllFormed({&metadata->tag}) : nullptr;
}

}  // namespace

const std::string* findIllFormedText(const event::Event& event) {
  const std::string* text = findIllFormed(event.what);
  return text != nullptr ? text : findIllFormed({&event.sourceWriter});
}

}  // namespace steptape::detail::log
