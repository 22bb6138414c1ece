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
#include "train/replicas/gradients/pass_counter.h"
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

/// Chooses the exchange as far as possible before the first exchange, which may find that there is
/// not enough memory to share. Collective.
std::unique_ptr<GradientExchange> chooseExchange(std::vector<GradientSlot>& slots,
                                                 const std::shared_ptr<Communicator>& world,
                                                 const GradientSyncOptions& options) {
  if (world->size() == 1) {
    return detail::train::makeLoneExchange(slots, world);
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
    if (exchangeOwnsStep_) {
      throw Error(
          ErrorCode::kFailedPrecondition,
          "GradientSync::synchronize: got a call after step(), which keeps the parameters in "
          "shared memory; expected only step() from then on");
    }
    const Measure measure(*this);
    prepare();
    exchangeAverages();
  }

  void step(torch::optim::Optimizer& optimizer) {
    compareOptimizers(optimizer);
    prepare();
    exchangeOwnsStep_ = exchange_->tryToOwnStep(optimizer);
    if (exchangeOwnsStep_) {
      const Measure measure(*this);
      updateParameters();
      return;
    }
    {
      const Measure measure(*this);
      exchangeAverages();
    }
    optimizer.step();
  }

  void setKeepGradients(bool keep) { keepGradients_ = keep; }
  double norm() const { return limit_.norm(); }

  const GradientSyncStats& stats() const { return stats_; }

  std::string describe() const { return exchange_->describe(); }

 private:
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

  void exchangeAverages() {
    collect();
    exchange_->distribute();
    showAverages();
  }

  void updateParameters() {
    collect();
    exchange_->update(keepGradients_);
    if (keepGradients_) {
      showAverages();
    } else {
      dropGradients();
    }
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
  bool exchangeOwnsStep_ = false;  // it makes the optimizer's steps

  detail::train::PassCounter passes_;
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
