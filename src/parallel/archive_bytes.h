// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <torch/serialize/archive.h>

namespace steptape::detail {

inline std::string bytesOf(torch::serialize::OutputArchive& archive) {
  std::string bytes;
  archive.save_to([&bytes](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  return bytes;
}

/// @throws c10::Error if the bytes are damaged.
inline void openArchive(torch::serialize::InputArchive& archive, const std::string& bytes,
                        c10::optional<c10::Device> device = c10::nullopt) {
  archive.load_from(bytes.data(), bytes.size(), device);
}

}  // namespace steptape::detail
