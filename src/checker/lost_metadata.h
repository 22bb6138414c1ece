// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/event/event.h"

#include "event/add_metadata.h"

namespace steptape::detail {

/// Whether nothing says what a tag is whose first value is this one, so that TensorBoard does not
/// show the tag.
bool lacksMetadata(const event::Value& value);

/// Finds metadata that was lost with the first value of a tag.
///
/// @threads Not thread-safe: one thread at a time.
class LostMetadata {
 public:
  struct Found {
    event::SummaryMetadata metadata;
    bool isGuess = false;  ///< Whether no file says it, only the form of the value.
  };

  /// @param files Event files in which a value of the tag may still have its metadata; of several
  ///              the first counts.
  explicit LostMetadata(std::vector<std::string> files) : files_(std::move(files)) {}

  /// The metadata of the tag `value.tag` that suits the value.
  /// @cost The first call reads all files.
  std::optional<Found> find(const event::Value& value);

 private:
  std::vector<std::string> files_;
  std::optional<MetadataByTag> known_;  // once it was needed
};

}  // namespace steptape::detail
