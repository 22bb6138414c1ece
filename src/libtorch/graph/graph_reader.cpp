// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/graph_reader.h"

#include <utility>

#include "libtorch/graph/graph_nodes.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

namespace steptape::detail::libtorch {
namespace {

namespace jit = ::torch::jit;
namespace prim = ::c10::prim;
using MeaningKind = GraphReader::Meaning::Kind;

std::string argumentName(jit::Node& node, std::size_t input) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema != nullptr && input < schema->arguments().size()) {
    return schema->arguments()[input].name();
  }
  return "input_" + std::to_string(input);
}

/// Returns whether `node` only changes the type of a value.
bool isConversion(jit::Node& node) {
  switch (node.kind()) {
    case prim::NumToTensor:
    case prim::unchecked_cast:
    case prim::unchecked_unwrap_optional:
    case c10::aten::Int:
    case c10::aten::IntImplicit:
    case c10::aten::FloatImplicit:
    case c10::aten::ScalarImplicit:
      return node.inputs().size() == 1;
    default:
      return false;
  }
}

/// Returns whether nothing reads the results of `node`.
bool isWithoutResult(jit::Node& node) {
  return node.outputs().empty() && node.blocks().empty() && node.kind().is_prim();
}

}  // namespace

GraphReader::Meaning GraphReader::Meaning::data(DraftEdge edge) {
  Meaning meaning;
  meaning.kind = MeaningKind::kData;
  meaning.edge = edge;
  return meaning;
}

GraphReader::Meaning GraphReader::Meaning::constant(c10::IValue value) {
  Meaning meaning;
  meaning.kind = MeaningKind::kConstant;
  meaning.value = std::move(value);
  return meaning;
}

GraphReader::GraphReader(const ModelTree& tree) : tree_(tree) {
  draft_.root = tree.root;
  // Adds all parameters, whether read or not, because an unused one is worth seeing. Buffers are
  // added when they are read.
  for (std::size_t i = 0; i < tree.tensors.size(); ++i) {
    if (tree.tensors[i].isParameter) {
      parameter(i);
    }
  }
}

GraphReader::Meaning GraphReader::addInput(const std::string& name, const at::Tensor& tensor) {
  return Meaning::data(append(inputNode({name, tensor})));
}

GraphReader::Meaning GraphReader::addInputs(const std::string& name, const c10::IValue& argument) {
  if (argument.isTensor() && argument.toTensor().defined()) {
    return addInput(name, argument.toTensor());
  }
  Meaning meaning;
  std::size_t index = 0;
  if (argument.isTuple()) {
    meaning.kind = MeaningKind::kList;
    for (const c10::IValue& element : argument.toTupleRef().elements()) {
      meaning.elements.push_back(addInputs(treePath(name, std::to_string(index++)), element));
    }
  } else if (argument.isTensorList()) {
    meaning.kind = MeaningKind::kList;
    for (const at::Tensor& element : argument.toTensorVector()) {
      meaning.elements.push_back(addInput(treePath(name, std::to_string(index++)), element));
    }
  } else if (argument.isGenericDict()) {
    meaning.kind = MeaningKind::kDictionary;
    for (const auto& entry : argument.toGenericDict()) {
      const std::string key =
          entry.key().isString() ? entry.key().toStringRef() : std::to_string(index++);
      meaning.elements.push_back(Meaning::constant(entry.key()));
      meaning.elements.push_back(addInputs(treePath(name, key), entry.value()));
    }
  } else {
    meaning = Meaning::constant(argument);
  }
  return meaning;
}

void GraphReader::define(jit::Value* value, Meaning meaning) {
  meanings_[value] = std::move(meaning);
}

void GraphReader::read(jit::Block& block) {
  for (jit::Node* node : block.nodes()) {
    readNode(*node);
  }
}

void GraphReader::addOutput(const std::string& name, jit::Value* value) {
  addOutput(name, meaningOf(value));
}

void GraphReader::addOutput(const std::string& name, const Meaning& meaning) {
  if (meaning.kind == MeaningKind::kData) {
    append(outputNode(name.empty() ? "0" : name, meaning.edge, draft_.nodes[meaning.edge.node]));
  } else if (meaning.kind == MeaningKind::kList) {
    for (std::size_t i = 0; i < meaning.elements.size(); ++i) {
      addOutput(treePath(name, std::to_string(i)), meaning.elements[i]);
    }
  } else if (meaning.kind == MeaningKind::kDictionary) {
    for (std::size_t i = 0; i + 1 < meaning.elements.size(); i += 2) {
      const c10::IValue& key = meaning.elements[i].value;
      addOutput(treePath(name, key.isString() ? key.toStringRef() : std::to_string(i / 2)),
                meaning.elements[i + 1]);
    }
  }
}

