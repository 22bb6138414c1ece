// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <istream>
#include <string>

namespace steptape::detail {

/// Reads an ONNX model's structure out of a file that may be far larger than memory.
///
/// @param in   At the first byte of the file, `size` bytes before its end.
/// @param name What messages call the file.
/// @return an encoded wire::OnnxModel.
/// @throws Error(kInvalidArgument) with the offset where the bytes are no ONNX model;
///         Error(kIoError) if `in` ends early.
/// @cost   Keeps only the fields of proto/steptape/wire/onnx.proto in memory.
std::string keepOnnxStructure(std::istream* in, std::uint64_t size, const std::string& name);

}  // namespace steptape::detail
