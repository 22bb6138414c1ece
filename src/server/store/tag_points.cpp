// SPDX-License-Identifier: Apache-2.0
#include "server/store/tag_points.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "base/utf8.h"
#include "events/messages/event_codec.h"
#include "log/check/tag_kind.h"

namespace steptape::detail::server {
namespace {

using log::TagBatch;

/// Returns what TensorBoard's data server says of images and audio in the compatible form, which it
/// shows as tensors: the message of their plugin with its field `converted_to_tensor`.
/// @source tensorboard/plugins/image/plugin_data.proto, tensorboard/plugins/audio/plugin_data.proto
const char* contentOfConverted(const std::string& plugin) {
  if (plugin == event::kImagesPlugin) {
    return "\x10\x01";
  }
  return plugin == event::kAudioPlugin ? "\x18\x01" : "";
}

event::DataClass dataClassOf(const event::SummaryMetadata& metadata) {
  if (metadata.pluginName == kGraphsPlugin || metadata.pluginName == kTaggedRunMetadataPlugin) {
    return event::DataClass::kBlobSequence;
  }
  event::Value value;
  value.metadata = metadata;
  return log::kindOf(value).dataClass;
}

void setMetadata(TagPoints* tag, event::SummaryMetadata metadata) {
  if (metadata.pluginContent.empty() && metadata.dataClass == event::DataClass::kUnknown) {
    metadata.pluginContent = contentOfConverted(metadata.pluginName);
  }
  metadata.dataClass = dataClassOf(metadata);
  tag->plugin = metadata.pluginName;
  tag->dataClass = metadata.dataClass;
  tag->metadata.clear();
  // Protocol Buffers rejects a whole answer because of one other string.
  for (std::string* const text :
       {&metadata.pluginName, &metadata.displayName, &metadata.description}) {
    *text = base::replaceInvalidUtf8(*text);
  }
  events::encodeMetadata(metadata, &tag->metadata);
}

}  // namespace

void TagMap::append(log::SeriesBatch* batch) {
  for (TagBatch* const tag : batch->touched()) {
    if (tag->tag == kMetaGraphTag && tag->plugin == kGraphsPlugin) {
      continue;  // no page shows it
    }
    // Requests and answers hold names in UTF-8 only.
    append(&tags_[base::replaceInvalidUtf8(tag->tag)], tag);
  }
  batch->clear();
}

void TagMap::append(TagPoints* tag, TagBatch* batch) {
  if (tag->plugin.empty() && batch->metadata) {
    setMetadata(tag, *batch->metadata);
  }
  noteTimes(batch->scalars);
  batch->follow(tag->plugin);
  // Numbers of a tag of unknown kind are in both columns, and stay in both.
  if (batch->kind == TagBatch::Kind::kScalars) {
    tag->values.clear();
  } else {
    appendValues(tag, batch->values);
  }
  if (batch->kind == TagBatch::Kind::kOther) {
    tag->scalars.clear();
  } else {
    tag->scalars.append(batch->scalars);
  }
}

void TagMap::appendValues(TagPoints* tag, const std::vector<ValueLocation>& values) {
  for (const ValueLocation& value : values) {
    if (std::isnan(value.wallTime)) {
      continue;
    }
    firstWallTime_ = std::min(firstWallTime_, value.wallTime);
    const auto from = std::lower_bound(
        tag->values.begin(), tag->values.end(), value.step,
        [](const ValueLocation& known, std::int64_t step) { return known.step < step; });
    tag->values.erase(from, tag->values.end());
    tag->values.push_back(value);
  }
}

void TagMap::noteTimes(const ScalarColumns& points) {
  for (const double time : points.wallTimes) {
    // False for NaN.
    firstWallTime_ = time < firstWallTime_ ? time : firstWallTime_;
  }
}

void TagMap::endUpdate(bool hasLost) {
  for (auto& [name, tag] : tags_) {
    if (tag.plugin.empty() && tag.scalars.size() > 0) {
      event::SummaryMetadata metadata;
      metadata.pluginName = event::kScalarsPlugin;
      setMetadata(&tag, hasLost ? metadata : event::SummaryMetadata());
      tag.plugin.clear();  // it is a guess, which metadata may still replace
    }
  }
}

bool TagMap::agreesWith(const log::SeriesBatch& batch) const {
  const std::vector<TagBatch*>& tags = batch.touched();
  return std::all_of(tags.begin(), tags.end(), [&](const TagBatch* each) {
    const auto known = tags_.find(base::replaceInvalidUtf8(each->tag));
    return known == tags_.end() || each->agreesWith(known->second.plugin);
  });
}

std::size_t TagMap::scalars() const {
  std::size_t count = 0;
  for (const auto& [name, tag] : tags_) {
    count += tag.scalars.size();
  }
  return count;
}

void TagMap::reserve(double times) {
  for (auto& [name, tag] : tags_) {
    tag.scalars.reserve(static_cast<std::size_t>(times * static_cast<double>(tag.scalars.size())));
  }
}

}  // namespace steptape::detail::server
