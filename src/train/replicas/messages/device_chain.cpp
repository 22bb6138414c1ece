// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/device_chain.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "ranks/communicator/poll_pause.h"
#include "train/replicas/gradients/wire_buffer.h"

#include <ATen/ops/empty_like.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace steptape::detail::train {
namespace {

/// A GPU finishes its own work: there is no other time limit.
constexpr std::chrono::hours kForever{24 * 365};

/// A point in the work of a stream.
class StreamPoint final : public ranks::PendingCollective {
 public:
  explicit StreamPoint(const c10::Stream& stream) : event_(stream.device_type()) {
    event_.record(stream);
  }
  bool poll() override { return event_.query(); }
  void wait() override {
    ranks::PollPause pause(kForever);
    while (!event_.query()) {
      pause.next();
    }
  }

 private:
  c10::Event event_;
};

ranks::DeviceExchange::Part partIn(const at::Tensor& tensor) {
  return {tensor.data_ptr(), tensor.nbytes()};
}

}  // namespace

DeviceChain::DeviceChain(const GradientBucket& bucket, ranks::DeviceExchange& exchange,
                         const Communicator& world, const GradientSyncOptions& options)
    : bucket_(bucket),
      exchange_(exchange),
      rank_(world.rank()),
      ranks_(world.size()),
      predivideFactor_(options.predivideFactor),
      stream_(c10::impl::VirtualGuardImpl(bucket.memory.device().type())
                  .getStreamFromGlobalPool(bucket.memory.device(), /*isHighPriority=*/true)),
      wire_(wireFor(bucket.memory, options.compression)) {
  const c10::impl::VirtualGuardImpl guard(stream_.device_type());
  const auto usedOnStream = [&](const at::Tensor& tensor) {
    guard.recordDataPtrOnStream(tensor.storage().data_ptr(), stream_);
  };
  usedOnStream(bucket.memory);
  usedOnStream(wire_);
  for (int rank = 0; rank < ranks_; ++rank) {
    const at::Tensor own = partOf(rank_);
    ownCopies_.push_back(rank == rank_ ? own : at::empty_like(own));
    if (own.numel() > 0) {
      usedOnStream(ownCopies_.back());
    }
  }
}

at::Tensor DeviceChain::partOf(int rank) const {
  const std::int64_t begin = wire_.numel() * rank / ranks_;
  const std::int64_t end = wire_.numel() * (rank + 1) / ranks_;
  return wire_.slice(0, begin, end);
}

std::optional<ChainLink> DeviceChain::advance() {
  // MPI uses the thread's current device.
  c10::impl::VirtualGuardImpl(stream_.device_type()).setDevice(stream_.device());
  const c10::StreamGuard onStream(stream_);
  switch (stage_) {
    case Stage::kStart:
      stage_ = Stage::kScatter;
      bucket_.ready->block(stream_);
      compress();
      return endOfWork(false);
    case Stage::kScatter:
      stage_ = Stage::kSum;
      return scatter();
    case Stage::kSum:
      stage_ = Stage::kGather;
      sum();
      return endOfWork(false);
    case Stage::kGather:
      stage_ = wire_.is_same(bucket_.memory) ? Stage::kEnd : Stage::kStore;
      return gather();
    case Stage::kStore:
      stage_ = Stage::kEnd;
      bucket_.memory.copy_(wire_);
      return endOfWork(true);
    case Stage::kEnd:
      break;
  }
  stage_ = Stage::kStart;
  return std::nullopt;
}

void DeviceChain::compress() {
  if (predivideFactor_ != 1) {
    bucket_.memory.div_(predivideFactor_);
  }
  if (!wire_.is_same(bucket_.memory)) {
    wire_.copy_(bucket_.memory);
  }
}

ChainLink DeviceChain::scatter() {
  std::vector<ranks::DeviceExchange::Part> sent;
  std::vector<ranks::DeviceExchange::Part> received;
  for (int rank = 0; rank < ranks_; ++rank) {
    sent.push_back(partIn(partOf(rank)));
    received.push_back(partIn(ownCopies_[static_cast<std::size_t>(rank)]));
  }
  return {CollectiveHandle(exchange_.start(bucket_.name, sent, received)), false};
}

void DeviceChain::sum() {
  const at::ScalarType type = wire_.scalar_type();
  const bool isHalf = type == at::kHalf || type == at::kBFloat16;
  // Of other types, the first rank's copy becomes the sum.
  at::Tensor sum = isHalf ? ownCopies_.front().to(at::kFloat) : ownCopies_.front();
  for (std::size_t rank = 1; rank < ownCopies_.size(); ++rank) {
    sum.add_(ownCopies_[rank]);
  }
  const at::Tensor own = partOf(rank_);
  if (sum.data_ptr() != own.data_ptr()) {
    own.copy_(sum);
  }
}

ChainLink DeviceChain::gather() {
  std::vector<ranks::DeviceExchange::Part> sent;
  std::vector<ranks::DeviceExchange::Part> received;
  for (int rank = 0; rank < ranks_; ++rank) {
    sent.push_back(partIn(partOf(rank_)));
    received.push_back(partIn(partOf(rank)));
  }
  return {CollectiveHandle(exchange_.start(bucket_.name, sent, received)), true};
}

ChainLink DeviceChain::endOfWork(bool isLast) const {
  return {CollectiveHandle(std::make_unique<StreamPoint>(stream_)), isLast};
}

}  // namespace steptape::detail::train
