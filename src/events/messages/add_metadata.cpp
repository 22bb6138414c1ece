// SPDX-License-Identifier: Apache-2.0
#include "events/messages/add_metadata.h"

#include "events/messages/event_codec.h"
#include "events/messages/event_fields.h"
#include "events/messages/wire_fields.h"
#include "events/messages/wire_format.h"

namespace steptape::detail::events {
namespace {

std::string_view tagOf(std::string_view value) {
  std::string_view tag;
  forEachField(value, [&](const WireField& field) {
    if (field.number == kValueTag && field.hasData) {
      tag = field.data;
    }
  });
  return tag;
}

/// Returns the message after replacing the data of each field `number` by `remake(data)`.
template <typename Remake>
std::string withFields(std::string_view message, std::uint32_t number, const Remake& remake) {
  std::string out;
  out.reserve(message.size());
  forEachField(message, [&](const WireField& field) {
    if (field.number == number && field.hasData) {
      appendBytesField(&out, number, remake(field.data));
    } else {
      out += field.whole;
    }
  });
  return out;
}

}  // namespace

std::string addMetadata(std::string_view event, MetadataByTag metadata) {
  const auto remadeValue = [&](std::string_view value) {
    std::string out(value);
    const auto it = metadata.find(tagOf(value));
    if (it != metadata.end()) {
      std::string bytes;
      encodeMetadata(it->second, &bytes);
      // If an embedded message occurs twice, decoders merge both, and fields of the later one win.
      appendBytesField(&out, kValueMetadata, bytes);
      metadata.erase(it);
    }
    return out;
  };
  return withFields(event, kEventSummary, [&](std::string_view summary) {
    return withFields(summary, kSummaryValue, remadeValue);
  });
}

}  // namespace steptape::detail::events
