// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/gradient_sync.h"

#include <algorithm>
#include <iostream>
#include <unordered_set>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"
#include "steptape/ranks/communicator.h"

#include "base/got_expected.h"
#include "train/replicas/gradients/gradient_exchange.h"
#include "train/replicas/gradients/gradient_slots.h"
#include "train/replicas/gradients/gradient_sync_options.h"
#include "train/replicas/gradients/norm_limit.h"
#include "train/replicas/gradients/sparse_gradients.h"
#include "train/replicas/gradients/wire_buffer.h"
#include "train/replicas/model/optimizer_archive.h"
#include "train/replicas/model/tensor_schema.h"

#include <torch/optim/optimizer.h>

namespace steptape {
namespace {

using detail::train::GradientExchange;
using detail::train::GradientSlot;
using detail::train::GradientState;

void checkParameter(const std::string& name, const at::Tensor& parameter) {
  if (!detail::train::averagedType(parameter.scalar_type())) {
    detail::base::reject(std::string("type ") + at::toString(parameter.scalar_type()),
                         detail::train::kAveragedTypes,
                         "GradientSync: gradient of " + detail::base::quoted(name));
  }
}

/// Returns the parameters that need a gradient.
std::vector<GradientSlot> slotsOf(const torch::OrderedDict<std::string, at::Tensor>& parameters) {
  std::vector<GradientSlot> slots;
  std::unordered_set<const void*> known;
  for (const auto& item : parameters) {
    if (!item.value().requires_grad()) {
      continue;
    }
    checkParameter(item.key(), item.value());
    if (!known.insert(item.value().unsafeGetTensorImpl()).second) {
      detail::base::reject("a parameter twice", "each parameter once",
                           "GradientSync: " + detail::base::quoted(item.key()));
    }
    slots.push_back({item.key(), item.value(), 0, 0, {}});
  }
  return slots;
}

/// Returns whether the options, the parameters and the ranks' nodes allow shared memory; the same
/// on every rank. Collective.
bool mayShareMemory(const std::vector<GradientSlot>& slots, const GradientSyncOptions& options,
                    Communicator& world) {
  const bool fits = std::all_of(slots.begin(), slots.end(), [](const GradientSlot& slot) {
    const at::ScalarType type = slot.parameter.scalar_type();
    return slot.parameter.is_cpu() && (type == at::kFloat || type == at::kDouble);
  });
  const bool canTravel = options.reduction == GradientReduction::kAverage &&
                         (world.crossSize() == 1 || options.compression != Compression::kPowerSgd);
  std::int32_t may = options.useSharedMemory && fits && canTravel && world.localSize() > 1 ? 1 : 0;
  world.allreduce(ArrayView<std::int32_t>(&may, 1), ReduceOp::kMin);
  return may != 0;
}

/// On a single rank, the averages are its own gradients.
class LoneExchange final : public GradientExchange {
 public:
  explicit LoneExchange(const std::vector<GradientSlot>& slots, Communicator& world)
      : slots_(slots), world_(world) {}

