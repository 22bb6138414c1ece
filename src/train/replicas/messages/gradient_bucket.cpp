// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/gradient_bucket.h"

#include <algorithm>
#include <memory>

#include <ATen/ops/zeros.h>

namespace steptape::detail::train {
namespace {

struct Filling {
  at::ScalarType type;
  c10::Device device;
  std::int64_t bytes = 0;
  std::size_t last = 0;  // position of its last slot in the order
  std::vector<std::size_t> slots;

  bool isOfKindOf(const at::Tensor& parameter) const {
    return type == parameter.scalar_type() && device == parameter.device();
  }
};

std::vector<Filling> fill(const std::vector<GradientSlot>& slots,
                          const std::vector<std::size_t>& order, std::int64_t firstBytes,
                          std::int64_t bytes) {
  std::vector<Filling> buckets;
  for (std::size_t position = 0; position < order.size(); ++position) {
    const at::Tensor& parameter = slots[order[position]].parameter;
    const auto size = static_cast<std::int64_t>(parameter.nbytes());
    const auto isOfItsKind = [&](const Filling& other) { return other.isOfKindOf(parameter); };
    const auto latest = std::find_if(buckets.rbegin(), buckets.rend(), isOfItsKind);
    const auto ofItsKind = std::count_if(buckets.begin(), buckets.end(), isOfItsKind);
    const std::int64_t limit = ofItsKind == 1 ? firstBytes : bytes;
    const bool fits = latest != buckets.rend() && latest->bytes + size <= limit;
    if (!fits) {
      buckets.push_back({parameter.scalar_type(), parameter.device(), 0, 0, {}});
    }
    Filling& bucket = fits ? *latest : buckets.back();
    bucket.slots.push_back(order[position]);
    bucket.bytes += size;
    bucket.last = position;
  }
  std::sort(buckets.begin(), buckets.end(),
            [](const Filling& a, const Filling& b) { return a.last < b.last; });
  return buckets;
}

std::string nameOf(std::size_t number, const std::vector<GradientSlot>& slots,
                   const std::vector<std::size_t>& members) {
  std::string name = "gradients of bucket " + std::to_string(number) + " (";
  name += slots[members.front()].name;
  if (members.size() > 1) {
    name += " ... " + slots[members.back()].name;
  }
  return name + ")";
}

}  // namespace

std::vector<GradientBucket> makeBuckets(std::vector<GradientSlot>& slots,
                                        const std::vector<std::size_t>& order,
                                        std::int64_t firstBytes, std::int64_t bytes) {
  std::vector<GradientBucket> buckets;
  for (const Filling& filling : fill(slots, order, firstBytes, bytes)) {
    const FlatArray array = layOut(slots, filling.slots).front();
    const at::Tensor memory =
        at::zeros({array.elements}, at::TensorOptions(filling.device).dtype(filling.type));
    const auto owner = std::make_shared<at::Tensor>(memory);
    auto* const begin = static_cast<std::byte*>(memory.data_ptr());
    for (const std::size_t index : filling.slots) {
      GradientSlot& slot = slots[index];
      slot.array = buckets.size();
      slot.gradient = tensorIn(begin + slot.offset * array.elementBytes(), slot.parameter, owner);
    }
    buckets.push_back({nameOf(buckets.size(), slots, filling.slots), filling.slots, memory,
                       std::nullopt, nullptr});
  }
  return buckets;
}

}  // namespace steptape::detail::train
