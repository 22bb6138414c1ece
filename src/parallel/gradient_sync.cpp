// SPDX-License-Identifier: Apache-2.0
#include "steptape/parallel/gradient_sync.h"

#include <algorithm>
#include <iostream>
#include <unordered_set>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/base/error.h"
#include "steptape/distributed/rank_log.h"

#include "parallel/averaged_type.h"
#include "parallel/gradient_slots.h"
#include "parallel/gradient_sync_options.h"
#include "parallel/message_gradients.h"
#include "parallel/norm_limit.h"
#include "parallel/optimizer_archive.h"
#include "parallel/pass_counter.h"
#include "parallel/shared_gradients.h"
#include "parallel/shared_optimizer.h"
#include "parallel/sparse_gradients.h"
#include "parallel/tensor_schema.h"

#include <torch/optim/optimizer.h>

namespace steptape {
namespace {

using detail::GradientSlot;
using detail::GradientState;

void checkParameter(const std::string& name, const at::Tensor& parameter) {
  if (!detail::averagedType(parameter.scalar_type())) {
    throw Error(ErrorCode::kInvalidArgument,
                "GradientSync cannot average the gradient of " + name + ", which is " +
                    at::toString(parameter.scalar_type()) + "; wanted " + detail::kAveragedTypes);
  }
}

/// Those that there are, of one rank.
std::vector<at::Tensor> ownGradients(const std::vector<GradientSlot>& slots) {
  std::vector<at::Tensor> gradients;
  for (const GradientSlot& slot : slots) {
    if (slot.parameter.grad().defined()) {
      gradients.push_back(slot.parameter.grad());
    }
  }
  return gradients;
}

/// The parameters that need a gradient.
std::vector<GradientSlot> slotsOf(const torch::OrderedDict<std::string, at::Tensor>& parameters) {
  std::vector<GradientSlot> slots;
  std::unordered_set<const void*> known;
  for (const auto& item : parameters) {
    if (!item.value().requires_grad()) {
      continue;
    }
    checkParameter(item.key(), item.value());
    if (!known.insert(item.value().unsafeGetTensorImpl()).second) {
      throw Error(ErrorCode::kInvalidArgument,
                  "GradientSync got the parameter " + item.key() + " twice");
    }
    slots.push_back({item.key(), item.value(), 0, 0, {}});
  }
  return slots;
}

/// Whether the options, the parameters and where the ranks are allow the shared-memory path. The
/// same answer on every rank. Collective.
bool mayShareMemory(const std::vector<GradientSlot>& slots, const GradientSyncOptions& options,
                    Communicator& world) {
  const bool fits = std::all_of(slots.begin(), slots.end(), [](const GradientSlot& slot) {
    const at::ScalarType type = slot.parameter.scalar_type();
    return slot.parameter.is_cpu() && (type == at::kFloat || type == at::kDouble);
  });
  const bool canTravel = options.reduction == GradientReduction::kAverage &&
                         (world.crossSize() == 1 || options.compression != Compression::kPowerSgd);
  std::int32_t may = options.useSharedMemory && fits && canTravel && world.localSize() > 1 ? 1 : 0;
  world.allreduce(Span<std::int32_t>(&may, 1), ReduceOp::kMin);
  return may != 0;
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
    detail::checkOptions(options_);
    slots_ = slotsOf(parameters);
    detail::TensorSchema schema;
    for (const auto& item : parameters) {
      schema.add(item.key(), item.value());
    }
    schema.checkSameOnAllRanks(*world_, "GradientSync");
    detail::schemaOf(options_).checkSameOnAllRanks(*world_, "GradientSync", "option");
    if (world_->size() > 1 && !mayShareMemory(slots_, options_, *world_)) {
      messages_ = std::make_unique<detail::MessageGradients>(slots_, world_, options_);
    }
  }

  /// Ends a pass of backward(). @return whether the gradients are to be exchanged.
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
    world_->allreduce(Span<float>(&ranks, 1), ReduceOp::kSum);
    ranksWithData_ = static_cast<int>(ranks);
    return ranksWithData_ > 0;
  }

  void average() {
    if (sharedOptimizer_) {
      throw Error(ErrorCode::kFailedPrecondition,
                  "GradientSync::synchronize() after step(): the parameters lie in shared memory, "
                  "where only step() updates them");
    }
    const Measure measure(*this);
    prepare();
    if (shared_) {
      shared_->gather(false);
      distributeShared();
      shared_->finish();
    } else if (messages_) {
      messages_->exchange(scale());
      exchangeSparse();
      limit_.apply(averages(), *world_);
    } else {
      const std::vector<at::Tensor> gradients = ownGradients(slots_);
      detail::multiply(gradients, scale());
      limit_.apply(gradients, *world_);
    }
    showAverages();
  }

