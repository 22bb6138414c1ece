// SPDX-License-Identifier: Apache-2.0
#include "steptape/libtorch/tensor_tree.h"

#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>

namespace steptape {
namespace {

/// Returns a dictionary's key as a part of a name.
std::string nameOf(const c10::IValue& key) {
  if (key.isString()) {
    return key.toStringRef();
  }
  return key.isInt() ? std::to_string(key.toInt()) : key.tagKind();
}

c10::IValue rebuiltTuple(const c10::IValue& value, TensorCursor& tensors) {
  std::vector<c10::IValue> elements;
  for (const c10::IValue& element : value.toTupleRef().elements()) {
    elements.push_back(TensorTree<c10::IValue>::rebuilt(element, tensors));
  }
  return c10::ivalue::Tuple::create(std::move(elements));
}

}  // namespace

void TensorTree<c10::IValue>::collect(const c10::IValue& value, const std::string& name,
                                      std::vector<NamedTensor>* out) {
  if (value.isTensor()) {
    TensorTree<at::Tensor>::collect(value.toTensor(), name, out);
  } else if (value.isTuple()) {
    std::size_t index = 0;
    for (const c10::IValue& element : value.toTupleRef().elements()) {
      collect(element, treePath(name, std::to_string(index++)), out);
    }
  } else if (value.isList()) {
    TensorTree<c10::List<c10::IValue>>::collect(value.toList(), name, out);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      collect(entry.value(), treePath(name, nameOf(entry.key())), out);
    }
  }
}

c10::IValue TensorTree<c10::IValue>::rebuilt(const c10::IValue& value, TensorCursor& tensors) {
  if (value.isTensor()) {
    return TensorTree<at::Tensor>::rebuilt(value.toTensor(), tensors);
  }
  if (value.isTuple()) {
    return rebuiltTuple(value, tensors);
  }
  if (value.isList()) {
    return TensorTree<c10::List<c10::IValue>>::rebuilt(value.toList(), tensors);
  }
  if (value.isGenericDict()) {
    const auto dict = value.toGenericDict();
    auto copy = dict.copy();
    for (const auto& entry : dict) {
      copy.insert_or_assign(entry.key(), rebuilt(entry.value(), tensors));
    }
    return copy;
  }
  return value;
}

}  // namespace steptape
