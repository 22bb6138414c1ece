// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "libtorch/graph/graph_draft.h"
#include "libtorch/graph/model_tree.h"

#include <ATen/core/ivalue.h>

namespace torch::jit {
struct Block;
struct Node;
struct Value;
}  // namespace torch::jit

namespace steptape::detail::libtorch {

/// Reads TorchScript's graphs as data flow: skips nodes that only pack, unpack or look up values,
/// and turns constants into attributes of their readers.
class GraphReader {
 public:
  /// The information about a value before the model runs.
  struct Meaning {
    enum class Kind { kNothing, kData, kConstant, kList, kDictionary, kObject };

    static Meaning data(DraftEdge edge);
    static Meaning constant(c10::IValue value);

    Kind kind = Kind::kNothing;
    DraftEdge edge;                 ///< kData
    c10::IValue value;              ///< kConstant
    std::vector<Meaning> elements;  ///< kList; kDictionary: key, value, key, value, ...
    std::string path;               ///< kObject: path of a module, "" for the model itself
  };

  explicit GraphReader(const ModelTree& tree);

  /// Appends the tensors in `argument` as inputs, and returns its meaning in the graph.
  Meaning addInputs(const std::string& name, const c10::IValue& argument);
  void define(torch::jit::Value* value, Meaning meaning);
  void read(torch::jit::Block& block);
  void addOutput(const std::string& name, torch::jit::Value* value);

  GraphDraft take() { return std::move(draft_); }

 private:
  Meaning addInput(const std::string& name, const at::Tensor& tensor);
  const Meaning& meaningOf(torch::jit::Value* value);
  void readNode(torch::jit::Node& node);
  void readAttribute(torch::jit::Node& node);
  void readConstant(torch::jit::Node& node);
  void readPacking(torch::jit::Node& node, Meaning::Kind kind);
  void readUnpacking(torch::jit::Node& node);
  bool readLookup(torch::jit::Node& node);
  void readProfile(torch::jit::Node& node);
  void readBranches(torch::jit::Node& node);
  void readLoop(torch::jit::Node& node);
  void readBlock(torch::jit::Block& block, const std::string& name);
  void readOperator(torch::jit::Node& node, const std::vector<Meaning>& alsoReads = {});
  void addArgument(const std::string& name, const Meaning& meaning, DraftNode* node);
  void addOutput(const std::string& name, const Meaning& meaning);
  Meaning parameter(std::size_t number);
  DraftNode placed(torch::jit::Node& source, DraftNode node);
  DraftEdge append(DraftNode node);

  const ModelTree& tree_;
  GraphDraft draft_;
  std::unordered_map<const torch::jit::Value*, Meaning> meanings_;
  std::unordered_map<std::size_t, std::size_t> nodeOfTensor_;
  std::vector<OpenZone> control_;  // the enclosing branches and loops
  std::size_t controlEntries_ = 0;
  std::map<std::string, std::size_t> controlNames_;
};

}  // namespace steptape::detail::libtorch
