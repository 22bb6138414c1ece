// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "train/replicas/gradients/gradient_exchange.h"
#include "train/replicas/gradients/norm_limit.h"

namespace steptape::detail::train {
namespace {

class LoneExchange final : public GradientExchange {
 public:
  LoneExchange(const std::vector<GradientSlot>& slots, std::shared_ptr<Communicator> world)
      : slots_(slots), world_(std::move(world)) {}

  bool layOut(const std::vector<std::size_t>& /*dense*/, std::string& /*why*/) override {
    return true;
  }
  void collect(double scale) override { scaleBy(scale); }
  double sumOfSquares(const std::vector<at::Tensor>& /*sparse*/) override {
    return train::sumOfSquares(gradients(), *world_);
  }
  at::Tensor deviceSumOfSquares(const std::vector<at::Tensor>& /*sparse*/) override {
    const std::vector<at::Tensor> all = gradients();
    return all.empty() || all.front().is_cpu() ? at::Tensor() : train::deviceSumOfSquares(all);
  }
  void scaleBy(double factor) override { multiply(gradients(), factor); }
  void scaleOnDevice(const at::Tensor& factor) override { multiply(gradients(), factor); }
  void distribute() override {}
  GradientState stateOf(std::size_t slot) const override { return gradientStateOf(slots_[slot]); }
  double waitSeconds() const override { return 0; }
  std::string describe() const override { return "one rank, nothing to exchange"; }

 private:
  /// Returns the existing gradients, including sparse ones.
  std::vector<at::Tensor> gradients() const {
    std::vector<at::Tensor> gradients;
    for (const GradientSlot& slot : slots_) {
      if (slot.parameter.grad().defined()) {
        gradients.push_back(slot.parameter.grad());
      }
    }
    return gradients;
  }

  const std::vector<GradientSlot>& slots_;
  std::shared_ptr<Communicator> world_;
};

}  // namespace

std::unique_ptr<GradientExchange> makeLoneExchange(const std::vector<GradientSlot>& slots,
                                                   std::shared_ptr<Communicator> world) {
  return std::make_unique<LoneExchange>(slots, std::move(world));
}

}  // namespace steptape::detail::train
