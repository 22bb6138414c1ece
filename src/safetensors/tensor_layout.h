// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/safetensors/safetensors.h"

namespace steptape::detail {

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
/// @return nothing if their bits exceed an int64, with zero dimensions counted as one so that
///         strides fit too, or if elements of less than a byte do not fill the last one.
std::optional<std::uint64_t> byteSize(const SafetensorsInfo& info);

/// Sorts tensors by their place and checks that they cover `dataBytes` bytes without gaps and
/// overlaps, that each has the bytes of its type and shape, and that no name occurs twice.
///
/// @param entries Offsets are relative to the data.
/// @return the problem; empty if there is none.
std::string arrangeEntries(std::vector<SafetensorsFile::Entry>& entries, std::uint64_t dataBytes);

}  // namespace steptape::detail
