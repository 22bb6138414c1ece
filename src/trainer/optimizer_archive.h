// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <torch/optim/optimizer.h>
#include <torch/serialize/archive.h>

namespace steptape::detail {

// An optimizer's state and the options of its parameter groups, learning rate and momentum among
// them. Optimizer::save() writes both, but load() of LibTorch 1.13 gives only the state back, so
// the options are written once more under a key of our own.

inline std::string optionsKey(std::size_t group) {
  return "options_of_group_" + std::to_string(group);
}

inline void saveOptimizer(const torch::optim::Optimizer& optimizer,
                          torch::serialize::OutputArchive& archive) {
  optimizer.save(archive);
  for (std::size_t group = 0; group < optimizer.param_groups().size(); ++group) {
    torch::serialize::OutputArchive options(archive.compilation_unit());
    optimizer.param_groups()[group].options().serialize(options);
    archive.write(optionsKey(group), options);
  }
}

/// Throws c10::Error if the archive was saved from an optimizer of another form.
inline void loadOptimizer(torch::optim::Optimizer& optimizer,
                          torch::serialize::InputArchive& archive) {
  optimizer.load(archive);
  for (std::size_t group = 0; group < optimizer.param_groups().size(); ++group) {
    torch::serialize::InputArchive options;
    archive.read(optionsKey(group), options);
    optimizer.param_groups()[group].options().serialize(options);
  }
}

}  // namespace steptape::detail