  bool layOut(const std::vector<std::size_t>& /*dense*/, std::string& /*why*/) override {
    return true;
  }
  void collect(double scale) override { scaleBy(scale); }
  double sumOfSquares(const std::vector<at::Tensor>& /*sparse*/) override {
    return detail::train::sumOfSquares(gradients(), world_);
  }
  at::Tensor deviceSumOfSquares(const std::vector<at::Tensor>& /*sparse*/) override {
    const std::vector<at::Tensor> all = gradients();
    return all.empty() || all.front().is_cpu() ? at::Tensor()
                                               : detail::train::deviceSumOfSquares(all);
  }
  void scaleBy(double factor) override { detail::train::multiply(gradients(), factor); }
  void scaleOnDevice(const at::Tensor& factor) override {
    detail::train::multiply(gradients(), factor);
  }
  void distribute() override {}
  GradientState stateOf(std::size_t slot) const override {
    return detail::train::gradientStateOf(slots_[slot]);
  }
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
  Communicator& world_;
};

/// Chooses the exchange as far as possible before the first exchange, which may find that there is
/// not enough memory to share. Collective.
std::unique_ptr<GradientExchange> chooseExchange(std::vector<GradientSlot>& slots,
                                                 const std::shared_ptr<Communicator>& world,
                                                 const GradientSyncOptions& options) {
  if (world->size() == 1) {
    return std::make_unique<LoneExchange>(slots, *world);
  }
  return mayShareMemory(slots, options, *world)
             ? detail::train::makeSharedExchange(slots, world, options)
             : detail::train::makeMessageExchange(slots, world, options);
}

}  // namespace

class GradientSync::Impl {
 public:
  Impl(const torch::OrderedDict<std::string, at::Tensor>& parameters,
       std::shared_ptr<Communicator> world, const GradientSyncOptions& options)
      : world_(std::move(world)),
        options_(options),
        passes_(options.accumulationSteps),
        limit_(options.maxNorm),
        ranksWithData_(world_->size()) {
    detail::train::checkOptions(options_);
    slots_ = slotsOf(parameters);
    detail::train::TensorSchema schema;
    for (const auto& item : parameters) {
      schema.add(item.key(), item.value());
    }
    schema.checkSameOnAllRanks(*world_, "GradientSync");
    detail::train::schemaOf(options_).checkSameOnAllRanks(*world_, "GradientSync", "option");
    exchange_ = chooseExchange(slots_, world_, options_);
  }

  /// Ends a pass of backward().
  /// @return whether to exchange the gradients.
  bool endPass() {
    const bool exchanges = passes_.end();
    if (!exchanges) {
      chooseOverlap();
    }
    return exchanges;
  }

  void enterNoSync() {
    passes_.enterNoSync();
    chooseOverlap();
  }
  void leaveNoSync() {
    passes_.leaveNoSync();
    chooseOverlap();
  }

  bool join(bool hasData) {
    hasData_ = hasData;
    float ranks = hasData ? 1 : 0;
    world_->allreduce(ArrayView<float>(&ranks, 1), ReduceOp::kSum);
    ranksWithData_ = static_cast<int>(ranks);
    return ranksWithData_ > 0;
  }

  void average() {
    if (isTakenOver_) {
      throw Error(
          ErrorCode::kFailedPrecondition,
          "GradientSync::synchronize: got a call after step(), which keeps the parameters in "
          "shared memory; expected only step() from then on");
    }
    const Measure measure(*this);
    prepare();
    collect();
    exchange_->distribute();
    showAverages();
  }

  void step(torch::optim::Optimizer& optimizer) {
    compareOptimizers(optimizer);
    prepare();
    isTakenOver_ = exchange_->takesOver(optimizer);
    if (!isTakenOver_) {
      average();
      optimizer.step();
      return;
    }
    const Measure measure(*this);
    collect();
    exchange_->update(keepGradients_);
    if (keepGradients_) {
      showAverages();
    } else {
      dropGradients();
    }
  }

  void setKeepGradients(bool keep) { keepGradients_ = keep; }
  double norm() const { return limit_.norm(); }

  const GradientSyncStats& stats() const { return stats_; }

  std::string describe() const { return exchange_->describe(); }

 private:
  /// Counts passes of backward(), whose gradients add up until the ranks exchange them.
  class PassCounter {
   public:
    explicit PassCounter(std::int64_t passesPerExchange) : passesPerExchange_(passesPerExchange) {}

    /// Ends a pass.
    /// @return whether the ranks exchange after it.
    bool end() {
      if (noSyncDepth_ > 0 || ++passes_ < passesPerExchange_) {
        return false;
      }
      passes_ = 0;
      return true;
    }

