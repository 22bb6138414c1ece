// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail {

/// What projector_config.pbtxt says of one embedding; paths are relative to its directory.
struct EmbeddingEntry {
  std::string tensorName;
  std::string tensorPath;
  std::string metadataPath;     ///< Empty: none.
  std::string spritePath;       ///< Empty: none.
  std::int64_t spriteCell = 0;  ///< Pixels to a side of a thumbnail.
};

/// An embedding's directory within its run's: the step with at least five digits, then the tag with
/// '%', '/', '\' and control characters as "%" and two digits.
///
/// @source tensorboardX/writer.py, SummaryWriter._encode
STEPTAPE_EXPORT std::string embeddingDirectory(std::string_view tag, std::int64_t step);

/// The name that the projector offers: `<tag>:<step>`, the step with at least five digits, because
/// TensorBoard takes ":0" off the end of a name.
STEPTAPE_EXPORT std::string embeddingName(std::string_view tag, std::int64_t step);

/// `config`, a ProjectorConfig in text format, with an entry more, or with the entry of that name
/// replaced; all other text, including comments, stays unchanged.
///
/// @return nothing if `config` is not text format.
/// @source https://protobuf.dev/reference/protobuf/textformat-spec/
STEPTAPE_EXPORT std::optional<std::string> withEmbedding(std::string_view config,
                                                         const EmbeddingEntry& entry);

}  // namespace steptape::detail
