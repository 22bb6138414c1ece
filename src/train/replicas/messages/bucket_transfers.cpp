// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/bucket_transfers.h"

#include <algorithm>
#include <exception>
#include <iostream>

#include "steptape/base/clock.h"

#include "train/replicas/gradients/current_stream.h"
#include "train/replicas/messages/bucket_chain.h"
#include "train/replicas/messages/device_chain.h"
#include "train/replicas/messages/power_sgd.h"

namespace steptape::detail::train {
namespace {

/// Determines which slots have a gradient on any rank.
class StateExchange final : public CollectiveChain {
 public:
  /// `states` and `world` must outlive it.
  StateExchange(std::vector<GradientState>& states, Communicator& world)
      : states_(states), world_(world) {
    options_.name = "states of the gradients";
  }

  std::optional<ChainLink> advance() override {
    isUnderWay_ = !isUnderWay_;
    if (!isUnderWay_) {
      return std::nullopt;
    }
    const Elements states(states_.data(), states_.size(), DType::kUInt8);
    return ChainLink{world_.allreduceAsync(states, ReduceOp::kMax, options_), true};
  }

 private:
  std::vector<GradientState>& states_;
  Communicator& world_;
  CollectiveOptions options_;
  bool isUnderWay_ = false;
};

}  // namespace

BucketTransfers::BucketTransfers(const std::vector<GradientSlot>& slots,
                                 std::vector<GradientBucket>& buckets,
                                 std::vector<GradientState>& states,
                                 const std::shared_ptr<Communicator>& world,
                                 const GradientSyncOptions& options, bool hasOwnThread)
    : slots_(slots),
      buckets_(buckets),
      options_(options),
      world_(hasOwnThread ? world->duplicate() : world) {
  if (const auto device = deviceForSums(buckets_, *world, options_)) {
    sumOn(*device, *world);
  }
  if (options_.reduction == GradientReduction::kAdasum) {
    adasumGroups_.emplace(*world_);
  }
  for (const GradientBucket& bucket : buckets_) {
    if (!deviceSums_) {
      chains_.push_back(makeChain(bucket));
    }
  }
  stateExchange_ = std::make_unique<StateExchange>(states, *world_);
  if (hasOwnThread) {
    thread_.emplace();
  }
}

/// Chooses how GPUs sum the buckets. Collective.
void BucketTransfers::sumOn(c10::Device device, Communicator& world) {
  std::string why;
  deviceSums_ = DeviceSums::make(buckets_, device, world, options_, why);
  if (!deviceSums_) {
    deviceExchange_ = world_->makeDeviceExchange();
  }
  if (!why.empty()) {
    note_ = "; not by NCCL: " + why;
    logFromRoot(world,
                std::string("steptape: gradients travel ") +
                    (deviceExchange_ ? "between the GPUs by MPI: " : "through main memory: ") +
                    why + "\n",
                std::cerr);
  }
}

std::unique_ptr<CollectiveChain> BucketTransfers::makeChain(const GradientBucket& bucket) const {
  if (deviceExchange_) {
    return std::make_unique<DeviceChain>(bucket, *deviceExchange_, *world_, options_);
  }
  if (adasumGroups_) {
    return std::make_unique<AdasumChain>(bucket, slots_, *adasumGroups_, options_.compression);
  }
  const bool shrinks =
      std::any_of(bucket.slots.begin(), bucket.slots.end(), [this](std::size_t slot) {
        return PowerSgd::compresses(slots_[slot].gradient, options_.powerSgd.rank);
      });
  if (options_.compression == Compression::kPowerSgd && shrinks) {
    return std::make_unique<PowerSgd>(bucket, slots_, *world_, options_);
  }
  return std::make_unique<BucketSum>(bucket, *world_, options_);
}

void BucketTransfers::start(std::size_t index) {
  if (deviceSums_) {
    deviceSums_->add(index);
    return;
  }
  GradientBucket& bucket = buckets_[index];
  const c10::Device device = bucket.memory.device();
  if (!device.is_cpu()) {
    bucket.stream = currentStream(device);
  }
  if (deviceExchange_) {
    bucket.ready = std::make_shared<c10::Event>(device.type());
    bucket.ready->record(*bucket.stream);
  }
  push(*chains_[index]);
}

void BucketTransfers::push(CollectiveChain& chain) {
  if (thread_) {
    thread_->push(chain);
  } else {
    queue_.push(chain);
  }
}

void BucketTransfers::poll() {
  if (!thread_ && std::this_thread::get_id() == owner_) {
    queue_.poll();
  }
}

void BucketTransfers::finish() {
  const std::int64_t start = Clock::system().steadyNanos();
  try {
    if (thread_) {
      thread_->finish();
    } else {
      queue_.finish();
    }
  } catch (const std::exception& error) {
    if (deviceSums_) {  // Otherwise the device would wait for the other ranks.
      deviceSums_->abort(error.what());
    }
    throw;
  }
  if (deviceSums_) {
    deviceSums_->finish();
  }
  waitNanos_ += Clock::system().steadyNanos() - start;
}

std::string BucketTransfers::describe() const {
  return deviceSums_       ? ", summed on the GPUs by NCCL"
         : deviceExchange_ ? ", summed on the GPUs, exchanged by a GPU-aware MPI"
                           : "";
}

}  // namespace steptape::detail::train
