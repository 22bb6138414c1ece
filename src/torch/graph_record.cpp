// SPDX-License-Identifier: Apache-2.0
#include "torch/graph_record.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "torch/graph_nodes.h"
#include "torch/op_calls.h"

#include <c10/core/TensorImpl.h>
#include <c10/util/intrusive_ptr.h>

namespace steptape {
namespace {

/// Knows which output made a tensor.
class Producers {
 public:
  void add(const at::Tensor& tensor, DraftEdge edge) {
    // A weak pointer lets the elements go and keeps the address from being used again.
    seen_.emplace_back(tensor.getIntrusivePtr());
    edges_[tensor.unsafeGetTensorImpl()] = edge;
    if (tensor.has_storage()) {
      storages_[tensor.storage().unsafeGetStorageImpl()] = edge;
    }
  }

  std::optional<DraftEdge> find(const at::Tensor& tensor) const {
    const auto known = edges_.find(tensor.unsafeGetTensorImpl());
    if (known != edges_.end()) {
      return known->second;
    }
    // Another tensor over the same elements, such as detach() makes on the way.
    const auto sharing = tensor.has_storage()
                             ? storages_.find(tensor.storage().unsafeGetStorageImpl())
                             : storages_.end();
    return sharing == storages_.end() ? std::nullopt : std::optional(sharing->second);
  }

 private:
  std::vector<c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>> seen_;
  std::unordered_map<const at::TensorImpl*, DraftEdge> edges_;
  std::unordered_map<const at::StorageImpl*, DraftEdge> storages_;
};

class GraphRecorder {
 public:
  GraphRecorder(const detail::EagerModel& model, const ModelTree& tree,
                const std::vector<at::Tensor>& inputs) {
    draft_.root = tree.root;
    for (const ModelTensor& held : tree.tensors) {
      if (held.isParameter) {
        producers_.add(held.tensor, append(parameterNode(held)));
      } else {
        unreadBuffers_.emplace(held.tensor.unsafeGetTensorImpl(), &held);
      }
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      producers_.add(inputs[i], append(inputNode({model.inputs[i].name, inputs[i]})));
    }
  }

  void add(const RecordedOp& op) {
    DraftNode node = operatorNode(op.name);
    node.zones = op.zones;
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      const bool isNamed = i < op.argumentNames.size();
      addArgument(isNamed ? op.argumentNames[i] : "input_" + std::to_string(i), op.arguments[i],
                  &node);
    }
    std::vector<NamedTensor> results;
    for (const c10::IValue& result : op.results) {
      TensorTree<c10::IValue>::collect(result, "", &results);
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      describeOutput(results[i].tensor, i, &node);
    }
    const DraftEdge made = append(std::move(node));
    for (std::size_t i = 0; i < results.size(); ++i) {
      producers_.add(results[i].tensor, {made.node, i});
    }
  }

  void addOutput(const NamedTensor& output) {
    if (const auto edge = producers_.find(output.tensor)) {
      append(outputNode(output.name, *edge, draft_.nodes[edge->node]));
    }
  }

  GraphDraft take() { return std::move(draft_); }

 private:
  void addArgument(const std::string& name, const c10::IValue& argument, DraftNode* node) {
    std::vector<NamedTensor> tensors;
    TensorTree<c10::IValue>::collect(argument, "", &tensors);
    for (const NamedTensor& read : tensors) {
      addIfBuffer(read.tensor);
      if (const auto edge = producers_.find(read.tensor)) {
        node->inputs.push_back(*edge);
      }
    }
    if (tensors.empty()) {
      if (auto attribute = attributeOf(name, argument)) {
        node->attributes.emplace_back(name, std::move(*attribute));
      }
    }
  }

  /// Buffers come when they are first read.
  void addIfBuffer(const at::Tensor& tensor) {
    const auto buffer = unreadBuffers_.find(tensor.unsafeGetTensorImpl());
    if (buffer != unreadBuffers_.end()) {
      producers_.add(tensor, append(parameterNode(*buffer->second)));
      unreadBuffers_.erase(buffer);
    }
  }

  DraftEdge append(DraftNode node) {
    draft_.nodes.push_back(std::move(node));
    return {draft_.nodes.size() - 1, 0};
  }

  GraphDraft draft_;
  std::unordered_map<const at::TensorImpl*, const ModelTensor*> unreadBuffers_;
  Producers producers_;
};

}  // namespace

GraphDraft recordedGraph(const detail::EagerModel& model, const ModelTree& tree,
                         const std::vector<at::Tensor>& inputs) {
  GraphRecorder recorder(model, tree, inputs);
  std::vector<NamedTensor> outputs;
  recordCalls([&] { outputs = model.forward(inputs); },
              [&](const RecordedOp& op) { recorder.add(op); });
  for (const NamedTensor& output : outputs) {
    recorder.addOutput(output);
  }
  return recorder.take();
}

}  // namespace steptape
