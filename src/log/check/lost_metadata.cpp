// SPDX-License-Identifier: Apache-2.0
#include "log/check/lost_metadata.h"

#include <string_view>
#include <variant>

#include "steptape/base/status.h"
#include "steptape/events/record_reader.h"

#include "events/messages/event_codec.h"
#include "events/messages/scalar_event_view.h"
#include "log/check/event_text.h"
#include "log/check/metadata_by_form.h"
#include "log/check/record_walk.h"
#include "log/check/value_form.h"

namespace steptape::detail::log {
namespace {

bool isBareScalars(std::string_view payload) {
  events::ScalarEventView event(payload);
  events::ScalarView scalar;
  while (event.next(&scalar)) {
    if (scalar.hasMetadata) {
      return false;
    }
  }
  return event.isWhole();
}

void takeMetadata(std::string_view payload, events::MetadataByTag* known) {
  event::Event event;
  if (isBareScalars(payload) || !events::decodeEvent(payload, &event).ok() ||
      findIllFormedText(event) != nullptr) {
    return;
  }
  if (const auto* summary = std::get_if<event::Summary>(&event.what)) {
    for (const event::Value& value : summary->values) {
      if (value.metadata && !lacksMetadata(value)) {
        known->emplace(value.tag, *value.metadata);
      }
    }
  }
}

void takeMetadata(const ByteSource& source, events::MetadataByTag* known) {
  RecordWalk walk(&source);
  while (walk.nextRecord()) {
    takeMetadata(walk.payload(), known);
  }
}

events::MetadataByTag metadataIn(const std::vector<std::string>& files) {
  events::MetadataByTag known;
  for (const std::string& file : files) {
    try {
      takeMetadata(FileByteSource(file), &known);
    } catch (const Error&) {  // unreadable files are skipped
    }
  }
  return known;
}

bool suits(const event::SummaryMetadata& metadata, event::Value value) {
  value.metadata = metadata;
  return !checkForm(value);
}

}  // namespace

bool lacksMetadata(const event::Value& value) {
  const TagKind kind = kindOf(value);
  return std::holds_alternative<event::Tensor>(value.data) && kind.plugin.empty() &&
         kind.dataClass == event::DataClass::kUnknown;
}

std::optional<LostMetadata::Found> LostMetadata::find(const event::Value& value) {
  if (!known_) {
    known_ = metadataIn(files_);
  }
  const auto known = known_->find(value.tag);
  if (known != known_->end() && suits(known->second, value)) {
    return Found{known->second, false};
  }
  const std::optional<event::SummaryMetadata> guess = metadataByForm(value);
  return guess ? std::optional(Found{*guess, true}) : std::nullopt;
}

}  // namespace steptape::detail::log
