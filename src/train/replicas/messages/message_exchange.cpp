// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "train/replicas/gradients/gradient_exchange.h"
#include "train/replicas/gradients/norm_limit.h"
#include "train/replicas/messages/bucket_progress.h"
#include "train/replicas/messages/bucket_transfers.h"
#include "train/replicas/messages/gradient_bucket.h"
#include "train/replicas/messages/gradient_hooks.h"

namespace steptape::detail::train {
namespace {

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
        progress_(slots.size()) {
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
    transfers_.emplace(slots_, buckets_, states_, world_, options_, hasOwnThread_);
    progress_.assign(buckets_);
    return true;
  }

  /// If true, hooks start buckets; otherwise, they only record which gradients are in their memory.
  void setOverlapping(bool isOverlapping) override { isOverlapping_ = isOverlapping; }

  /// Starts the buckets that hooks have not started, and waits.
  void collect(double scale) override {
    while (!progress_.haveAllStarted()) {
      for (const std::size_t slot : buckets_[progress_.started()].slots) {
        if (!progress_.isReady(slot)) {
          moveToItsPlace(slots_[slot]);
        }
      }
      startNext();
    }
    const std::optional<std::size_t> changed = std::exchange(changed_, std::nullopt);
    progress_.startOver();
    transfers_->finish();
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
    DeviceSums* const sums = transfers_->deviceSums();
    if (sums == nullptr) {
      return {};
    }
    std::vector<at::Tensor> averages = denseAverages();
    averages.insert(averages.end(), sparse.begin(), sparse.end());
    return sums->fromRoot(train::deviceSumOfSquares(averages), world_->isRoot());
  }

  void scaleBy(double factor) override { multiply(denseAverages(), factor); }
  void scaleOnDevice(const at::Tensor& factor) override { multiply(denseAverages(), factor); }

  /// Nothing to do: a collected bucket is on every rank.
  void distribute() override {}

  GradientState stateOf(std::size_t slot) const override { return states_[slot]; }
  double waitSeconds() const override { return transfers_ ? transfers_->waitSeconds() : 0; }

  std::string describe() const override {
    return "messages between " + std::to_string(world_->size()) + " ranks: " + describeBuckets() +
           note_ + (transfers_ ? transfers_->note() : "");
  }

 private:
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
    if (transfers_) {
      text += ", " + std::to_string(buckets_.size()) + " of them";
    }
    text += textOf(options_) + (transfers_ ? transfers_->describe() : "");
    if (!options_.overlap) {
      return text + ", not overlapped";
    }
    if (transfers_ && transfers_->deviceSums() != nullptr) {
      return text + ", overlapped on a stream of their own";
    }
    return text + (hasOwnThread_ ? ", overlapped by a thread of its own"
                                 : ", overlapped only as far as they move when a hook runs, since "
                                   "MPI_THREAD_MULTIPLE is missing");
  }

  /// Returns the root's order for all ranks: the order of the first hook calls, then the slots
  /// without one, because buckets start one after the other. Collective.
  std::vector<std::size_t> orderOf(const std::vector<std::size_t>& dense) {
    std::vector<std::size_t> order = progress_.order();
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
    if (!transfers_) {
      progress_.noteOrder(slot);
      return;
    }
    const std::size_t bucket = progress_.bucketOf(slot);
    if (bucket == BucketProgress::kNoBucket) {
      return;
    }
    if (bucket < progress_.started()) {
      changed_ = slot;
      throwChanged(slots_[slot]);
    }
    if (!isOverlapping_) {
      progress_.setReady(slot, false);
      return;
    }
    // Now, while the gradient is in the cache.
    moveToItsPlace(slots_[slot]);
    progress_.setReady(slot, true);
    while (progress_.isNextComplete()) {
      startNext();
    }
    transfers_->poll();
  }

  /// Passes on the next bucket, whose gradients are in its memory.
  void startNext() {
    transfers_->start(progress_.started());
    progress_.noteStarted();
    if (progress_.haveAllStarted()) {
      noteStates();
      transfers_->combineStates();
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

  std::vector<GradientSlot>& slots_;
  std::shared_ptr<Communicator> world_;
  GradientSyncOptions options_;
  std::string note_;
  bool hasOwnThread_;
  bool isOverlapping_ = false;

  std::vector<std::size_t> dense_;  // indices of slots
  std::vector<GradientBucket> buckets_;
  std::vector<GradientState> states_;  // by slot
  BucketProgress progress_;
  std::optional<std::size_t> changed_;  // a slot whose gradient was computed again

  // From layOut() on. Destroyed before the members that they use.
  std::optional<BucketTransfers> transfers_;
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
