// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail::values {

/// One embedding in projector_config.pbtxt. Paths are relative to the file's directory.
struct EmbeddingEntry {
  std::string tensorName;
  std::string tensorPath;
  std::string metadataPath;     ///< Empty: none.
  std::string spritePath;       ///< Empty: none.
  std::int64_t spriteCell = 0;  ///< Pixels per side of a thumbnail.
};

/// Returns an embedding's directory within the run's directory: the step with at least five digits,
/// then the tag. '%', '/', '\' and control characters of the tag are written as "%" and two digits.
///
/// @source tensorboardX/writer.py, SummaryWriter._encode
STEPTAPE_EXPORT std::string embeddingDirectory(std::string_view tag, std::int64_t step);

/// Returns the name that the projector shows: `<tag>:<step>`. The step has at least five digits,
/// because TensorBoard removes ":0" from the end of a name.
STEPTAPE_EXPORT std::string embeddingName(std::string_view tag, std::int64_t step);

/// Returns `config`, a ProjectorConfig in text format, with an additional entry, or with the entry
/// of this name replaced. All other text, including comments, stays unchanged.
///
/// @return nothing if `config` is not text format.
/// @source https://protobuf.dev/reference/protobuf/textformat-spec/
STEPTAPE_EXPORT std::optional<std::string> withEmbedding(std::string_view config,
                                                         const EmbeddingEntry& entry);

}  // namespace steptape::detail::values
