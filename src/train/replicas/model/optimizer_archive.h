// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

#include "train/replicas/model/tensor_schema.h"

#include <torch/serialize/archive.h>

namespace torch::optim {
class Optimizer;
}

namespace steptape::detail::train {

// An optimizer as bytes: its state and the options of its parameter groups, including learning rate
// and momentum. The format is an archive of torch::serialize.

/// Returns what must be equal for one optimizer to load the bytes of another: the kind, and the
/// groups with their parameters.
STEPTAPE_EXPORT TensorSchema schemaOf(const torch::optim::Optimizer& optimizer);

/// Returns schemaOf() plus the groups' options, which must be equal on ranks whose optimizers make
/// the same steps.
STEPTAPE_EXPORT TensorSchema schemaWithOptionsOf(const torch::optim::Optimizer& optimizer);

/// Writes state and options to `archive`, which refers to the state's memory until it is bytes.
///
/// @throws c10::Error if the optimizer cannot be saved.
STEPTAPE_EXPORT void writeOptimizer(const torch::optim::Optimizer& optimizer,
                                    torch::serialize::OutputArchive& archive);
/// The same as bytes.
STEPTAPE_EXPORT std::string optimizerToBytes(const torch::optim::Optimizer& optimizer);

/// Restores saved state and options. State that the saved optimizer did not have is removed. The
/// state is put on the device of the first parameter.
///
/// @throws c10::Error if the bytes are not those of an optimizer with the same schema.
STEPTAPE_EXPORT void optimizerFromBytes(torch::optim::Optimizer& optimizer,
                                        const std::string& bytes);
/// The same from the archive that writeOptimizer() filled; its tensors stay where they are.
STEPTAPE_EXPORT void optimizerFromArchive(torch::optim::Optimizer& optimizer,
                                          torch::serialize::InputArchive& archive);

/// Returns the device of the first parameter; the CPU if there is none.
STEPTAPE_EXPORT c10::Device deviceOf(const torch::optim::Optimizer& optimizer);

/// Any archive as bytes; `expectedBytes` saves copies while the string grows.
inline std::string bytesOf(torch::serialize::OutputArchive& archive,
                           std::size_t expectedBytes = 0) {
  std::string bytes;
  bytes.reserve(expectedBytes);
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

}  // namespace steptape::detail::train
