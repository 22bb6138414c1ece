// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <istream>
#include <string>

namespace steptape::detail::events {

/// Reads the structure of an ONNX model from a file that may be far larger than memory.
///
/// @param in   At the first byte of the file; `size` bytes follow.
/// @param name The file's name in messages.
/// @return an encoded wire::OnnxModel.
/// @throws Error(kInvalidArgument) with the offset at which the bytes are not an ONNX model;
///         Error(kIoError) if `in` ends early.
/// @cost   Keeps only the fields of proto/steptape/wire/onnx.proto in memory.
std::string keepOnnxStructure(std::istream* in, std::uint64_t size, const std::string& name);

}  // namespace steptape::detail::events
