// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "steptape/train/safetensors.h"

#include "train/safetensors/tensor_layout.h"

namespace steptape::detail::train {

/// The contents of a header, before arrangeEntries().
struct SafetensorsHeader {
  std::vector<DescribedTensor> tensors;  ///< In the order of the header; names may repeat.
  SafetensorsMetadata metadata;
};

/// Parses the JSON of a header. Accepts what version 0.8.0 of the format's own library accepts:
/// fields that the format does not have are ignored, of a metadata entry with two values the last
/// counts, and `"__metadata__": null` means none.
///
/// Only a dimension of 2^63 or more is refused here and not there.
///
/// @param path Of the file, for messages.
/// @throws Error(kDataLoss) that names the tensor.
SafetensorsHeader readSafetensorsHeader(std::string_view json, const std::string& path);

/// Throws Error(kDataLoss) that names the file.
[[noreturn]] void failAsDamaged(const std::string& path, const std::string& problem);

}  // namespace steptape::detail::train
