// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/gradients/gradient_slots.h"

#include <cstring>
#include <memory>

#include <ATen/ops/from_blob.h>

namespace steptape::detail::train {
namespace {

constexpr std::int64_t kCacheLine = 64;

bool liesAlike(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.device() == b.device() &&
         a.strides() == b.strides();
}

}  // namespace

GradientState gradientStateOf(const GradientSlot& slot) {
  const at::Tensor& gradient = slot.parameter.grad();
  if (!gradient.defined()) {
    return GradientState::kNone;
  }
  return gradient.layout() == at::kStrided ? GradientState::kDense : GradientState::kSparse;
}

std::int64_t FlatArray::elementBytes() const {
  return static_cast<std::int64_t>(c10::elementSize(type));
}

std::vector<FlatArray> layOut(std::vector<GradientSlot>& slots,
                              const std::vector<std::size_t>& order) {
  std::vector<FlatArray> arrays;
  for (const std::size_t index : order) {
    GradientSlot& slot = slots[index];
    const at::ScalarType type = slot.parameter.scalar_type();
    slot.array = 0;
    while (slot.array < arrays.size() && arrays[slot.array].type != type) {
      ++slot.array;
    }
    if (slot.array == arrays.size()) {
      arrays.push_back({type, 0, {}});
    }
    FlatArray& array = arrays[slot.array];
    slot.offset = array.elements;
    array.slots.push_back(index);
    const std::int64_t perLine = kCacheLine / array.elementBytes();
    array.elements += (slot.parameter.numel() + perLine - 1) / perLine * perLine;
  }
  return arrays;
}

at::Tensor tensorIn(void* memory, const at::Tensor& parameter, std::shared_ptr<const void> owner) {
  const auto keep = [owner = std::move(owner)](void*) {};
  const at::TensorOptions options = parameter.options().requires_grad(false);
  if (parameter.is_non_overlapping_and_dense()) {
    return at::from_blob(memory, parameter.sizes(), parameter.strides(), keep, options);
  }
  return at::from_blob(memory, parameter.sizes(), keep, options);
}

bool liesInItsPlace(const GradientSlot& slot) {
  const at::Tensor& gradient = slot.parameter.grad();
  return gradient.defined() && gradient.layout() == at::kStrided &&
         gradient.data_ptr() == slot.gradient.data_ptr();
}

void moveToItsPlace(const GradientSlot& slot) {
  const at::Tensor& gradient = slot.parameter.grad();
  if (!gradient.defined()) {
    slot.gradient.zero_();
  } else if (liesInItsPlace(slot)) {
    return;
  } else if (gradient.layout() != at::kStrided) {
    slot.gradient.copy_(gradient.to_dense());
  } else if (gradient.is_cpu() && liesAlike(gradient, slot.gradient)) {
    // copy_() has an overhead of a microsecond, and small networks have many small gradients.
    std::memcpy(slot.gradient.data_ptr(), gradient.data_ptr(), gradient.nbytes());
  } else {
    slot.gradient.copy_(gradient.detach());
  }
}

void showAsGradient(const GradientSlot& slot) {
  at::Tensor& gradient = slot.parameter.mutable_grad();
  if (!gradient.is_same(slot.gradient)) {
    gradient = slot.gradient;
  }
}

}  // namespace steptape::detail::train