    /// Returns whether the ranks will exchange after the next pass.
    bool isLast() const { return noSyncDepth_ == 0 && passes_ + 1 == passesPerExchange_; }

    void enterNoSync() { ++noSyncDepth_; }
    void leaveNoSync() { --noSyncDepth_; }

   private:
    std::int64_t passesPerExchange_;
    std::int64_t passes_ = 0;
    int noSyncDepth_ = 0;
  };

  /// Adds the time of an exchange to the statistics.
  class Measure {
   public:
    explicit Measure(Impl& sync)
        : sync_(sync),
          start_(Clock::system().steadyNanos()),
          waited_(sync.exchange_->waitSeconds()) {}
    ~Measure() {
      const double seconds = static_cast<double>(Clock::system().steadyNanos() - start_) * 1e-9;
      const double waited = sync_.exchange_->waitSeconds() - waited_;
      ++sync_.stats_.exchanges;
      sync_.stats_.waitSeconds += waited;
      sync_.stats_.exchangeSeconds += seconds - waited;
      sync_.hasData_ = true;
      sync_.chooseOverlap();
    }
    Measure(const Measure&) = delete;
    Measure& operator=(const Measure&) = delete;

   private:
    Impl& sync_;
    std::int64_t start_;
    double waited_;
  };

  /// Prepares an exchange. The first call finds out which gradients are sparse, and assigns memory
  /// to the others.
  void prepare() {
    if (!hasData_) {
      forgetGradients();
    }
    if (isPrepared_ || world_->size() == 1) {
      return;
    }
    std::vector<std::uint8_t> states;
    for (const GradientSlot& slot : slots_) {
      states.push_back(static_cast<std::uint8_t>(detail::train::gradientStateOf(slot)));
    }
    world_->allreduce(ArrayView<std::uint8_t>(states), ReduceOp::kMax);
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      const bool isSparse = static_cast<GradientState>(states[slot]) == GradientState::kSparse;
      const bool gathers = isSparse && options_.sparse == SparseGradients::kGather;
      (gathers ? sparse_ : dense_).push_back(slot);
    }
    layOut();
    for (const std::size_t slot : dense_) {
      stats_.bytesPerExchange += static_cast<std::int64_t>(slots_[slot].parameter.nbytes());
    }
    isPrepared_ = true;
  }

  /// Throws if the ranks' optimizers differ: parameters would diverge, or shared ones would be
  /// updated at different rates. Collective for the first call.
  void compareOptimizers(const torch::optim::Optimizer& optimizer) {
    if (world_->size() > 1 && compared_ != &optimizer) {
      detail::train::schemaWithOptionsOf(optimizer).checkSameOnAllRanks(*world_, "GradientSync",
                                                                        "optimizer");
      compared_ = &optimizer;
    }
  }

  /// Chooses the exchange permanently.
  void layOut() {
    std::string why;
    if (exchange_->layOut(dense_, why)) {
      return;
    }
    const std::string note = "; no shared memory: " + why;
    exchange_ = detail::train::makeMessageExchange(slots_, world_, options_, note);
    logFromRoot(*world_, "steptape: gradients travel as messages" + note + "\n", std::cerr);
    exchange_->layOut(dense_, why);
  }

  double scale() const {
    return 1.0 /
           (static_cast<double>(ranksWithData_) * static_cast<double>(options_.accumulationSteps));
  }

  /// Sums all gradients and limits their norm.
  void collect() {
    exchange_->collect(scale());
    for (const std::size_t index : sparse_) {
      detail::train::exchangeSparseGradient(slots_[index], *world_, scale());
    }
    if (limit_.isSet()) {
      const std::vector<at::Tensor> sparse = sparseGradients();
      const at::Tensor onDevice = exchange_->deviceSumOfSquares(sparse);
      if (onDevice.defined()) {
        const at::Tensor factor = limit_.factorFor(onDevice);
        exchange_->scaleOnDevice(factor);
        detail::train::multiply(sparse, factor);
      } else {
        const double factor = limit_.factorFor(exchange_->sumOfSquares(sparse));
        exchange_->scaleBy(factor);
        detail::train::multiply(sparse, factor);
      }
    }
  }

