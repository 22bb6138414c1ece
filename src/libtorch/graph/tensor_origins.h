// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "libtorch/graph/graph_draft.h"

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/intrusive_ptr.h>

namespace steptape::detail::libtorch {

/// The elements of a storage that belong to a tensor.
struct TensorLayout {
  explicit TensorLayout(const at::Tensor& tensor)
      : offset(tensor.storage_offset()),
        sizes(tensor.sizes().vec()),
        strides(tensor.strides().vec()) {}

  std::int64_t offset;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

/// Returns whether two tensors with one storage share an element.
///
/// Exact for tensors with equal strides, such as two slices of one tensor. Otherwise, returns true
/// if their memory ranges overlap.
bool shareElements(const TensorLayout& a, const TensorLayout& b);

/// Maps the elements of a tensor to the nodes of a draft that wrote them.
///
/// Does not keep tensors alive; weak pointers keep addresses from being reused.
class TensorOrigins {
 public:
  /// Records that `edge`, of a later node than all before, made `tensor`.
  void addMade(const at::Tensor& tensor, DraftEdge edge) { add(tensor, edge, false); }
  /// Records that `edge` wrote to the elements of `tensor`, which other tensors may share.
  void addWritten(const at::Tensor& tensor, DraftEdge edge) { add(tensor, edge, true); }

  /// Returns whether the node that made `tensor` itself is known, not only one that made a tensor
  /// with its storage.
  bool isMade(const at::Tensor& tensor) const {
    return makers_.count(tensor.unsafeGetTensorImpl()) != 0;
  }

  /// Returns the edge that made `tensor`, or else the last tensor that shares elements with it;
  /// then the later writes to its elements through other tensors. Empty if nothing is known.
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

}  // namespace steptape::detail::libtorch
