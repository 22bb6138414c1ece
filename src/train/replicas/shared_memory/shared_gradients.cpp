// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/shared_memory/shared_gradients.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "steptape/base/clock.h"

#include <ATen/ops/from_blob.h>

namespace steptape::detail::train {
namespace {

// A rank that waits for another rank which itself waits allows for that time. So the first rank to
// time out is one that misses a rank of its own node, and can name it.
constexpr int kNodesMayWait = 2;   // first ranks of the nodes, for each other; in timeouts
constexpr int kOthersMayWait = 3;  // other ranks, for their first rank

}  // namespace

NodeRootSums::NodeRootSums(Communicator& world, Compression compression,
                           std::chrono::milliseconds timeout)
    : compression_(compression) {
  if (world.crossSize() > 1) {
    divisor_ = compression == Compression::kNone ? 1 : world.size();
    roots_ = world.split(world.localRank() == 0 ? 0 : -1, world.rank());
    if (roots_) {
      roots_->setTimeout(timeout);
    }
  }
}

void NodeRootSums::sum(std::vector<GradientState>& states) {
  for (CompressedBucket& array : arrays_) {
    array.compress();
    roots_->allreduce(array.wire().elements(), ReduceOp::kSum);
    array.decompress();
  }
  roots_->allreduce(Elements(states.data(), states.size(), DType::kUInt8), ReduceOp::kMax);
}

std::unique_ptr<SharedGradients> SharedGradients::create(std::vector<GradientSlot>& slots,
                                                         std::vector<FlatArray> arrays,
                                                         Compression compression,
                                                         Communicator& world, std::string& why) {
  std::unique_ptr<SharedGradients> shared(
      new SharedGradients(slots, std::move(arrays), compression, world));
  std::shared_ptr<NodeMemory> memory =
      world.allocateNodeMemory(shared->memory_.bytesNeeded(), &why);
  if (!memory) {
    return nullptr;
  }
  shared->place(memory);
  return shared;
}

SharedGradients::SharedGradients(std::vector<GradientSlot>& slots, std::vector<FlatArray> arrays,
                                 Compression compression, Communicator& world)
    : slots_(slots),
      arrays_(std::move(arrays)),
      localRank_(world.localRank()),
      localSize_(world.localSize()),
      nodes_(world.crossSize()),
      timeout_(world.timeout()),
      nodeSums_(world, compression, kNodesMayWait * timeout_),
      memory_(arrays_, slots_.size(), localSize_) {}

void SharedGradients::place(const std::shared_ptr<NodeMemory>& memory) {
  memory_.place(memory);
  barrier_.emplace(*memory, 0, localRank_, localSize_);
  for (std::size_t array = 0; array < arrays_.size(); ++array) {
    allRanks_.emplace_back();
    for (int rank = 0; rank < localSize_; ++rank) {
      allRanks_.back().push_back(memory_.arrayOf(rank, array));
    }
    auto* own = static_cast<std::byte*>(memory_.arrayOf(localRank_, array));
    for (const std::size_t index : arrays_[array].slots) {
      GradientSlot& slot = slots_[index];
      slot.gradient =
          tensorIn(own + slot.offset * arrays_[array].elementBytes(), slot.parameter, memory);
    }
    if (nodeSums_.takesPart()) {
      nodeSums_.addArray(
          at::from_blob(own, {arrays_[array].elements}, at::TensorOptions(arrays_[array].type)));
    }
  }
}

void SharedGradients::gather(bool request) {
  GradientState* states = memory_.statesOf(localRank_);
  for (const FlatArray& array : arrays_) {
    for (const std::size_t slot : array.slots) {
      states[slot] =
          slots_[slot].parameter.grad().defined() ? GradientState::kDense : GradientState::kNone;
      moveToItsPlace(slots_[slot]);
    }
  }
  memory_.noticeOf(localRank_).request = request ? 1 : 0;
  meet("the gradients of all ranks");
  source_ = Source::kAllRanks;
  requested_ = false;
  for (int rank = 0; rank < localSize_; ++rank) {
    requested_ = requested_ || memory_.noticeOf(rank).request != 0;
  }
  combineStates();
  if (nodes_ > 1) {
    sumOverNodes();
  }
}

void SharedGradients::combineStates() {
  const auto isDense = [](GradientState state) { return state == GradientState::kDense; };
  const GradientState* all = memory_.statesOf(0);
  const std::size_t count = slots_.size();
  allDense_ =
      nodes_ == 1 && std::all_of(all, all + count * static_cast<std::size_t>(localSize_), isDense);
  if (allDense_) {
    return;
  }
  combined_.assign(all, all + count);
  for (int rank = 1; rank < localSize_; ++rank) {
    const GradientState* states = memory_.statesOf(rank);
    for (std::size_t slot = 0; slot < count; ++slot) {
      combined_[slot] = std::max(combined_[slot], states[slot]);
    }
  }
}

GradientState SharedGradients::stateOf(std::size_t slot) const {
  return allDense_ ? GradientState::kDense : combined_[slot];
}

void SharedGradients::sumOverNodes() {
  for (std::size_t array = 0; array < arrays_.size(); ++array) {
    const Range mine = part(array);
    withElementType(arrays_[array].type, [&](auto zero) {
      using T = decltype(zero);
      T* const result = static_cast<T*>(memory_.arrayOf(0, array));
      writeSum(remainingSum<T>(array, 1 / nodeSums_.divisor()), ArrayView<T* const>(&result, 1),
               mine.begin, mine.end);
    });
  }
  meet("the sums of the node");
  if (nodeSums_.takesPart()) {
    nodeSums_.sum(combined_);
    std::memcpy(memory_.statesOf(0), combined_.data(), combined_.size());
  }
  meet("the sums of all nodes", kOthersMayWait * timeout_);
  const GradientState* all = memory_.statesOf(0);
  combined_.assign(all, all + slots_.size());
  source_ = Source::kNodeRoot;
}

SharedGradients::Range SharedGradients::part(std::size_t array) const {
  // In whole cache lines, so that no two ranks write to the same one.
  const auto elements = static_cast<std::size_t>(arrays_[array].elements);
  const auto perLine = 64 / static_cast<std::size_t>(arrays_[array].elementBytes());
  const std::size_t lines = elements / perLine;
  const auto rank = static_cast<std::size_t>(localRank_);
  const auto ranks = static_cast<std::size_t>(localSize_);
  return {lines * rank / ranks * perLine, lines * (rank + 1) / ranks * perLine};
}

template <typename T>
ArraySum<T> SharedGradients::remainingSum(std::size_t array, double scale) const {
  const auto* arrays = reinterpret_cast<const T* const*>(allRanks_[array].data());
  const T factor = static_cast<T>(scale);
  switch (source_) {
    case Source::kAllRanks:
      return {{arrays, allRanks_[array].size()}, factor};
    case Source::kNodeRoot:
      return {{arrays, 1}, static_cast<T>(scale * nodeSums_.divisor())};
    case Source::kOwnPart:
      return {{arrays + localRank_, 1}, factor};
  }
  return {};
}
template ArraySum<float> SharedGradients::remainingSum(std::size_t, double) const;
template ArraySum<double> SharedGradients::remainingSum(std::size_t, double) const;

double SharedGradients::sumAndNorm(double scale) {
  double squares = 0;
  for (std::size_t array = 0; array < arrays_.size(); ++array) {
    const Range mine = part(array);
    withElementType(arrays_[array].type, [&](auto zero) {
      using T = decltype(zero);
      T* const own = static_cast<T*>(memory_.arrayOf(localRank_, array));
      writeSum(remainingSum<T>(array, scale), ArrayView<T* const>(&own, 1), mine.begin, mine.end);
      squares += sumOfSquares(own + mine.begin, mine.end - mine.begin);
    });
  }
  memory_.noticeOf(localRank_).sumOfSquares = squares;
  meet("the norms of all ranks' parts");
  source_ = Source::kOwnPart;
  double total = 0;
  for (int rank = 0; rank < localSize_; ++rank) {
    total += memory_.noticeOf(rank).sumOfSquares;
  }
  return total;
}

void SharedGradients::distribute(double scale) {
  for (std::size_t array = 0; array < arrays_.size(); ++array) {
    const Range mine = part(array);
    withElementType(arrays_[array].type, [&](auto zero) {
      using T = decltype(zero);
      std::vector<T*> results;
      results.reserve(static_cast<std::size_t>(localSize_));
      for (int rank = 0; rank < localSize_; ++rank) {
        results.push_back(static_cast<T*>(memory_.arrayOf(rank, array)));
      }
      writeSum(remainingSum<T>(array, scale), ArrayView<T* const>(results.data(), results.size()),
               mine.begin, mine.end);
    });
  }
  source_ = Source::kOwnPart;
  meet("the averaged gradients");
}

void SharedGradients::meet(const char* what) {
  meet(what, timeout_);
}

void SharedGradients::meet(const char* what, std::chrono::milliseconds timeout) {
  const std::int64_t start = Clock::system().steadyNanos();
  barrier_->arriveAndWait(timeout, what);
  waitNanos_ += Clock::system().steadyNanos() - start;
}

}  // namespace steptape::detail::train
