// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/events/event.h"

#include "events/messages/add_metadata.h"

namespace steptape::detail::log {

/// Returns whether a tag with this first value has no plugin, so that TensorBoard does not show the
/// tag.
bool lacksMetadata(const event::Value& value);

/// Finds metadata that was lost with the first value of a tag.
///
/// @threads Not thread-safe: one thread at a time.
class LostMetadata {
 public:
  struct Found {
    event::SummaryMetadata metadata;
    bool isGuess = false;  ///< Derived from the value's form, not read from a file.
  };

  /// @param files Event files in which a value of the tag may still have its metadata; the first
  ///              match is used.
  explicit LostMetadata(std::vector<std::string> files) : files_(std::move(files)) {}

  /// Returns metadata for the tag `value.tag` that fits the value.
  /// @cost The first call reads all files.
  std::optional<Found> find(const event::Value& value);

 private:
  std::vector<std::string> files_;
  std::optional<events::MetadataByTag> known_;  // set by the first use
};

}  // namespace steptape::detail::log
