// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint/tied_tensors.h"

#include <algorithm>
#include <unordered_map>

namespace steptape::detail::train {
namespace {

/// REQUIRES: both begin at the same address.
bool areSame(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.device() == b.device() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}

bool hasMemory(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && tensor.numel() > 0 && tensor.data_ptr() != nullptr;
}

}  // namespace

std::vector<TiedTensor> tiedTensors(std::vector<NamedTensor> tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const NamedTensor& a, const NamedTensor& b) { return a.name < b.name; });
  std::vector<TiedTensor> tied;
  std::unordered_multimap<const void*, std::size_t> places;
  for (NamedTensor& named : tensors) {
    if (hasMemory(named.tensor)) {
      const auto [first, last] = places.equal_range(named.tensor.data_ptr());
      const auto same = std::find_if(first, last, [&](const auto& place) {
        return areSame(tied[place.second].tensor, named.tensor);
      });
      if (same != last) {
        tied[same->second].names.push_back(std::move(named.name));
        continue;
      }
      places.emplace(named.tensor.data_ptr(), tied.size());
    }
    tied.push_back({{std::move(named.name)}, std::move(named.tensor)});
  }
  return tied;
}

}  // namespace steptape::detail::train
