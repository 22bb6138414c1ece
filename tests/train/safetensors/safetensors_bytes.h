// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "steptape/train/safetensors.h"

#include "base/little_endian.h"

namespace steptape::test {

/// A file with this header, whatever is in it, and `data`.
inline std::string safetensorsBytes(const std::string& header, const std::string& data = {}) {
  std::string bytes(8, '\0');
  detail::base::storeLittleEndian64(bytes.data(), header.size());
  return bytes + header + data;
}

inline void writeBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// What the Python package safetensors 0.8.0 writes with torch 2.13 for
///
///     save_file({"b.weight": torch.tensor([[1., 2.], [3., 4.]]),
///                "a.count": torch.tensor(7),
///                'größe\n"x"': torch.zeros(0, 3, dtype=torch.uint8),
///                "h": torch.tensor([1.5], dtype=torch.float16)},
///               path, metadata={"format": "pt"})
inline std::string pythonsFile() {
  using namespace std::string_literals;
  return safetensorsBytes(
      R"({"__metadata__":{"format":"pt"},)"
      R"("a.count":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("b.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]},)"
      R"("h":{"dtype":"F16","shape":[1],"data_offsets":[24,26]},)"
      R"("größe\n\"x\"":{"dtype":"U8","shape":[0,3],"data_offsets":[26,26]}}   )",
      "\7\0\0\0\0\0\0\0\0\0\x80?\0\0\0@\0\0@@\0\0\x80@\0>"s);
}

/// The elements of a tensor, as bytes.
inline std::string elementsOf(const SafetensorsFile& file, const SafetensorsFile::Entry& entry) {
  std::string bytes(entry.bytes, '\0');
  file.read(entry, bytes.data());
  return bytes;
}

}  // namespace steptape::test
