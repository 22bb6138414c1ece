// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/train/safetensors.h"

namespace steptape::detail::train {

/// A tensor as its header describes it, before any check of the numbers.
struct DescribedTensor {
  SafetensorsInfo info;
  std::uint64_t begin = 0;  ///< Relative to the data.
  std::uint64_t end = 0;
};

/// The length of the header, before it.
inline constexpr std::size_t kSafetensorsLengthBytes = 8;

/// The format's limit for the header.
inline constexpr std::uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

/// The name of the metadata among those of the tensors.
inline constexpr const char* kSafetensorsMetadataName = "__metadata__";

/// Returns nothing if the format has no such type.
std::optional<SafetensorsDType> safetensorsDTypeNamed(std::string_view name);

/// Returns the names of all types, such as "BOOL, F4, …", for messages.
std::string safetensorsDTypeNames();

/// Returns a type and a shape, such as "F32 [64, 3, 7, 7]".
STEPTAPE_EXPORT std::string describe(const SafetensorsInfo& info);

/// Returns the start of a name, in quotation marks, for messages: names have any length.
STEPTAPE_EXPORT std::string shownName(std::string_view name);

/// Returns the bytes of a tensor's elements.
///
/// @return nothing if a product of the first dimensions exceeds 2^64 - 1, also if a later one is 0,
///         if the bits do, or if elements of less than a byte do not fill the last one: the rules
///         of the format's own library.
std::optional<std::uint64_t> byteSize(const SafetensorsInfo& info);

/// Returns whether the strides of a tensor fit an int64, as LibTorch needs. An empty tensor may
/// have dimensions that are too large for that.
STEPTAPE_EXPORT bool fitsStrides(const SafetensorsInfo& info);

/// Sorts tensors by their place and checks that they cover `dataBytes` bytes without gaps and
/// overlaps, and that each has the bytes of its type and shape. Of tensors with one name, the last
/// counts.
///
/// @param entries Is set. Offsets are relative to the data.
/// @return the problem; empty if there is none.
std::string arrangeEntries(std::vector<DescribedTensor> tensors, std::uint64_t dataBytes,
                           std::vector<SafetensorsFile::Entry>* entries);

}  // namespace steptape::detail::train
