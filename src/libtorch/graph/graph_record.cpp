// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/graph_record.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "libtorch/graph/autograd_origins.h"
#include "libtorch/graph/graph_liveness.h"
#include "libtorch/graph/graph_nodes.h"
#include "libtorch/graph/op_calls.h"
#include "libtorch/graph/tensor_origins.h"

namespace steptape::detail::libtorch {
namespace {

void appendTensors(const c10::IValue& value, std::vector<at::Tensor>* tensors) {
  std::vector<NamedTensor> named;
  TensorTree<c10::IValue>::collect(value, "", &named);
  for (NamedTensor& each : named) {
    tensors->push_back(std::move(each.tensor));
  }
}

bool holds(const std::vector<at::Tensor>& tensors, const at::Tensor& tensor) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const at::Tensor& each) { return each.is_same(tensor); });
}

std::vector<std::size_t> nodesOf(const std::vector<DraftEdge>& edges) {
  std::vector<std::size_t> nodes;
  nodes.reserve(edges.size());
  for (const DraftEdge& edge : edges) {
    nodes.push_back(edge.node);
  }
  return nodes;
}

bool isOfModel(const DraftNode& node) {
  return node.kind == DraftNode::Kind::kInput || node.kind == DraftNode::Kind::kParameter;
}

/// Makes a draft from the operators that run.
class GraphRecorder final : public OpListener {
 public:
  GraphRecorder(const EagerModel& model, const ModelTree& tree,
                const std::vector<at::Tensor>& inputs) {
    draft_.root = tree.root;
    // Adds all parameters, whether read or not, because an unused one is worth seeing. Buffers are
    // added when they are read.
    for (const ModelTensor& held : tree.tensors) {
      noteStorage(held.tensor);
      if (held.isParameter) {
        tensors_.addMade(held.tensor, append(parameterNode(held)));
      } else {
        unreadBuffers_.emplace(held.tensor.unsafeGetTensorImpl(), &held);
      }
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      noteStorage(inputs[i]);
      tensors_.addMade(inputs[i], append(inputNode({model.inputs[i].name, inputs[i]})));
    }
  }

