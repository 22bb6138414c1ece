// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/graph_nodes.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace steptape::detail::libtorch {
namespace {

// Not a c10::List: its iterator gives proxies, and GCC 13 and later warn that a reference to an
// element may outlive them.
std::vector<std::string> textsOf(c10::ArrayRef<c10::IValue> list) {
  std::vector<std::string> texts;
  for (const c10::IValue& value : list) {
    if (!value.isString()) {
      return {};
    }
    texts.push_back(value.toStringRef());
  }
  return texts;
}

std::optional<event::GraphAttribute> attributeOfList(const c10::IValue& value) {
  if (value.toListRef().empty()) {
    return std::nullopt;
  }
  if (value.isIntList()) {
    return value.toIntVector();
  }
  if (value.isDoubleList()) {
    return value.toDoubleVector();
  }
  if (value.isBoolList()) {
    std::vector<std::int64_t> numbers;
    for (const bool element : value.toBoolList()) {
      numbers.push_back(element ? 1 : 0);
    }
    return numbers;
  }
  std::vector<std::string> texts = textsOf(value.toListRef());
  if (texts.empty()) {
    return std::nullopt;
  }
  return texts;
}

std::optional<event::GraphAttribute> attributeOfTensor(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.dim() != 0 || tensor.is_complex() || tensor.is_meta()) {
    return std::nullopt;
  }
  if (at::isIntegralType(tensor.scalar_type(), /*includeBool=*/true)) {
    return tensor.item().toLong();
  }
  return tensor.item().toDouble();
}

std::optional<event::GraphShape>& shapeOf(std::size_t output, DraftNode* node) {
  if (node->outputShapes.size() <= output) {
    node->outputShapes.resize(output + 1);
  }
  return node->outputShapes[output];
}

std::int64_t bytesOf(at::IntArrayRef sizes, at::ScalarType type) {
  return c10::multiply_integers(sizes) * static_cast<std::int64_t>(c10::elementSize(type));
}

}  // namespace

event::TensorType tensorType(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return event::TensorType::kFloat;
    case at::kDouble:
      return event::TensorType::kDouble;
    case at::kInt:
      return event::TensorType::kInt32;
    case at::kByte:
      return event::TensorType::kUInt8;
    case at::kShort:
      return event::TensorType::kInt16;
    case at::kChar:
      return event::TensorType::kInt8;
    case at::kLong:
      return event::TensorType::kInt64;
    case at::kBool:
      return event::TensorType::kBool;
    case at::kBFloat16:
      return event::TensorType::kBFloat16;
    case at::kHalf:
      return event::TensorType::kHalf;
    default:
      return event::TensorType::kInvalid;
  }
}

std::string deviceName(const at::Device& device) {
  return "/device:" + c10::DeviceTypeName(device.type()) + ":" +
         std::to_string(device.has_index() ? device.index() : 0);
}

void describeOutput(const at::Tensor& tensor, std::size_t output, DraftNode* node) {
  shapeOf(output, node) = tensor.sizes().vec();
  if (output == 0) {
    node->outputType = tensorType(tensor.scalar_type());
    node->device = deviceName(tensor.device());
  }
  node->outputBytes += bytesOf(tensor.sizes(), tensor.scalar_type());
}

void describeOutput(const c10::TensorType& type, std::size_t output, DraftNode* node) {
  std::optional<event::GraphShape>& shape = shapeOf(output, node);
  if (shape) {
    return;
  }
  if (const auto sizes = type.sizes().sizes()) {
    shape.emplace();
    for (const auto& size : *sizes) {
      shape->push_back(size ? *size : -1);
    }
  }
  if (output == 0 && type.scalarType()) {
    node->outputType = tensorType(*type.scalarType());
  }
  if (output == 0 && type.device()) {
    node->device = deviceName(*type.device());
  }
  const auto known = type.sizes().concrete_sizes();
  if (known && type.scalarType()) {
    node->outputBytes += bytesOf(*known, *type.scalarType());
  }
}

DraftNode inputNode(const NamedTensor& input) {
  DraftNode node;
  node.kind = DraftNode::Kind::kInput;
  node.op = "Input";
  node.leaf = input.name;
  describeOutput(input.tensor, 0, &node);
  return node;
}

DraftNode outputNode(const std::string& name, DraftEdge edge, const DraftNode& producer) {
  DraftNode node;
  node.kind = DraftNode::Kind::kOutput;
  node.op = "Output";
  node.leaf = name;
  node.inputs = {edge};
  if (edge.output < producer.outputShapes.size()) {
    node.outputShapes = {producer.outputShapes[edge.output]};
  }
  node.outputType = edge.output == 0 ? producer.outputType : event::TensorType::kInvalid;
  node.device = producer.device;
  return node;
}

DraftNode parameterNode(const ModelTensor& parameter) {
  DraftNode node;
  node.kind = DraftNode::Kind::kParameter;
  node.op = parameter.isParameter ? "Parameter" : "Buffer";
  node.leaf = parameter.name;
  node.scope = parameter.scope;
  describeOutput(parameter.tensor, 0, &node);
  node.attributes.emplace_back("elements", parameter.tensor.numel());
  if (parameter.isParameter) {
    node.attributes.emplace_back("requires_grad", parameter.tensor.requires_grad());
  }
  return node;
}

DraftNode constantNode(const at::Tensor& tensor) {
  DraftNode node;
  node.op = "Const";
  node.leaf = "constant";
  describeOutput(tensor, 0, &node);
  return node;
}

DraftNode operatorNode(const std::string& kind) {
  DraftNode node;
  node.op = kind;
  const std::size_t colons = kind.rfind("::");
  std::string leaf = colons == std::string::npos ? kind : kind.substr(colons + 2);
  leaf.erase(0, std::min(leaf.find_first_not_of('_'), leaf.size()));
  leaf.erase(leaf.find_last_not_of('_') + 1);
  node.leaf = leaf.empty() ? "operator" : leaf;
  return node;
}

std::optional<event::GraphAttribute> attributeOf(const std::string& name,
                                                 const c10::IValue& value) {
  if (value.isInt()) {
    const std::int64_t number = value.toInt();
    const bool isType = name == "dtype" && number >= 0 &&
                        number < static_cast<std::int64_t>(c10::ScalarType::NumOptions);
    return isType ? event::GraphAttribute(
                        std::string(c10::toString(static_cast<c10::ScalarType>(number))))
                  : event::GraphAttribute(number);
  }
  if (value.isBool()) {
    return value.toBool();
  }
  if (value.isDouble()) {
    return value.toDouble();
  }
  if (value.isString()) {
    return value.toStringRef();
  }
  if (value.isDevice()) {
    return value.toDevice().str();
  }
  if (value.isTensor()) {
    return attributeOfTensor(value.toTensor());
  }
  return value.isList() ? attributeOfList(value) : std::nullopt;
}

}  // namespace steptape::detail::libtorch
