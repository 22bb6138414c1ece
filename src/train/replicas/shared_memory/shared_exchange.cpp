// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/communicator.h"

#include "train/replicas/gradients/gradient_exchange.h"
#include "train/replicas/gradients/norm_limit.h"
#include "train/replicas/shared_memory/shared_gradients.h"
#include "train/replicas/shared_memory/shared_optimizer.h"

namespace steptape::detail::train {
namespace {

class SharedExchange final : public GradientExchange {
 public:
  SharedExchange(std::vector<GradientSlot>& slots, std::shared_ptr<Communicator> world,
                 const GradientSyncOptions& options)
      : slots_(slots),
        world_(std::move(world)),
        compression_(options.compression),
        maySharePlaces_(options.gradientAsBucketView) {}

  bool layOut(const std::vector<std::size_t>& dense, std::string& why) override {
    gradients_ =
        SharedGradients::create(slots_, train::layOut(slots_, dense), compression_, *world_, why);
    hasAllSlots_ = dense.size() == slots_.size();
    return gradients_ != nullptr;
  }

  void collect(double scale) override {
    gradients_->gather(optimizer_ && !optimizer_->isAttached());
    if (gradients_->requested()) {
      optimizer_->attach();
    }
    pendingScale_ = scale;
  }

  double sumOfSquares(const std::vector<at::Tensor>& sparse) override {
    const double dense = gradients_->sumAndNorm(std::exchange(pendingScale_, 1));
    return hasAllSlots_ ? dense : dense + train::sumOfSquares(sparse, *world_);
  }

  void scaleBy(double factor) override { pendingScale_ *= factor; }

  void distribute() override {
    gradients_->distribute(pendingScale_);
    gradients_->finish();
  }

  bool tryToOwnStep(torch::optim::Optimizer& optimizer) override {
    if (!hasAllSlots_ || !maySharePlaces_) {
      return false;
    }
    if (optimizer_ && optimizer_->optimizer() != &optimizer) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "GradientSync::step: got another optimizer than before; expected the same one, because "
          "its parameters are in shared memory");
    }
    if (!optimizer_ && notSharable_ != &optimizer) {
      if (SharedOptimizer::canShare(optimizer, slots_, *gradients_)) {
        shareParameters(optimizer);
      }
      notSharable_ = optimizer_ ? nullptr : &optimizer;
    }
    return optimizer_ != nullptr;
  }

  void update(bool keepGradients) override {
    if (keepGradients) {
      gradients_->distribute(std::exchange(pendingScale_, 1));
    }
    optimizer_->step(pendingScale_);
    gradients_->finish();
  }

  GradientState stateOf(std::size_t slot) const override { return gradients_->stateOf(slot); }

  double waitSeconds() const override { return gradients_ ? gradients_->waitSeconds() : 0; }

  std::string describe() const override {
    const int nodes = world_->crossSize();
    return "shared memory, " + std::to_string(world_->size()) + " ranks on " +
           std::to_string(nodes) + (nodes == 1 ? " node" : " nodes") +
           (optimizer_ ? ", parameters shared" : notShared_);
  }

 private:
  void shareParameters(torch::optim::Optimizer& optimizer) {
    std::string why;
    optimizer_ = SharedOptimizer::create(optimizer, slots_, *gradients_, *world_, why);
    if (!optimizer_) {
      notShared_ = "; parameters not shared: " + why;
      logFromRoot(*world_, "steptape: every rank makes the whole step" + notShared_ + "\n",
                  std::cerr);
    }
  }

  std::vector<GradientSlot>& slots_;
  std::shared_ptr<Communicator> world_;
  Compression compression_;
  bool maySharePlaces_;
  bool hasAllSlots_ = false;  // no slot is sparse

  std::unique_ptr<SharedGradients> gradients_;
  std::unique_ptr<SharedOptimizer> optimizer_;            // destroyed before the gradients
  const torch::optim::Optimizer* notSharable_ = nullptr;  // cannot be shared
  std::string notShared_;                                 // why the parameters are not shared
  double pendingScale_ = 1;                               // factor still to apply to the sums
};

}  // namespace

std::unique_ptr<GradientExchange> makeSharedExchange(std::vector<GradientSlot>& slots,
                                                     std::shared_ptr<Communicator> world,
                                                     const GradientSyncOptions& options) {
  return std::make_unique<SharedExchange>(slots, std::move(world), options);
}

}  // namespace steptape::detail::train