  void onStart(const StartedOp& op) override {
    node_ = operatorNode(op.schema.name());
    node_.zones = op.zones;
    written_.clear();
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      addArgument(op.schema.arguments()[i], op.arguments[i]);
    }
  }

  void onReturn(const std::vector<c10::IValue>& results) override {
    std::vector<at::Tensor> outputs;
    for (const c10::IValue& result : results) {
      appendTensors(result, &outputs);
    }
    for (const at::Tensor& written : written_) {
      if (!holds(outputs, written)) {
        outputs.push_back(written);
      }
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      describeOutput(outputs[i], i, &node_);
    }
    const DraftEdge made = append(std::exchange(node_, DraftNode()));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      addOrigin(outputs[i], {made.node, i});
    }
    written_.clear();
  }

  void addOutput(const NamedTensor& output) {
    const std::vector<DraftEdge> edges = edgesOrConstant(output.tensor);
    DraftNode node = outputNode(output.name, edges.front(), draft_.nodes[edges.front().node]);
    node.inputs = edges;
    needed_.push_back(append(std::move(node)).node);
    hasOutputs_ = true;
  }

  GraphDraft take() {
    if (hasOutputs_) {
      removeUnneeded();
    }
    return std::move(draft_);
  }

 private:
  void addArgument(const c10::Argument& argument, const c10::IValue& value) {
    std::vector<at::Tensor> tensors;
    appendTensors(value, &tensors);
    for (const at::Tensor& tensor : tensors) {
      addRead(value.isTensor() ? argument.name() : "", tensor);
    }
    if (tensors.empty()) {
      addAttribute(argument.name(), value);
    }
    if (isWritten(argument)) {
      written_.insert(written_.end(), tensors.begin(), tensors.end());
    }
  }

  void addAttribute(const std::string& name, const c10::IValue& value) {
    auto attribute = attributeOf(name, value);
    if (attribute && !name.empty()) {
      node_.attributes.emplace_back(name, std::move(*attribute));
    }
  }

  /// Adds an edge, or an attribute if the tensor is a number that no operator made.
  void addRead(const std::string& name, const at::Tensor& tensor) {
    if (tensor.dim() == 0 && edgesOf(tensor).empty()) {
      addAttribute(name, tensor);
      return;
    }
    const std::vector<DraftEdge> edges = edgesOrConstant(tensor);
    node_.inputs.insert(node_.inputs.end(), edges.begin(), edges.end());
  }

  std::vector<DraftEdge> edgesOrConstant(const at::Tensor& tensor) {
    std::vector<DraftEdge> edges = edgesOf(tensor);
    if (edges.empty()) {
      DraftNode node = constantNode(tensor);
      node.zones = node_.zones;
      edges.push_back(append(std::move(node)));
      tensors_.addMade(tensor, edges.front());
    }
    return edges;
  }

  std::vector<DraftEdge> edgesOf(const at::Tensor& tensor) {
    addIfBuffer(tensor);
    addIfOfFunction(tensor);
    std::vector<DraftEdge> edges = tensors_.find(tensor);
    // torch::tensor({1, 2}) makes a tensor, fills it by one operator per element, and returns
    // another tensor with its elements.
    if (!tensors_.isMade(tensor) && !dependOnModel(edges)) {
      edges.clear();
    }
    return edges;
  }

  void addIfBuffer(const at::Tensor& tensor) {
    const auto buffer = unreadBuffers_.find(tensor.unsafeGetTensorImpl());
    if (buffer != unreadBuffers_.end()) {
      tensors_.addMade(tensor, append(parameterNode(*buffer->second)));
      unreadBuffers_.erase(buffer);
    }
  }

  /// Makes a node of a custom autograd function if its operators do not lead to its inputs.
  void addIfOfFunction(const at::Tensor& tensor) {
    const auto call = autograd_.callOf(tensor, tensors_);
    if (!call) {
      return;
    }
    DraftNode node = operatorNode("autograd::" + call->name);
    node.inputs = tensors_.find(tensor);
    node.zones = node.inputs.empty() ? node.zones : draft_.nodes[node.inputs.front().node].zones;
    const std::vector<bool> known = ancestors(draft_, nodesOf(node.inputs));
    const std::size_t before = node.inputs.size();
    std::copy_if(call->inputs.begin(), call->inputs.end(), std::back_inserter(node.inputs),
                 [&](const DraftEdge& edge) { return !known[edge.node]; });
    if (node.inputs.size() > before) {
      describeOutput(tensor, 0, &node);
      tensors_.addMade(tensor, append(std::move(node)));
    }
    const std::vector<DraftEdge> made = tensors_.find(tensor);
    if (!made.empty()) {
      autograd_.add(tensor, made.front());
    }
  }

  void addOrigin(const at::Tensor& tensor, DraftEdge edge) {
    autograd_.add(tensor, edge);
    if (!holds(written_, tensor)) {
      tensors_.addMade(tensor, edge);
      return;
    }
    tensors_.addWritten(tensor, edge);
    if (tensor.has_storage() && storages_.count(tensor.storage().unsafeGetStorageImpl()) != 0) {
      needed_.push_back(edge.node);
    }
  }

  void noteStorage(const at::Tensor& tensor) {
    if (tensor.has_storage()) {
      storages_.insert(tensor.storage().unsafeGetStorageImpl());
    }
  }

  bool dependOnModel(const std::vector<DraftEdge>& edges) const {
    const std::vector<bool> read = ancestors(draft_, nodesOf(edges));
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (read[i] && isOfModel(draft_.nodes[i])) {
        return true;
      }
    }
    return false;
  }

  /// Removes operators on which neither outputs nor tensors that outlive the pass depend.
  void removeUnneeded() {
    std::vector<bool> kept = ancestors(draft_, needed_);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      kept[i] = kept[i] || draft_.nodes[i].kind == DraftNode::Kind::kInput ||
                draft_.nodes[i].op == "Parameter";
    }
    keepNodes(kept, &draft_);
  }

  DraftEdge append(DraftNode node) {
    draft_.nodes.push_back(std::move(node));
    return {draft_.nodes.size() - 1, 0};
  }

  GraphDraft draft_;
  std::unordered_map<const at::TensorImpl*, const ModelTensor*> unreadBuffers_;
  std::unordered_set<const c10::StorageImpl*> storages_;  // which outlive the pass
  TensorOrigins tensors_;
  AutogradOrigins autograd_;
  std::vector<std::size_t> needed_;
  bool hasOutputs_ = false;
  DraftNode node_;                   // the node of the running operator
  std::vector<at::Tensor> written_;  // the tensors it writes to
};

}  // namespace

GraphDraft recordedGraph(const EagerModel& model, const ModelTree& tree,
                         const std::vector<at::Tensor>& inputs) {
  GraphRecorder recorder(model, tree, inputs);
  std::vector<NamedTensor> outputs;
  recordCalls([&] { outputs = model.forward(inputs); }, &recorder);
  for (const NamedTensor& output : outputs) {
    recorder.addOutput(output);
  }
  return recorder.take();
}

}  // namespace steptape::detail::libtorch