  void step(torch::optim::Optimizer& optimizer) {
    if (world_->size() > 1) {
      compareOptimizers(optimizer);
      prepare();
    }
    if (!chooseSharing(optimizer)) {
      average();
      optimizer.step();
      return;
    }
    const Measure measure(*this);
    shared_->gather(!sharedOptimizer_->isAttached());
    if (shared_->requested()) {
      sharedOptimizer_->attach();
    }
    double rest = scale();
    if (keepGradients_) {
      distributeShared();
      rest = 1;
    } else if (limit_.isSet()) {
      rest = limit_.factorFor(shared_->sumAndNorm(rest));
    }
    sharedOptimizer_->step(rest);
    shared_->finish();
    if (keepGradients_) {
      showAverages();
    } else {
      dropGradients();
    }
  }

  void setKeepGradients(bool keep) { keepGradients_ = keep; }
  double norm() const { return limit_.norm(); }

  const GradientSyncStats& stats() const { return stats_; }

  std::string describe() const {
    const std::string ranks = std::to_string(world_->size()) + " ranks";
    if (world_->size() == 1) {
      return "one rank, nothing to exchange";
    }
    if (messages_) {
      return "messages between " + ranks + ": " + messages_->describe() + notShared_;
    }
    const int nodes = world_->crossSize();
    return "shared memory, " + ranks + " on " + std::to_string(nodes) +
           (nodes == 1 ? " node" : " nodes") +
           (sharedOptimizer_ ? ", parameters shared" : notShared_);
  }

 private:
  /// Adds the time of an exchange to the statistics.
  class Measure {
   public:
    explicit Measure(Impl& sync)
        : sync_(sync), start_(Clock::system().steadyNanos()), waited_(sync.waitSeconds()) {}
    ~Measure() {
      const double seconds = static_cast<double>(Clock::system().steadyNanos() - start_) * 1e-9;
      const double waited = sync_.waitSeconds() - waited_;
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

  double waitSeconds() const {
    return shared_ ? shared_->waitSeconds() : messages_ ? messages_->waitSeconds() : 0;
  }

  /// Before an exchange. The first one finds out which gradients are sparse, and gives the others
  /// their places.
  void prepare() {
    if (!hasData_) {
      forgetGradients();
    }
    if (isPrepared_ || world_->size() == 1) {
      return;
    }
    std::vector<std::uint8_t> states;
    for (const GradientSlot& slot : slots_) {
      states.push_back(static_cast<std::uint8_t>(detail::gradientStateOf(slot)));
    }
    world_->allreduce(Span<std::uint8_t>(states), ReduceOp::kMax);
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      const bool isSparse = static_cast<GradientState>(states[slot]) == GradientState::kSparse;
      const bool gathers = isSparse && options_.sparse == SparseGradients::kGather;
      (gathers ? sparse_ : dense_).push_back(slot);
    }
    if (!messages_) {
      shareMemory();
    }
    if (messages_) {
      messages_->layOut(dense_);
    }
    for (const std::size_t slot : dense_) {
      stats_.bytesPerExchange += static_cast<std::int64_t>(slots_[slot].parameter.nbytes());
    }
    isPrepared_ = true;
  }

  /// Ranks whose optimizers differ would drift apart, or share parameters that each moves by a rate
  /// of its own. Collective the first time.
  void compareOptimizers(const torch::optim::Optimizer& optimizer) {
    if (compared_ != &optimizer) {
      detail::schemaWithOptionsOf(optimizer).checkSameOnAllRanks(*world_, "GradientSync",
                                                                 "optimizer");
      compared_ = &optimizer;
    }
  }

  void shareMemory() {
    std::string why;
    shared_ = detail::SharedGradients::create(slots_, detail::layOut(slots_, dense_),
                                              options_.compression, *world_, why);
    if (!shared_) {
      notShared_ = "; no shared memory: " + why;
      messages_ = std::make_unique<detail::MessageGradients>(slots_, world_, options_);
      logFromRoot(*world_, "steptape: gradients travel as messages" + notShared_ + "\n", std::cerr);
    }
  }

