// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "torch/graph_draft.h"

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/intrusive_ptr.h>

namespace steptape {

/// Which elements of a storage a tensor has.
struct TensorLayout {
  explicit TensorLayout(const at::Tensor& tensor)
      : offset(tensor.storage_offset()),
        sizes(tensor.sizes().vec()),
        strides(tensor.strides().vec()) {}

  std::int64_t offset;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

/// Whether two tensors over one storage share an element.
///
/// Exact for tensors with the same strides, such as two slices of one tensor. Otherwise true if
/// their ranges of memory overlap.
bool shareElements(const TensorLayout& a, const TensorLayout& b);

/// Knows which nodes of a draft the elements of a tensor come from.
///
/// Does not keep tensors alive. Weak pointers keep addresses from being used again.
class TensorOrigins {
 public:
  /// Notes that `edge`, of a later node than all before, made `tensor`.
  void addMade(const at::Tensor& tensor, DraftEdge edge) { add(tensor, edge, false); }
  /// Notes that `edge` wrote to the elements of `tensor`, which other tensors may share.
  void addWritten(const at::Tensor& tensor, DraftEdge edge) { add(tensor, edge, true); }

  /// Whether the node that made `tensor` itself is known, rather than a tensor over its storage.
  bool isMade(const at::Tensor& tensor) const {
    return makers_.count(tensor.unsafeGetTensorImpl()) != 0;
  }

  /// Returns first what made `tensor`, or else the last tensor that shares elements with it; then
  /// what has written to its elements since, through another tensor. Empty if nothing is known.
  std::vector<DraftEdge> find(const at::Tensor& tensor) const;

 private:
  struct Origin {
    DraftEdge edge;
    TensorLayout layout;
    bool isWrite = false;
  };
  struct Storage {
    c10::weak_intrusive_ptr<c10::StorageImpl> held;
    std::vector<Origin> origins;  // in the order of their nodes
  };

  void add(const at::Tensor& tensor, DraftEdge edge, bool isWrite);
  static void addSharers(const TensorLayout& layout, const Storage& storage,
                         std::vector<DraftEdge>* edges);

  std::vector<c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>> held_;
  std::unordered_map<const at::TensorImpl*, DraftEdge> makers_;
  std::unordered_map<const c10::StorageImpl*, Storage> storages_;
};

}  // namespace steptape
