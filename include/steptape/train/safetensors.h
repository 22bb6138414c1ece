// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {

/// The element type of a tensor in a safetensors file, in the format's order: files hold tensors
/// from the last type to the first.
enum class SafetensorsDType : std::uint8_t {
  kBool,
  kF4,      ///< Two elements per byte.
  kF6E2M3,  ///< Four elements in three bytes.
  kF6E3M2,  ///< Four elements in three bytes.
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,  ///< Without infinities, which PyTorch calls float8_e4m3fn.
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kC64,  ///< Two F32: the real and the imaginary part.
  kF64,
  kI64,
  kU64,
};

/// Returns the name that files use, such as "F32" or "F8_E4M3".
STEPTAPE_EXPORT const char* safetensorsDTypeName(SafetensorsDType dtype) noexcept;

/// Metadata of a file: text by name.
using SafetensorsMetadata = std::map<std::string, std::string>;

/// A tensor without its elements.
struct SafetensorsInfo {
  std::string name;
  SafetensorsDType dtype = SafetensorsDType::kF32;
  std::vector<std::int64_t> shape;
};

/// Reads a safetensors file: the header when it is opened, each tensor on request.
///
///     steptape::SafetensorsFile file("model.safetensors");
///     for (const auto& entry : file.entries()) {
///       std::vector<char> elements(entry.bytes);
///       file.read(entry, elements.data());
///     }
///
/// The header is checked completely before the first tensor is read: the tensors cover the file
/// without gaps or overlaps. It accepts what version 0.8.0 of the format's own library accepts,
/// with the same result: fields that the format does not have are ignored, and of two entries with
/// one name the last counts. Only a dimension of 2^63 or more is refused here and not there. The
/// file is read with pread(2), not mapped, so that a file that shrinks causes an error and no
/// signal.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  https://github.com/huggingface/safetensors, "Format"
class STEPTAPE_EXPORT SafetensorsFile {
 public:
  /// A tensor and its place in the file.
  struct Entry : SafetensorsInfo {
    std::uint64_t offset = 0;  ///< Of the first byte, from the start of the file. Any alignment.
    std::uint64_t bytes = 0;
  };

  /// Opens the file and reads its header.
  ///
  /// @throws Error(kIoError) if the file cannot be read; Error(kDataLoss), naming the tensor, if it
  ///         is truncated or damaged, is another kind of file, or has a header of over 100,000,000
  ///         bytes.
  /// @cost   Memory of about ten times the header, which has at most 100 MB.
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::string& path() const { return path_; }

  /// Returns the tensors in the order in which the file holds them. Reading them in this order is
  /// fastest.
  const std::vector<Entry>& entries() const { return entries_; }

  /// Returns the metadata; empty if the file has none.
  const SafetensorsMetadata& metadata() const { return metadata_; }

  /// Reads the elements of a tensor: little-endian, in row-major order.
  ///
  /// @param entry One of entries().
  /// @param data  Memory for `entry.bytes` bytes.
  /// @throws Error(kIoError) if the file cannot be read; Error(kDataLoss) if it has shrunk. `data`
  ///         then holds the elements before the first missing one.
  /// @cost   One copy, and no memory.
  void read(const Entry& entry, void* data) const;

 private:
  SafetensorsFile(std::string path, int descriptor);

  std::string path_;
  int descriptor_;
  std::vector<Entry> entries_;
  SafetensorsMetadata metadata_;
};

/// Writes a safetensors file, which appears under its name when it is complete and on disk, or not
/// at all. It replaces an existing file. Missing directories are created.
///
///     const std::vector<float> weight(6);
///     steptape::writeSafetensors("model.safetensors",
///                                {{"weight", steptape::SafetensorsDType::kF32, {2, 3}}},
///                                [&](std::size_t) { return weight.data(); });
///
/// The file has the layout that the format's own library writes: tensors ordered by type and then
/// by name, after a header padded to a multiple of 8 bytes, so that every element is aligned.
///
/// @param path     The file.
/// @param tensors  Names, types and shapes, in any order.
/// @param elements Returns the elements of `tensors[index]`: little-endian, in row-major order.
///                 Called once per tensor, in the order of the file. The memory must stay valid
///                 until the next call, so one tensor at a time needs to be in memory.
/// @param metadata Text by name; may be empty.
/// @throws Error(kInvalidArgument) if a name occurs twice, is "__metadata__" or is not UTF-8, if a
///         shape is invalid, or if the header would exceed 100 MB; Error(kIoError) if the file
///         cannot be written. The file at `path` is then as before.
/// @threads Thread-safe.
/// @cost   The size of the file on disk, and an fsync.
STEPTAPE_EXPORT void writeSafetensors(const std::string& path,
                                      const std::vector<SafetensorsInfo>& tensors,
                                      const std::function<const void*(std::size_t index)>& elements,
                                      const SafetensorsMetadata& metadata = {});

}  // namespace steptape
