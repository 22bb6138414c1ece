// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/model_tree.h"

#include "libtorch/graph/graph_scopes.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/nn/module.h>

namespace steptape::detail::libtorch {
namespace {

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

class TreeBuilder {
 public:
  ModelTree build(const torch::nn::Module& module) {
    tree_.root = {shortTypeName(module.name())};
    add(module, "", tree_.root);
    return std::move(tree_);
  }
  ModelTree build(const torch::jit::Module& module) {
    tree_.root = {typeName(module)};
    add(module, "", tree_.root);
    return std::move(tree_);
  }

 private:
  static std::string typeName(const torch::jit::Module& module) {
    return shortTypeName(module.type()->name()->name());
  }

  void add(const torch::nn::Module& module, const std::string& path, const Scope& scope) {
    tree_.scopes[path] = scope;
    for (const auto& parameter : module.named_parameters(/*recurse=*/false)) {
      add(parameter.value(), path, parameter.key(), scope, true);
    }
    for (const auto& buffer : module.named_buffers(/*recurse=*/false)) {
      add(buffer.value(), path, buffer.key(), scope, false);
    }
    for (const auto& child : module.named_children()) {
      if (child.value() != nullptr) {
        add(*child.value(), joined(path, child.key()),
            inside(scope, child.key(), shortTypeName(child.value()->name())));
      }
    }
  }

  void add(const torch::jit::Module& module, const std::string& path, const Scope& scope) {
    tree_.scopes[path] = scope;
    for (const auto& parameter : module.named_parameters(/*recurse=*/false)) {
      add(parameter.value, path, parameter.name, scope, true);
    }
    for (const auto& buffer : module.named_buffers(/*recurse=*/false)) {
      add(buffer.value, path, buffer.name, scope, false);
    }
    for (const auto& child : module.named_children()) {
      add(child.value, joined(path, child.name), inside(scope, child.name, typeName(child.value)));
    }
  }

  void add(const at::Tensor& tensor, const std::string& modulePath, const std::string& name,
           const Scope& scope, bool isParameter) {
    if (!tensor.defined()) {
      return;
    }
    const std::string path = joined(modulePath, name);
    const auto [known, isNew] = seen_.emplace(tensor.unsafeGetTensorImpl(), tree_.tensors.size());
    tree_.byPath[path] = known->second;
    if (isNew) {
      tree_.tensors.push_back({path, name, scope, tensor, isParameter});
    }
  }

  static Scope inside(Scope scope, const std::string& name, const std::string& type) {
    scope.push_back(scopeLevel(name, type));
    return scope;
  }

  ModelTree tree_;
  std::unordered_map<const at::TensorImpl*, std::size_t> seen_;
};

}  // namespace

ModelTree modelTree(const torch::nn::Module& module) {
  return TreeBuilder().build(module);
}

ModelTree modelTree(const torch::jit::Module& module) {
  return TreeBuilder().build(module);
}

}  // namespace steptape::detail::libtorch
