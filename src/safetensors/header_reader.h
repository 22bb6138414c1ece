// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "steptape/safetensors/safetensors.h"

namespace steptape::detail {

/// The contents of a header, before arrangeEntries().
struct SafetensorsHeader {
  std::vector<SafetensorsFile::Entry> entries;
  SafetensorsMetadata metadata;
};

/// Parses the JSON of a header. A member that the format does not have is an error.
///
/// @param path Of the file, for messages.
/// @throws Error(kDataLoss) that names the tensor.
SafetensorsHeader readSafetensorsHeader(std::string_view json, const std::string& path);

/// Throws Error(kDataLoss) that names the file.
[[noreturn]] void failAsDamaged(const std::string& path, const std::string& problem);

}  // namespace steptape::detail
