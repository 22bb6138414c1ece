// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"
#include "steptape/ranks/communicator.h"

#include "train/replicas/gradients/current_stream.h"
#include "train/replicas/gradients/gradient_exchange.h"
#include "train/replicas/gradients/norm_limit.h"
#include "train/replicas/messages/adasum.h"
#include "train/replicas/messages/bucket_chain.h"
#include "train/replicas/messages/chain_queue.h"
#include "train/replicas/messages/chain_thread.h"
#include "train/replicas/messages/device_chain.h"
#include "train/replicas/messages/device_sums.h"
#include "train/replicas/messages/gradient_bucket.h"
#include "train/replicas/messages/gradient_hooks.h"
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

constexpr std::size_t kNoBucket = static_cast<std::size_t>(-1);

std::string sizeText(std::int64_t bytes) {
  constexpr std::int64_t kKibi = 1024;
  if (bytes >= kKibi * kKibi) {
    return std::to_string(bytes / (kKibi * kKibi)) + " MiB";
  }
  return bytes >= kKibi ? std::to_string(bytes / kKibi) + " KiB" : std::to_string(bytes) + " bytes";
}

std::string textOf(const GradientSyncOptions& options) {
  std::string text = options.reduction == GradientReduction::kAdasum ? ", Adasum" : "";
  switch (options.compression) {
    case Compression::kNone:
      return text;
    case Compression::kFp16:
      return text + ", float16";
    case Compression::kBf16:
      return text + ", bfloat16";
    case Compression::kPowerSgd:
      return text + ", PowerSGD of rank " + std::to_string(options.powerSgd.rank);
  }
  return text;
}

[[noreturn]] void throwChanged(const GradientSlot& slot) {
  throw Error(
      ErrorCode::kFailedPrecondition,
      "the gradient of " + slot.name +
          " changed after it was sent: got two backward() passes before synchronize() or "
          "step(); expected one. Use noSync() or accumulationSteps for all passes but the last");
}