  std::vector<at::Tensor> sparseGradients() const {
    std::vector<at::Tensor> gradients;
    for (const std::size_t index : sparse_) {
      const at::Tensor& gradient = slots_[index].parameter.grad();
      if (gradient.defined()) {
        gradients.push_back(gradient);
      }
    }
    return gradients;
  }

  /// Makes the averages the parameters' gradients.
  void showAverages() {
    for (const std::size_t index : dense_) {
      const GradientSlot& slot = slots_[index];
      const GradientState state = exchange_->stateOf(index);
      at::Tensor& gradient = slot.parameter.mutable_grad();
      if (state == GradientState::kNone) {
        gradient.reset();
      } else if (options_.gradientAsBucketView || !gradient.defined() || gradient.is_sparse()) {
        detail::train::showAsGradient(slot);
      } else {
        gradient.detach().copy_(slot.gradient);
      }
    }
  }

  /// Frees gradients that backward() made and that are no longer needed. Gradients in the slots'
  /// memory stay: a program that zeroes gradients in place needs no others.
  void dropGradients() {
    for (const std::size_t index : dense_) {
      const GradientSlot& slot = slots_[index];
      if (!detail::train::liesInItsPlace(slot)) {
        slot.parameter.mutable_grad().reset();
      }
    }
  }

  void forgetGradients() {
    for (const GradientSlot& slot : slots_) {
      slot.parameter.mutable_grad().reset();
    }
  }

  /// Tells the hooks whether the next backward() is the last one before an exchange.
  void chooseOverlap() { exchange_->setOverlapping(isPrepared_ && passes_.isLast()); }

  std::shared_ptr<Communicator> world_;
  GradientSyncOptions options_;
  std::vector<GradientSlot> slots_;
  std::vector<std::size_t> dense_;   // the first exchange adds each slot to this list
  std::vector<std::size_t> sparse_;  // or to this one
  bool isPrepared_ = false;

  std::unique_ptr<GradientExchange> exchange_;
  const torch::optim::Optimizer* compared_ = nullptr;
  bool isTakenOver_ = false;  // the exchange makes the optimizer's steps

  PassCounter passes_;
  detail::train::NormLimit limit_;
  bool hasData_ = true;
  int ranksWithData_;
  bool keepGradients_ = false;
  GradientSyncStats stats_;
};

GradientSync::GradientSync(const torch::OrderedDict<std::string, at::Tensor>& parameters,
                           std::shared_ptr<Communicator> world, const GradientSyncOptions& options)
    : impl_(std::make_unique<Impl>(parameters, std::move(world), options)) {}

GradientSync::~GradientSync() = default;

bool GradientSync::synchronize() {
  if (!impl_->endPass()) {
    return false;
  }
  impl_->average();
  return true;
}

bool GradientSync::step(torch::optim::Optimizer& optimizer) {
  if (!impl_->endPass()) {
    return false;
  }
  impl_->step(optimizer);
  return true;
}

void GradientSync::setKeepGradients(bool keep) {
  impl_->setKeepGradients(keep);
}

GradientSync::NoSync::NoSync(GradientSync& sync) : sync_(sync) {
  sync_.impl_->enterNoSync();
}

GradientSync::NoSync::~NoSync() {
  sync_.impl_->leaveNoSync();
}

bool GradientSync::join(bool hasData) {
  return impl_->join(hasData);
}

double GradientSync::gradientNorm() const {
  return impl_->norm();
}

const GradientSyncStats& GradientSync::stats() const {
  return impl_->stats();
}

std::string GradientSync::describe() const {
  return impl_->describe();
}

}  // namespace steptape
