// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint/archive_tensors.h"

#include <utility>
#include <vector>

namespace steptape::detail::train {
namespace {

using Replacement = std::function<at::Tensor(const at::Tensor&)>;
using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

// Archives do not give access to the tensors that they hold. An explicit instantiation may name a
// private member ([temp.spec.general]); a LibTorch that renames it does not compile here.
torch::jit::Module InputArchive::*memberOf(const InputArchive* archive);
torch::jit::Module OutputArchive::*memberOf(const OutputArchive* archive);
template <typename Archive, torch::jit::Module Archive::*kMember>
struct MemberAccess {
  friend torch::jit::Module Archive::*memberOf(const Archive*) { return kMember; }
};
template struct MemberAccess<InputArchive, &InputArchive::module_>;
template struct MemberAccess<OutputArchive, &OutputArchive::module_>;

c10::IValue replaced(const c10::IValue& value, const Replacement& replacement);

void replaceInObject(c10::ivalue::Object& object, const Replacement& replacement) {
  for (std::size_t slot = 0; slot < object.slots().size(); ++slot) {
    object.setSlot(slot, replaced(object.getSlot(slot), replacement));
  }
}

/// Lists and dictionaries may be the writer's own, so they are copied.
c10::IValue replacedInList(const c10::IValue& value, const Replacement& replacement) {
  const c10::List<c10::IValue> list = value.toList().copy();
  for (std::size_t i = 0; i < list.size(); ++i) {
    list.set(i, replaced(list.get(i), replacement));
  }
  return list;
}

c10::IValue replacedInDict(const c10::IValue& value, const Replacement& replacement) {
  const c10::Dict<c10::IValue, c10::IValue> dict = value.toGenericDict().copy();
  for (const auto& entry : value.toGenericDict()) {
    dict.insert_or_assign(entry.key(), replaced(entry.value(), replacement));
  }
  return dict;
}

c10::IValue replacedInTuple(const c10::IValue& value, const Replacement& replacement) {
  std::vector<c10::IValue> elements;
  for (const c10::IValue& element : value.toTuple()->elements()) {
    elements.push_back(replaced(element, replacement));
  }
  return c10::ivalue::Tuple::create(std::move(elements));
}

c10::IValue replaced(const c10::IValue& value, const Replacement& replacement) {
  if (value.isTensor()) {
    return value.toTensor().defined() ? replacement(value.toTensor()) : value;
  }
  if (value.isObject()) {
    replaceInObject(*value.toObject(), replacement);
    return value;
  }
  return value.isList()          ? replacedInList(value, replacement)
         : value.isGenericDict() ? replacedInDict(value, replacement)
         : value.isTuple()       ? replacedInTuple(value, replacement)
                                 : value;
}

}  // namespace

void replaceTensors(OutputArchive& archive, const Replacement& replacement) {
  replaceInObject(*(archive.*memberOf(&archive))._ivalue(), replacement);
}

void replaceTensors(InputArchive& archive, const Replacement& replacement) {
  replaceInObject(*(archive.*memberOf(&archive))._ivalue(), replacement);
}

}  // namespace steptape::detail::train