  /// Whether step() is to update shared parameters. Collective the first time.
  bool chooseSharing(torch::optim::Optimizer& optimizer) {
    if (!shared_ || !sparse_.empty() || options_.gradientAsBucketView == false) {
      return false;
    }
    if (sharedOptimizer_ && sharedOptimizer_->optimizer() != &optimizer) {
      throw Error(ErrorCode::kInvalidArgument,
                  "GradientSync::step() got another optimizer than before, whose parameters lie in "
                  "shared memory; one GradientSync serves one optimizer");
    }
    if (!sharedOptimizer_ && declined_ != &optimizer) {
      if (detail::SharedOptimizer::canShare(optimizer, slots_, *shared_)) {
        shareParameters(optimizer);
      }
      declined_ = sharedOptimizer_ ? nullptr : &optimizer;
    }
    return sharedOptimizer_ != nullptr;
  }

  void shareParameters(torch::optim::Optimizer& optimizer) {
    std::string why;
    sharedOptimizer_ = detail::SharedOptimizer::create(optimizer, slots_, *shared_, *world_, why);
    if (!sharedOptimizer_) {
      notShared_ = "; parameters not shared: " + why;
      logFromRoot(*world_, "steptape: every rank makes the whole step" + notShared_ + "\n",
                  std::cerr);
    }
  }

  double scale() const {
    return 1.0 /
           (static_cast<double>(ranksWithData_) * static_cast<double>(options_.accumulationSteps));
  }

  void distributeShared() {
    exchangeSparse();
    if (!limit_.isSet()) {
      shared_->distribute(scale());
      return;
    }
    const std::vector<at::Tensor> sparse = sparseGradients();
    const double factor =
        limit_.factorFor(shared_->sumAndNorm(scale()) + detail::sumOfSquares(sparse, *world_));
    shared_->distribute(factor);
    detail::multiply(sparse, factor);
  }

  void exchangeSparse() {
    for (const std::size_t index : sparse_) {
      detail::exchangeSparseGradient(slots_[index], *world_, scale());
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

  /// Of all parameters, where this rank has them as a whole: the message path.
  std::vector<at::Tensor> averages() const {
    std::vector<at::Tensor> gradients = sparseGradients();
    for (const std::size_t index : dense_) {
      gradients.push_back(slots_[index].gradient);
    }
    return gradients;
  }

  /// Makes the averages the parameters' gradients.
  void showAverages() {
    for (const std::size_t index : dense_) {
      const GradientSlot& slot = slots_[index];
      const GradientState state = shared_ ? shared_->stateOf(index) : messages_->stateOf(index);
      at::Tensor& gradient = slot.parameter.mutable_grad();
      if (state == GradientState::kNone) {
        gradient.reset();
      } else if (options_.gradientAsBucketView || !gradient.defined() || gradient.is_sparse()) {
        detail::showAsGradient(slot);
      } else {
        gradient.detach().copy_(slot.gradient);
      }
    }
  }

  /// Frees the gradients that backward() made and that have served. Those in the shared memory
  /// stay: who zeroes gradients in place needs no others.
  void dropGradients() {
    for (const std::size_t index : dense_) {
      const GradientSlot& slot = slots_[index];
      if (!detail::liesInItsPlace(slot)) {
        slot.parameter.mutable_grad().reset();
      }
    }
  }

  void forgetGradients() {
    for (const GradientSlot& slot : slots_) {
      slot.parameter.mutable_grad().reset();
    }
  }

  /// Tells the hooks whether the backward() that comes next is the last one before an exchange.
  void chooseOverlap() {
    if (messages_) {
      messages_->setOverlapping(isPrepared_ && passes_.isLast());
    }
  }

  std::shared_ptr<Communicator> world_;
  GradientSyncOptions options_;
  std::vector<GradientSlot> slots_;
  std::vector<std::size_t> dense_;   // In the first exchange each slot becomes one of these
  std::vector<std::size_t> sparse_;  // or one of those.
  bool isPrepared_ = false;

  // One of the two, where there are several ranks.
  std::unique_ptr<detail::SharedGradients> shared_;
  std::unique_ptr<detail::MessageGradients> messages_;
  std::unique_ptr<detail::SharedOptimizer> sharedOptimizer_;
  const torch::optim::Optimizer* compared_ = nullptr;
  const torch::optim::Optimizer* declined_ = nullptr;  // Cannot be shared.
  std::string notShared_;

  detail::PassCounter passes_;
  detail::NormLimit limit_;
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
