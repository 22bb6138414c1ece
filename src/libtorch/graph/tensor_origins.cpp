// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/tensor_origins.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace steptape::detail::libtorch {
namespace {

/// Returns the largest offset of an element; strides are never negative.
std::int64_t lastElement(const TensorLayout& layout) {
  std::int64_t last = layout.offset;
  for (std::size_t i = 0; i < layout.sizes.size(); ++i) {
    last += (layout.sizes[i] - 1) * layout.strides[i];
  }
  return last;
}

bool isEmpty(const TensorLayout& layout) {
  return std::find(layout.sizes.begin(), layout.sizes.end(), 0) != layout.sizes.end();
}

/// One dimension of two tensors with equal strides.
struct CommonDimension {
  std::int64_t stride;
  std::int64_t sizeOfA;
  std::int64_t sizeOfB;

  std::int64_t reach() const { return (std::max(sizeOfA, sizeOfB) - 1) * stride; }
};

/// Returns the dimensions, largest stride first.
std::vector<CommonDimension> commonDimensions(const TensorLayout& a, const TensorLayout& b) {
  std::vector<CommonDimension> dimensions;
  for (std::size_t i = 0; i < a.sizes.size(); ++i) {
    dimensions.push_back({a.strides[i], a.sizes[i], b.sizes[i]});
  }
  std::sort(dimensions.begin(), dimensions.end(),
            [](const auto& x, const auto& y) { return x.stride > y.stride; });
  return dimensions;
}

/// Returns whether each step of a dimension skips all elements of the inner dimensions.
bool isNested(const std::vector<CommonDimension>& dimensions) {
  std::int64_t reach = 0;
  for (auto inner = dimensions.rbegin(); inner != dimensions.rend(); ++inner) {
    if (inner->stride <= reach) {
      return false;
    }
    reach += inner->reach();
  }
  return true;
}

/// Returns whether an index of A and an index of B are `distance` apart in memory, from `dimension`
/// on. The outermost dimension covers the distance up to one step; the inner dimensions cover the
/// rest.
bool meet(const std::vector<CommonDimension>& dimensions, std::size_t dimension,
          std::int64_t distance) {
  if (dimension == dimensions.size()) {
    return distance == 0;
  }
  const CommonDimension& outer = dimensions[dimension];
  const std::int64_t quotient = distance / outer.stride;
  for (std::int64_t steps = quotient - 1; steps <= quotient + 1; ++steps) {
    if (-outer.sizeOfB < steps && steps < outer.sizeOfA &&
        meet(dimensions, dimension + 1, distance - steps * outer.stride)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool shareElements(const TensorLayout& a, const TensorLayout& b) {
  if (isEmpty(a) || isEmpty(b) || a.offset > lastElement(b) || b.offset > lastElement(a)) {
    return false;
  }
  if (a.strides != b.strides) {
    return true;
  }
  const std::vector<CommonDimension> dimensions = commonDimensions(a, b);
  return !isNested(dimensions) || meet(dimensions, 0, b.offset - a.offset);
}

void TensorOrigins::add(const at::Tensor& tensor, DraftEdge edge, bool isWrite) {
  held_.emplace_back(tensor.getIntrusivePtr());
  makers_[tensor.unsafeGetTensorImpl()] = edge;
  if (tensor.has_storage()) {
    const auto [known, isNew] =
        storages_.try_emplace(tensor.storage().unsafeGetStorageImpl(),
                              Storage{tensor.storage().getWeakStorageImpl(), {}});
    known->second.origins.push_back({edge, TensorLayout(tensor), isWrite});
  }
}

std::vector<DraftEdge> TensorOrigins::find(const at::Tensor& tensor) const {
  const auto maker = makers_.find(tensor.unsafeGetTensorImpl());
  std::vector<DraftEdge> edges;
  if (maker != makers_.end()) {
    edges.push_back(maker->second);
  }
  if (tensor.has_storage()) {
    const auto storage = storages_.find(tensor.storage().unsafeGetStorageImpl());
    if (storage != storages_.end()) {
      addSharers(TensorLayout(tensor), storage->second, &edges);
    }
  }
  return edges;
}

void TensorOrigins::addSharers(const TensorLayout& layout, const Storage& storage,
                               std::vector<DraftEdge>* edges) {
  const bool isMakerKnown = !edges->empty();
  std::vector<const Origin*> writes;
  for (auto origin = storage.origins.rbegin(); origin != storage.origins.rend(); ++origin) {
    if (isMakerKnown && origin->edge.node <= edges->front().node) {
      break;
    }
    if (!shareElements(layout, origin->layout)) {
      continue;
    }
    if (!origin->isWrite && !isMakerKnown) {
      edges->push_back(origin->edge);
      break;
    }
    // A later write to the same elements has read this one's result, or replaced it.
    const bool isLast = std::none_of(writes.begin(), writes.end(), [&](const Origin* later) {
      return shareElements(later->layout, origin->layout);
    });
    if (origin->isWrite && isLast) {
      writes.push_back(&*origin);
    }
  }
  std::transform(writes.rbegin(), writes.rend(), std::back_inserter(*edges),
                 [](const Origin* write) { return write->edge; });
}

}  // namespace steptape::detail::libtorch
