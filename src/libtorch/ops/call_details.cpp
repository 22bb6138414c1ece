// SPDX-License-Identifier: Apache-2.0
#include "libtorch/ops/call_details.h"

#include <cstddef>
#include <exception>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "steptape/base/json.h"
#include "steptape/process/zone.h"

#include "base/text.h"
#include "libtorch/ops/call_flops.h"
#include "libtorch/ops/module_names.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail::libtorch {
namespace {

using Inputs = c10::ArrayRef<const c10::IValue>;
using Key = std::vector<std::int64_t>;

/// The kind of an input, in a key and in the texts for viewers.
enum InputKind : std::int64_t { kOther, kTensor, kTensorList, kScalar, kScalarList };

InputKind kindOf(const c10::IValue& input) {
  if (input.isTensor()) {
    return kTensor;
  }
  if (input.isTensorList()) {
    return kTensorList;
  }
  if (input.isInt() || input.isDouble() || input.isBool() || input.isComplexDouble()) {
    return kScalar;
  }
  return input.isIntList() || input.isDoubleList() || input.isBoolList() ? kScalarList : kOther;
}

void appendTensor(const at::Tensor& tensor, Key* key) {
  if (!tensor.defined() || tensor.is_sparse()) {
    key->push_back(-1);
    return;
  }
  const c10::IntArrayRef sizes = tensor.sizes();
  key->push_back(static_cast<std::int64_t>(sizes.size()));
  key->push_back(static_cast<std::int64_t>(tensor.scalar_type()));
  key->insert(key->end(), sizes.begin(), sizes.end());
}

/// Numbers determine the operations of convolutions. For other operators, they would make every
/// call a new one.
bool countsNumbers(const char* name) {
  return base::startsWith(name, "aten::convolution");
}

void appendNumbers(const c10::IValue& input, Key* key) {
  if (input.isIntList()) {
    for (const std::int64_t value : input.toIntVector()) {
      key->push_back(value);
    }
  } else if (input.isBoolList()) {
    for (const bool value : input.toBoolList()) {
      key->push_back(value ? 1 : 0);
    }
  } else if (input.isInt()) {
    key->push_back(input.toInt());
  } else if (input.isBool()) {
    key->push_back(input.toBool() ? 1 : 0);
  }
}

/// Makes a key that is equal exactly for calls with equal details.
void makeKey(const char* name, std::uint16_t nameId, std::uint16_t moduleId, Inputs inputs,
             Key* key) {
  key->assign({nameId, moduleId});
  const bool withNumbers = countsNumbers(name);
  for (const c10::IValue& input : inputs) {
    const InputKind kind = kindOf(input);
    key->push_back(kind);
    if (kind == kTensor) {
      appendTensor(input.toTensor(), key);
    } else if (kind == kTensorList) {
      const auto tensors = input.toTensorList();
      key->push_back(static_cast<std::int64_t>(tensors.size()));
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        appendTensor(tensors.get(i), key);
      }
    } else if (withNumbers) {
      appendNumbers(input, key);
    }
  }
}

struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    std::uint64_t hash = key.size();
    for (const std::int64_t word : key) {
      hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x9E3779B97F4A7C15U;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
  }
};

void appendShape(const at::Tensor& tensor, std::string* out) {
  *out += '[';
  if (tensor.defined() && !tensor.is_sparse()) {
    for (const std::int64_t size : tensor.sizes()) {
      *out += out->back() == '[' ? "" : ", ";
      appendJsonInteger(out, size);
    }
  }
  *out += ']';
}

std::string typeOf(const at::Tensor& tensor) {
  return tensor.defined() ? std::string(tensor.dtype().name()) : std::string();
}

std::int64_t bytesOf(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_sparse()) {
    return 0;
  }
  return tensor.numel() * static_cast<std::int64_t>(tensor.element_size());
}

class DetailsText {
 public:
  void add(const c10::IValue& input) {
    const InputKind kind = kindOf(input);
    const char* const separator = details_.shapes.empty() ? "[" : ", ";
    details_.shapes += separator;
    details_.types += separator;
    if (kind == kTensor) {
      appendShape(input.toTensor(), &details_.shapes);
      appendJsonString(&details_.types, typeOf(input.toTensor()));
      details_.bytes += bytesOf(input.toTensor());
    } else if (kind == kTensorList) {
      addList(input);
    } else {
      static constexpr const char* kTypes[] = {"", "", "TensorList", "Scalar", "ScalarList"};
      details_.shapes += "[]";
      appendJsonString(&details_.types, kTypes[kind]);
    }
  }

  SpanDetails finish() && {
    if (!details_.shapes.empty()) {
      details_.shapes += ']';
      details_.types += ']';
    }
    return std::move(details_);
  }

 private:
  void addList(const c10::IValue& input) {
    details_.shapes += '[';
    const auto tensors = input.toTensorList();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      details_.shapes += i == 0 ? "" : ", ";
      const at::Tensor& tensor = tensors.get(i);
      appendShape(tensor, &details_.shapes);
      details_.bytes += bytesOf(tensor);
    }
    details_.shapes += ']';
    appendJsonString(&details_.types, "TensorList");
  }

  SpanDetails details_;
};

SpanDetails describe(const char* name, std::uint16_t moduleId, Inputs inputs) {
  DetailsText text;
  for (const c10::IValue& input : inputs) {
    text.add(input);
  }
  SpanDetails details = std::move(text).finish();
  details.module = moduleName(moduleId);
  details.flops = callFlops(name, inputs);
  return details;
}

/// The calls that one thread knows. Bounded, because shapes may differ in every call.
class DetailsCache {
 public:
  std::uint32_t find(const char* name, std::uint16_t nameId, Inputs inputs) {
    const std::uint16_t moduleId = moduleOf(inputs);
    makeKey(name, nameId, moduleId, inputs, &key_);
    if (const auto known = ids_.find(key_); known != ids_.end()) {
      return known->second;
    }
    if (ids_.size() == kMaxKeys) {
      ids_.clear();
    }
    const std::uint32_t id = internSpanDetails(describe(name, moduleId, inputs));
    ids_.emplace(key_, id);
    return id;
  }

 private:
  static constexpr std::size_t kMaxKeys = std::size_t{1} << 16;

  Key key_;  // keeps its memory
  std::unordered_map<Key, std::uint32_t, KeyHash> ids_;
};

}  // namespace

std::uint32_t callDetails(const char* name, std::uint16_t nameId, Inputs inputs) noexcept {
  try {
    thread_local DetailsCache cache;
    return cache.find(name, nameId, inputs);
  } catch (const std::exception&) {  // no memory, or a tensor without known sizes
    return 0;
  }
}

}  // namespace steptape::detail::libtorch
