// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/model/optimizer_archive.h"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <typeinfo>
#include <utility>

#include <ATen/ops/zeros.h>
#include <c10/util/Type.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/optimizer.h>

namespace steptape::detail::train {
namespace {

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

/// Optimizer::save() writes the options of the groups, but load() of LibTorch 1.13 restores only
/// the state. So the options are also written under a separate key.
std::string optionsKey(std::size_t group) {
  return "options_of_group_" + std::to_string(group);
}

/// LBFGS has scratch space that each step writes before it reads it. Unused entries are undefined
/// tensors, which LibTorch cannot save.
void defineScratchSpace(const torch::optim::Optimizer& optimizer) {
  if (dynamic_cast<const torch::optim::LBFGS*>(&optimizer) == nullptr) {
    return;
  }
  for (const auto& item : optimizer.state()) {
    auto& scratch = static_cast<torch::optim::LBFGSParamState&>(*item.second).al();
    if (scratch.has_value()) {
      std::replace_if(
          scratch->begin(), scratch->end(),
          [](const at::Tensor& entry) { return !entry.defined(); }, at::zeros({}));
    }
  }
}

/// Adds options by name: LibTorch writes the names only to an archive. Omits options of a class
/// that cannot be saved.
void addOptions(const torch::optim::OptimizerOptions& options, const std::string& group,
                TensorSchema& schema) {
  OutputArchive written;
  try {
    options.serialize(written);
  } catch (const c10::Error&) {
    return;
  }
  InputArchive archive;
  openArchive(archive, bytesOf(written));
  for (const std::string& name : archive.keys()) {
    c10::IValue value;
    archive.read(name, value);
    std::ostringstream line;
    line << group << ' ' << name << " = " << value;
    schema.add(line.str());
  }
}

}  // namespace

TensorSchema schemaOf(const torch::optim::Optimizer& optimizer) {
  TensorSchema schema;
  schema.add("an optimizer of type " + c10::demangle(typeid(optimizer).name()));
  for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    const std::string group = "group " + std::to_string(i);
    const std::vector<at::Tensor>& parameters = optimizer.param_groups()[i].params();
    schema.add(group + " of " + std::to_string(parameters.size()) + " parameters");
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      schema.add(group + " parameter " + std::to_string(p), parameters[p].detach());
    }
  }
  return schema;
}

TensorSchema schemaWithOptionsOf(const torch::optim::Optimizer& optimizer) {
  TensorSchema schema = schemaOf(optimizer);
  for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    addOptions(optimizer.param_groups()[i].options(), "group " + std::to_string(i), schema);
  }
  return schema;
}

void writeOptimizer(const torch::optim::Optimizer& optimizer, OutputArchive& archive) {
  defineScratchSpace(optimizer);
  optimizer.save(archive);
  for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    OutputArchive options(archive.compilation_unit());
    optimizer.param_groups()[i].options().serialize(options);
    archive.write(optionsKey(i), options);
  }
}

std::string optimizerToBytes(const torch::optim::Optimizer& optimizer) {
  OutputArchive archive;
  writeOptimizer(optimizer, archive);
  return bytesOf(archive);
}

void optimizerFromBytes(torch::optim::Optimizer& optimizer, const std::string& bytes) {
  InputArchive archive;
  openArchive(archive, bytes, deviceOf(optimizer));
  optimizerFromArchive(optimizer, archive);
}

void optimizerFromArchive(torch::optim::Optimizer& optimizer, InputArchive& archive) {
  // load() would keep state that the archive does not have.
  auto before = std::exchange(optimizer.state(), {});
  try {
    optimizer.load(archive);
    for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
      InputArchive options;
      archive.read(optionsKey(i), options);
      optimizer.param_groups()[i].options().serialize(options);
    }
  } catch (...) {
    optimizer.state() = std::move(before);
    throw;
  }
}

c10::Device deviceOf(const torch::optim::Optimizer& optimizer) {
  for (const torch::optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    if (!group.params().empty()) {
      return group.params().front().device();
    }
  }
  return at::kCPU;
}

}  // namespace steptape::detail::train