const GraphReader::Meaning& GraphReader::meaningOf(jit::Value* value) {
  return meanings_[value];  // an unknown value gets an empty meaning
}

DraftEdge GraphReader::append(DraftNode node) {
  draft_.nodes.push_back(std::move(node));
  return {draft_.nodes.size() - 1, 0};
}

DraftNode GraphReader::placed(jit::Node& source, DraftNode node) {
  const jit::ScopePtr scope = source.scope();
  const bool isRoot = !scope || scope->isRoot();
  node.scope = tree_.scopes.at(isRoot ? "" : scope->name().toUnqualString());
  node.zones = control_;
  return node;
}

GraphReader::Meaning GraphReader::parameter(std::size_t number) {
  const auto [known, isNew] = nodeOfTensor_.emplace(number, draft_.nodes.size());
  if (isNew) {
    append(parameterNode(tree_.tensors[number]));
  }
  return Meaning::data({known->second, 0});
}

void GraphReader::readNode(jit::Node& node) {
  switch (node.kind()) {
    case prim::Constant:
      return readConstant(node);
    case prim::GetAttr:
      return readAttribute(node);
    case prim::ListConstruct:
    case prim::TupleConstruct:
      return readPacking(node, MeaningKind::kList);
    case prim::DictConstruct:
      return readPacking(node, MeaningKind::kDictionary);
    case prim::ListUnpack:
    case prim::TupleUnpack:
      return readUnpacking(node);
    case prim::profile:
    case prim::profile_ivalue:
      return readProfile(node);
    case prim::If:
      return readBranches(node);
    case prim::Loop:
      return readLoop(node);
    default:
      break;
  }
  if (isConversion(node)) {
    define(node.output(), Meaning(meaningOf(node.input())));
  } else if (!isWithoutResult(node) && !readLookup(node)) {
    readOperator(node);
  }
}

void GraphReader::readConstant(jit::Node& node) {
  const auto value = jit::toIValue(node.output());
  if (!value) {
    return;
  }
  if (value->isTensor() && value->toTensor().defined() && value->toTensor().dim() != 0) {
    define(node.output(), Meaning::data(append(placed(node, constantNode(value->toTensor())))));
  } else {
    define(node.output(), Meaning::constant(*value));
  }
}

void GraphReader::readAttribute(jit::Node& node) {
  const Meaning object = meaningOf(node.input());
  if (object.kind != MeaningKind::kObject) {
    return;
  }
  Meaning attribute;
  attribute.kind = MeaningKind::kObject;
  attribute.path = treePath(object.path, node.s(c10::attr::name));
  const auto tensor = tree_.byPath.find(attribute.path);
  define(node.output(),
         tensor == tree_.byPath.end() ? std::move(attribute) : parameter(tensor->second));
}

void GraphReader::readPacking(jit::Node& node, MeaningKind kind) {
  Meaning packed;
  packed.kind = kind;
  for (jit::Value* input : node.inputs()) {
    packed.elements.push_back(meaningOf(input));
  }
  define(node.output(), std::move(packed));
}

void GraphReader::readUnpacking(jit::Node& node) {
  const Meaning packed = meaningOf(node.input());
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    if (packed.kind == MeaningKind::kList && i < packed.elements.size()) {
      define(node.outputs()[i], packed.elements[i]);
    } else if (packed.kind == MeaningKind::kData) {
      define(node.outputs()[i], Meaning::data({packed.edge.node, i}));
      if (const auto type = node.outputs()[i]->type()->cast<c10::TensorType>()) {
        describeOutput(*type, i, &draft_.nodes[packed.edge.node]);
      }
    }
  }
}

