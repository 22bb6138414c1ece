// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/shared_memory/gradient_memory.h"

#include "ranks/communicator/node_barrier.h"

namespace steptape::detail::train {

GradientMemory::GradientMemory(const std::vector<FlatArray>& arrays, std::size_t slots,
                               int localSize)
    : ranks_(static_cast<std::size_t>(localSize)),
      slots_(slots),
      notices_(roundUp(ranks::NodeBarrier::bytesFor(localSize), sizeof(Notice))),
      states_(notices_ + ranks_ * sizeof(Notice)),
      gradients_(roundUp(states_ + ranks_ * slots_, kPageBytes)) {
  for (const FlatArray& array : arrays) {
    arrayOffsets_.push_back(gradientBytes_);
    gradientBytes_ += array.bytes();
  }
  // Separate pages for each rank: a page is placed in the memory of its first writer.
  gradientBytes_ = roundUp(gradientBytes_, kPageBytes);
}

void* GradientMemory::arrayOf(int rank, std::size_t array) const {
  return memory_->data() + gradients_ + static_cast<std::size_t>(rank) * gradientBytes_ +
         arrayOffsets_[array];
}

GradientMemory::Notice& GradientMemory::noticeOf(int rank) const {
  return reinterpret_cast<Notice*>(memory_->data() + notices_)[rank];
}

GradientState* GradientMemory::statesOf(int rank) const {
  return reinterpret_cast<GradientState*>(memory_->data() + states_) +
         static_cast<std::size_t>(rank) * slots_;
}

}  // namespace steptape::detail::train
