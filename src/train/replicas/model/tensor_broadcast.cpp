// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/model/tensor_broadcast.h"

#include <cstring>
#include <string>
#include <utility>

#include <ATen/ops/empty.h>

namespace steptape::detail::train {
namespace {

bool isFlatInMainMemory(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.is_contiguous();
}

void appendElements(const at::Tensor& tensor, std::string& bytes) {
  const at::Tensor flat = tensor.cpu().contiguous();
  bytes.append(static_cast<const char*>(flat.data_ptr()), flat.nbytes());
}

void takeElements(const at::Tensor& tensor, const char* bytes) {
  if (isFlatInMainMemory(tensor)) {
    std::memcpy(tensor.data_ptr(), bytes, tensor.nbytes());
    return;
  }
  const at::Tensor flat = at::empty(tensor.sizes(), at::TensorOptions(tensor.scalar_type()));
  std::memcpy(flat.data_ptr(), bytes, flat.nbytes());
  tensor.copy_(flat);
}

class TensorGroup {
 public:
  TensorGroup(Communicator& world, int root) : world_(world), root_(root) {}

  void add(const NamedTensor& item) {
    if (item.tensor.nbytes() == 0) {
      return;  // it may have no memory
    }
    if (bytes_ > 0 && bytes_ + item.tensor.nbytes() > kBroadcastGroupBytes) {
      send();
    }
    items_.push_back(item);
    bytes_ += item.tensor.nbytes();
  }

  void send() {
    if (!items_.empty()) {
      CollectiveOptions options;
      options.name = items_.front().name;
      if (items_.size() == 1 && isFlatInMainMemory(items_.front().tensor)) {
        world_.broadcast(items_.front().tensor.data_ptr(), bytes_, root_, options);
      } else {
        sendTogether(options);
      }
    }
    items_.clear();
    bytes_ = 0;
  }

 private:
  void sendTogether(const CollectiveOptions& options) {
    std::string bytes;
    bytes.reserve(bytes_);
    if (world_.rank() == root_) {
      for (const NamedTensor& item : items_) {
        appendElements(item.tensor, bytes);
      }
    }
    bytes.resize(bytes_);
    world_.broadcast(bytes.data(), bytes.size(), root_, options);
    if (world_.rank() != root_) {
      const char* next = bytes.data();
      for (const NamedTensor& item : items_) {
        takeElements(item.tensor, std::exchange(next, next + item.tensor.nbytes()));
      }
    }
  }

  Communicator& world_;
  int root_;
  std::vector<NamedTensor> items_;
  std::size_t bytes_ = 0;
};

}  // namespace

void broadcastTensors(const std::vector<NamedTensor>& tensors, Communicator& world, int root) {
  TensorGroup group(world, root);
  for (const NamedTensor& item : tensors) {
    group.add(item);
  }
  group.send();
}

}  // namespace steptape::detail::train