class MessageExchange final : public GradientExchange {
 public:
  MessageExchange(std::vector<GradientSlot>& slots, std::shared_ptr<Communicator> world,
                  const GradientSyncOptions& options, std::string note)
      : slots_(slots),
        world_(std::move(world)),
        options_(options),
        note_(std::move(note)),
        hasOwnThread_(options.overlap && world_->worksOnAnyThread()),
        states_(slots.size(), GradientState::kNone),
        bucketOf_(slots.size(), kNoBucket),
        isReady_(slots.size(), 0) {
    if (options_.reduction == GradientReduction::kAdasum &&
        options_.compression == Compression::kPowerSgd) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "GradientSync got Adasum with PowerSGD, which adds up what Adasum must not; expected "
          "another compression, or the average");
    }
    if (options_.overlap) {
      hooks_.emplace(slots_, [this](std::size_t slot) { onReady(slot); });
    }
  }

  bool layOut(const std::vector<std::size_t>& dense, std::string& /*why*/) override {
    dense_ = dense;
    buckets_ = makeBuckets(slots_, orderOf(dense), options_.firstBucketBytes, options_.bucketBytes);
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      for (const std::size_t slot : buckets_[bucket].slots) {
        bucketOf_[slot] = bucket;
      }
    }
    // A duplicate, so that messages of another thread are not mixed with those of this one.
    exchangeWorld_ = hasOwnThread_ ? world_->duplicate() : world_;
    if (const auto device = deviceForSums(buckets_, *world_, options_)) {
      sumOn(*device);
    }
    if (options_.reduction == GradientReduction::kAdasum) {
      adasumGroups_.emplace(*exchangeWorld_);
    }
    for (const GradientBucket& bucket : buckets_) {
      if (!deviceSums_) {
        chains_.push_back(makeChain(bucket));
      }
    }
    stateExchange_.emplace(states_, *exchangeWorld_);
    if (hasOwnThread_) {
      thread_.emplace();
    }
    isLaidOut_ = true;
    startOver();
    return true;
  }

  /// If true, hooks start buckets; otherwise, they only record which gradients are in their memory.
  void setOverlapping(bool isOverlapping) override { isOverlapping_ = isOverlapping; }

  /// Starts the buckets that hooks have not started, and waits.
  void collect(double scale) override {
    while (launched_ < buckets_.size()) {
      for (const std::size_t slot : buckets_[launched_].slots) {
        if (isReady_[slot] == 0) {
          moveToItsPlace(slots_[slot]);
        }
      }
      launch();
    }
    const std::optional<std::size_t> changed = std::exchange(changed_, std::nullopt);
    startOver();
    waitForAll();
    // Adasum is not a sum over ranks: only this rank's passes are left to divide by.
    const double factor = options_.reduction == GradientReduction::kAverage
                              ? scale * options_.predivideFactor
                              : 1.0 / static_cast<double>(options_.accumulationSteps);
    if (factor != 1) {
      for (const GradientBucket& bucket : buckets_) {
        bucket.memory.mul_(factor);
      }
    }
    // Checked only now, because the other ranks wait for this one.
    if (changed) {
      throwChanged(slots_[*changed]);
    }
  }

  double sumOfSquares(const std::vector<at::Tensor>& sparse) override {
    std::vector<at::Tensor> averages = denseAverages();
    averages.insert(averages.end(), sparse.begin(), sparse.end());
    return train::sumOfSquares(averages, *world_);
  }
  at::Tensor deviceSumOfSquares(const std::vector<at::Tensor>& sparse) override {
    if (!deviceSums_) {
      return {};
    }
    std::vector<at::Tensor> averages = denseAverages();
    averages.insert(averages.end(), sparse.begin(), sparse.end());
    return deviceSums_->fromRoot(train::deviceSumOfSquares(averages), world_->isRoot());
  }

  void scaleBy(double factor) override { multiply(denseAverages(), factor); }
  void scaleOnDevice(const at::Tensor& factor) override { multiply(denseAverages(), factor); }

  /// Nothing to do: a collected bucket is on every rank.
  void distribute() override {}

  GradientState stateOf(std::size_t slot) const override { return states_[slot]; }
  double waitSeconds() const override { return static_cast<double>(waitNanos_) * 1e-9; }

  std::string describe() const override {
    return "messages between " + std::to_string(world_->size()) + " ranks: " + describeBuckets() +
           note_;
  }

 private:
  /// Chooses how GPUs sum the buckets. Collective.
  void sumOn(c10::Device device) {
    std::string why;
    deviceSums_ = DeviceSums::make(buckets_, device, *world_, options_, why);
    if (!deviceSums_) {
      deviceExchange_ = exchangeWorld_->makeDeviceExchange();
    }
    if (!why.empty()) {
      note_ += "; not by NCCL: " + why;
      logFromRoot(*world_,
                  std::string("steptape: gradients travel ") +
                      (deviceExchange_ ? "between the GPUs by MPI: " : "through main memory: ") +
                      why + "\n",
                  std::cerr);
    }
  }

  std::vector<at::Tensor> denseAverages() const {
    std::vector<at::Tensor> averages;
    averages.reserve(dense_.size());
    for (const std::size_t slot : dense_) {
      averages.push_back(slots_[slot].gradient);
    }
    return averages;
  }

  std::string describeBuckets() const {
    std::string text = sizeText(options_.bucketBytes) + " buckets";
    if (isLaidOut_) {
      text += ", " + std::to_string(buckets_.size()) + " of them";
    }
    text += textOf(options_);
    if (deviceSums_) {
      text += ", summed on the GPUs by NCCL";
    }
    if (deviceExchange_) {
      text += ", summed on the GPUs, exchanged by a GPU-aware MPI";
    }
    if (!options_.overlap) {
      return text + ", not overlapped";
    }
    if (deviceSums_) {
      return text + ", overlapped on a stream of their own";
    }
    return text + (hasOwnThread_ ? ", overlapped by a thread of its own"
                                 : ", overlapped only as far as they move when a hook runs, since "
                                   "MPI_THREAD_MULTIPLE is missing");
  }

  std::unique_ptr<CollectiveChain> makeChain(const GradientBucket& bucket) const {
    if (deviceExchange_) {
      return std::make_unique<DeviceChain>(bucket, *deviceExchange_, *exchangeWorld_, options_);
    }
    if (adasumGroups_) {
      return std::make_unique<AdasumChain>(bucket, slots_, *adasumGroups_, options_.compression);
    }
    const bool shrinks =
        std::any_of(bucket.slots.begin(), bucket.slots.end(), [this](std::size_t slot) {
          return PowerSgd::compresses(slots_[slot].gradient, options_.powerSgd.rank);
        });
    if (options_.compression == Compression::kPowerSgd && shrinks) {
      return std::make_unique<PowerSgd>(bucket, slots_, *exchangeWorld_, options_);
    }
    return std::make_unique<BucketSum>(bucket, *exchangeWorld_, options_);
  }

  /// Returns the root's order for all ranks: the order of the first hook calls, then the slots
  /// without one, because buckets start one after the other. Collective.
  std::vector<std::size_t> orderOf(const std::vector<std::size_t>& dense) {
    std::vector<std::size_t> order = readyOrder_;
    order.insert(order.end(), dense.rbegin(), dense.rend());
    std::vector<char> isWanted(slots_.size(), 0);
    for (const std::size_t slot : dense) {
      isWanted[slot] = 1;
    }
    // Keeps the first occurrence of each.
    const auto isNotWanted = [&](std::size_t slot) {
      return std::exchange(isWanted[slot], char{0}) == 0;
    };
    order.erase(std::remove_if(order.begin(), order.end(), isNotWanted), order.end());
    CollectiveOptions options;
    options.name = "order of the gradients";
    world_->broadcast(order.data(), order.size() * sizeof(order.front()), 0, options);
    return order;
  }

  void onReady(std::size_t slot) {
    if (!isLaidOut_) {
      noteOrder(slot);
      return;
    }
    const std::size_t bucket = bucketOf_[slot];
    if (bucket == kNoBucket) {
      return;
    }
    if (bucket < launched_) {
      changed_ = slot;
      throwChanged(slots_[slot]);
    }
    if (!isOverlapping_) {
      setReady(slot, false);
      return;
    }
    // Now, while the gradient is in the cache.
    moveToItsPlace(slots_[slot]);
    setReady(slot, true);
    while (launched_ < buckets_.size() && missing_[launched_] == 0) {
      launch();
    }
    if (!hasOwnThread_ && std::this_thread::get_id() == owner_) {
      queue_.poll();
    }
  }

  void noteOrder(std::size_t slot) {
    if (isReady_[slot] == 0) {
      isReady_[slot] = 1;
      readyOrder_.push_back(slot);
    }
  }

  void setReady(std::size_t slot, bool isReady) {
    if ((isReady_[slot] != 0) != isReady) {
      isReady_[slot] = isReady ? 1 : 0;
      std::size_t& missing = missing_[bucketOf_[slot]];
      missing = isReady ? missing - 1 : missing + 1;
    }
  }

  /// Passes on the next bucket, whose gradients are in its memory.
  void launch() {
    GradientBucket& bucket = buckets_[launched_];
    const c10::Device device = bucket.memory.device();
    if (deviceSums_) {
      deviceSums_->add(launched_);
    } else {
      if (!device.is_cpu()) {
        bucket.stream = currentStream(device);
      }
      if (deviceExchange_) {
        bucket.ready = std::make_shared<c10::Event>(device.type());
        bucket.ready->record(*bucket.stream);
      }
      push(*chains_[launched_]);
    }
    if (++launched_ == buckets_.size()) {
      noteStates();
      push(*stateExchange_);
    }
  }

  void push(CollectiveChain& chain) {
    if (thread_) {
      thread_->push(chain);
    } else {
      queue_.push(chain);
    }
  }

  void noteStates() {
    for (const GradientBucket& bucket : buckets_) {
      for (const std::size_t slot : bucket.slots) {
        states_[slot] =
            slots_[slot].parameter.grad().defined() ? GradientState::kDense : GradientState::kNone;
      }
    }
  }

  void waitForAll() {
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

  void startOver() {
    launched_ = 0;
    missing_.clear();
    for (const GradientBucket& bucket : buckets_) {
      missing_.push_back(bucket.slots.size());
    }
    std::fill(isReady_.begin(), isReady_.end(), char{0});
  }

  std::vector<GradientSlot>& slots_;
  std::shared_ptr<Communicator> world_;
  GradientSyncOptions options_;
  std::string note_;
  bool hasOwnThread_;
  std::thread::id owner_ = std::this_thread::get_id();

  std::vector<std::size_t> readyOrder_;  // the order of hook calls before layOut()
  bool isLaidOut_ = false;
  bool isOverlapping_ = false;

  std::vector<std::size_t> dense_;  // indices of slots
  std::vector<GradientBucket> buckets_;
  std::vector<GradientState> states_;  // by slot, like isReady_
  std::vector<std::size_t> bucketOf_;
  std::vector<char> isReady_;  // whether its gradient is in the slot's memory

  // State of the exchange in flight.
  std::size_t launched_ = 0;            // number of buckets
  std::vector<std::size_t> missing_;    // by bucket, the number of slots that are not ready
  std::optional<std::size_t> changed_;  // a slot whose gradient was computed again
  std::int64_t waitNanos_ = 0;

  std::shared_ptr<Communicator> exchangeWorld_;
  std::optional<AdasumGroups> adasumGroups_;
  std::optional<StateExchange> stateExchange_;
  std::unique_ptr<DeviceSums> deviceSums_;                 // null: the chains exchange the buckets
  std::unique_ptr<ranks::DeviceExchange> deviceExchange_;  // null: the chains use main memory
  std::vector<std::unique_ptr<CollectiveChain>> chains_;   // by bucket

  // One of the two is used. They are destroyed before the members that they use.
  ChainQueue queue_;
  std::optional<ChainThread> thread_;
  std::optional<GradientHooks> hooks_;
};

}  // namespace

std::unique_ptr<GradientExchange> makeMessageExchange(std::vector<GradientSlot>& slots,
                                                      std::shared_ptr<Communicator> world,
                                                      const GradientSyncOptions& options,
                                                      const std::string& note) {
  return std::make_unique<MessageExchange>(slots, std::move(world), options, note);
}

}  // namespace steptape::detail::train