/// Reads list[1], tuple[1] or dictionary["key"], if everything is known.
bool GraphReader::readLookup(jit::Node& node) {
  const bool isLookup = node.kind() == c10::aten::__getitem__ || node.kind() == prim::TupleIndex;
  if (!isLookup || node.inputs().size() != 2) {
    return false;
  }
  const Meaning& packed = meaningOf(node.input(0));
  const Meaning& key = meaningOf(node.input(1));
  if (key.kind != MeaningKind::kConstant) {
    return false;
  }
  if (packed.kind == MeaningKind::kList && key.value.isInt()) {
    const auto size = static_cast<std::int64_t>(packed.elements.size());
    const std::int64_t index = key.value.toInt() + (key.value.toInt() < 0 ? size : 0);
    if (index >= 0 && index < size) {
      define(node.output(), Meaning(packed.elements[static_cast<std::size_t>(index)]));
      return true;
    }
  }
  if (packed.kind == MeaningKind::kDictionary && key.value.isString()) {
    for (std::size_t i = 0; i + 1 < packed.elements.size(); i += 2) {
      const c10::IValue& known = packed.elements[i].value;
      if (known.isString() && known.toStringRef() == key.value.toStringRef()) {
        define(node.output(), Meaning(packed.elements[i + 1]));
        return true;
      }
    }
  }
  return false;
}

/// Reads a node that LibTorch's profiling has inserted to record a value's shape.
void GraphReader::readProfile(jit::Node& node) {
  if (node.inputs().empty()) {
    return;
  }
  const Meaning seen = meaningOf(node.input(0));
  if (seen.kind == MeaningKind::kData && node.hasAttribute(c10::attr::profiled_type)) {
    if (const auto type = node.ty(c10::attr::profiled_type)->cast<c10::TensorType>()) {
      describeOutput(*type, seen.edge.output, &draft_.nodes[seen.edge.node]);
    }
  }
  if (!node.outputs().empty()) {
    define(node.output(), seen);
  }
}

void GraphReader::readBlock(jit::Block& block, const std::string& name) {
  control_.push_back({controlEntries_++, name});
  read(block);
  control_.pop_back();
}

void GraphReader::readBranches(jit::Node& node) {
  control_.push_back({controlEntries_++, "if_" + std::to_string(++controlNames_["if"])});
  std::vector<Meaning> results;
  for (jit::Block* branch : node.blocks()) {
    readBlock(*branch, branch == node.blocks()[0] ? "then" : "else");
    for (jit::Value* result : branch->outputs()) {
      results.push_back(meaningOf(result));
    }
  }
  readOperator(node, results);
  control_.pop_back();
}

/// Shows the body once, with the inputs of the first iteration, because the graph page does not
/// support cycles well.
void GraphReader::readLoop(jit::Node& node) {
  constexpr std::size_t kCountAndCondition = 2;
  control_.push_back({controlEntries_++, "loop_" + std::to_string(++controlNames_["loop"])});
  jit::Block& body = *node.blocks()[0];
  for (std::size_t i = 1; i < body.inputs().size(); ++i) {
    define(body.inputs()[i], Meaning(meaningOf(node.input(i - 1 + kCountAndCondition))));
  }
  readBlock(body, "body");
  std::vector<Meaning> results;
  for (jit::Value* result : body.outputs()) {
    results.push_back(meaningOf(result));
  }
  readOperator(node, results);
  control_.pop_back();
}

void GraphReader::readOperator(jit::Node& node, const std::vector<Meaning>& alsoReads) {
  DraftNode made = placed(node, operatorNode(node.kind().toQualString()));
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    addArgument(argumentName(node, i), meaningOf(node.input(i)), &made);
  }
  for (const Meaning& meaning : alsoReads) {
    addArgument("", meaning, &made);
  }
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    const auto type = node.outputs()[i]->type()->cast<c10::TensorType>();
    if (type != nullptr) {
      describeOutput(*type, i, &made);
    }
  }
  const DraftEdge edge = append(std::move(made));
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    define(node.outputs()[i], Meaning::data({edge.node, i}));
  }
}

void GraphReader::addArgument(const std::string& name, const Meaning& meaning, DraftNode* node) {
  switch (meaning.kind) {
    case MeaningKind::kData:
      node->inputs.push_back(meaning.edge);
      return;
    case MeaningKind::kConstant:
      if (auto attribute = attributeOf(name, meaning.value); attribute && !name.empty()) {
        node->attributes.emplace_back(name, std::move(*attribute));
      }
      return;
    case MeaningKind::kList:
    case MeaningKind::kDictionary: {
      std::vector<std::int64_t> numbers;
      for (const Meaning& element : meaning.elements) {
        if (element.kind == MeaningKind::kConstant && element.value.isInt()) {
          numbers.push_back(element.value.toInt());
        } else {
          addArgument("", element, node);
        }
      }
      if (!name.empty() && !numbers.empty() && numbers.size() == meaning.elements.size()) {
        node->attributes.emplace_back(name, std::move(numbers));
      }
      return;
    }
    default:
      return;
  }
}

}  // namespace steptape::detail::libtorch
