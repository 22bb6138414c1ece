// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/train/safetensors.h"

#include <ATen/core/TensorBody.h>

namespace torch::nn {
class Module;
}

namespace steptape {

// Models in safetensors files, which PyTorch reads and writes with its package `safetensors`. A
// tensor's name is that of state_dict() in Python: "layer1.0.conv1.weight".

/// Options of loadSafetensors().
struct LoadSafetensorsOptions {
  /// Whether the file and the module must have the same tensors. If false, the call loads those
  /// that match and returns the differences.
  bool strict = true;

  /// Whether a floating-point tensor is converted to the module's floating-point type, as PyTorch's
  /// load_state_dict() does. Values are rounded to the nearest. If false, such a tensor is a
  /// mismatch. Tensors of integers, booleans and complex numbers are never converted.
  bool convert = true;
};

/// How the tensors of a file and a module differ.
struct SafetensorsDifferences {
  std::vector<std::string> missing;     ///< Names in the module only.
  std::vector<std::string> unexpected;  ///< Names in the file only.
  /// Tensors of another shape or type, one text each:
  /// `"fc.bias": got F32 [10]; expected F32 [1000]`.
  std::vector<std::string> mismatching;

  bool empty() const { return missing.empty() && unexpected.empty() && mismatching.empty(); }
};

/// Writes the parameters and buffers of a module to a safetensors file. Python reads it with
/// `safetensors.torch.load_model(model, path)` or `load_file(path)`.
///
/// The file appears when it is complete and on disk, or not at all. It replaces an existing file.
/// Missing directories are created. Tensors may be on any device and need not be contiguous.
///
/// Names that share one tensor, such as tied weights, are written once, under the first name in
/// alphabetical order. The metadata maps each other name to it, as in Python's save_model().
/// Tensors that overlap in another way are written in full.
///
/// Not collective: on several ranks, call it on the root.
///
/// @param path     The file, usually `….safetensors`.
/// @param module   The model.
/// @param metadata Text by name. The entry "format" is "pt" by default, which some Python programs
///                 expect.
/// @throws Error(kInvalidArgument), naming the tensor, if it is sparse or quantized, has no memory
///         or has an invalid name; Error(kIoError) if the file cannot be written.
/// @threads Not thread-safe: no other thread may change the module.
/// @cost   The model's size on disk, and an fsync. Tensors that are on a device or not contiguous
///         are copied one at a time.
STEPTAPE_EXPORT void saveSafetensors(const std::string& path, const torch::nn::Module& module,
                                     SafetensorsMetadata metadata = {});

/// Writes tensors by name, such as a part of a model. Each name is written in full, also if two of
/// them share memory.
///
/// @throws Error as the overload above.
STEPTAPE_EXPORT void saveSafetensors(const std::string& path,
                                     const std::map<std::string, at::Tensor>& tensors,
                                     SafetensorsMetadata metadata = {});

/// Reads parameters and buffers from a safetensors file into a module.
///
/// Each tensor keeps its memory, device and type. Tied names need one of their names in the file;
/// others of them in the file are unexpected. SafetensorsFile reads the metadata.
///
/// Not collective: on several ranks, call it on the root and then broadcastParameters().
///
/// @param path    The file.
/// @param module  The model, of any device.
/// @param options What must be equal.
/// @return the differences; empty if `options.strict`.
/// @throws Error(kInvalidArgument) with all differences if `options.strict`; Error(kIoError) if the
///         file cannot be opened; Error(kDataLoss), naming the tensor, if it is truncated or
///         damaged. In all these cases nothing has changed. If the disk fails or the file shrinks
///         during the call, also Error(kIoError) or Error(kDataLoss), and some tensors may have
///         changed.
/// @threads Not thread-safe: no other thread may use the module.
/// @cost   Reading the file. A contiguous tensor in main memory is read into its place; others are
///         copied one at a time.
STEPTAPE_EXPORT SafetensorsDifferences loadSafetensors(const std::string& path,
                                                       torch::nn::Module& module,
                                                       const LoadSafetensorsOptions& options = {});

/// Reads all tensors of a safetensors file into new tensors in main memory, by name.
///
/// @throws Error(kInvalidArgument), naming the tensor, if this LibTorch does not have its type,
///         such as F4; Error(kIoError) or Error(kDataLoss) as the overload above.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::map<std::string, at::Tensor> loadSafetensors(const std::string& path);

}  // namespace steptape
