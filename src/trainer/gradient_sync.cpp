// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/gradient_sync.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <unordered_set>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/base/error.h"
#include "steptape/distributed/rank_log.h"

#include "trainer/gradient_slots.h"
#include "trainer/message_gradients.h"
#include "trainer/shared_gradients.h"
#include "trainer/shared_optimizer.h"
#include "trainer/sparse_gradients.h"
#include "trainer/tensor_schema.h"

#include <torch/optim/optimizer.h>

namespace steptape {
namespace {

using detail::GradientSlot;
using detail::GradientState;

[[noreturn]] void throwOutOfRange(const char* option, const std::string& got, const char* wanted) {
  throw Error(ErrorCode::kInvalidArgument,
              std::string("GradientSync got ") + option + " = " + got + ", wanted " + wanted);
}

void checkOptions(const GradientSyncOptions& options) {
  for (const auto& [name, value] : {std::pair{"bucketBytes", options.bucketBytes},
                                    std::pair{"firstBucketBytes", options.firstBucketBytes},
                                    std::pair{"accumulationSteps", options.accumulationSteps},
                                    std::pair{"powerSgd.rank", options.powerSgd.rank}}) {
    if (value <= 0) {
      throwOutOfRange(name, std::to_string(value), "a positive number");
    }
  }
  if (!(options.predivideFactor > 0)) {
    throwOutOfRange("predivideFactor", std::to_string(options.predivideFactor),
                    "a positive number");
  }
  if (!(options.maxNorm >= 0)) {
    throwOutOfRange("maxNorm", std::to_string(options.maxNorm), "a positive number, or 0 for none");
  }
}

void checkParameter(const std::string& name, const at::Tensor& parameter) {
  const at::ScalarType type = parameter.scalar_type();
  if (type != at::kFloat && type != at::kDouble && type != at::kHalf && type != at::kBFloat16) {
    throw Error(ErrorCode::kInvalidArgument, "GradientSync cannot average the gradient of " + name +
                                                 ", which is " + at::toString(type) +
                                                 "; wanted Float, Double, Half or BFloat16");
  }
}

/// What must be the same on all ranks, a line each.
detail::TensorSchema schemaOf(const GradientSyncOptions& options) {
  detail::TensorSchema schema;
  const auto add = [&schema](const char* name, auto value) {
    schema.add(std::string(name) + " = " + std::to_string(value));
  };
  add("bucketBytes", options.bucketBytes);
  add("firstBucketBytes", options.firstBucketBytes);
  add("compression", static_cast<int>(options.compression));
  add("powerSgd.rank", options.powerSgd.rank);
  add("powerSgd.startAfterSteps", options.powerSgd.startAfterSteps);
  add("powerSgd.seed", options.powerSgd.seed);
  add("reduction", static_cast<int>(options.reduction));
  add("sparse", static_cast<int>(options.sparse));
  add("predivideFactor", options.predivideFactor);
  add("accumulationSteps", options.accumulationSteps);
  add("maxNorm", options.maxNorm);
  add("useSharedMemory", static_cast<int>(options.useSharedMemory));
  add("overlap", static_cast<int>(options.overlap));
  return schema;
}

double sumOfSquares(const at::Tensor& tensor) {
  const at::Tensor values = tensor.is_sparse() ? tensor.coalesce().values() : tensor;
  const double norm = values.norm().item<double>();
  return norm * norm;
}

/// What gradients of this norm are multiplied with to keep `maxNorm`.
/// @source torch.nn.utils.clip_grad_norm_ of LibTorch 2.13, with its 1e-6.
double clipFactor(double norm, double maxNorm) {
  return std::min(1.0, maxNorm / (norm + 1e-6));
}

}  // namespace

class GradientSync::Impl {
 public:
  Impl(const torch::OrderedDict<std::string, at::Tensor>& parameters,
       std::shared_ptr<Communicator> world, const GradientSyncOptions& options)
      : world_(std::move(world)), options_(options), ranksWithData_(world_->size()) {
    checkOptions(options_);
    detail::TensorSchema schema;
    std::unordered_set<const void*> known;
    for (const auto& item : parameters) {
      schema.add(item.key(), item.value());
      if (!item.value().requires_grad()) {
        continue;
      }
      checkParameter(item.key(), item.value());
      if (!known.insert(item.value().unsafeGetTensorImpl()).second) {
        throw Error(ErrorCode::kInvalidArgument,
                    "GradientSync got the parameter " + item.key() + " twice");
      }
      slots_.push_back({item.key(), item.value(), 0, 0, {}});
    }
    schema.checkSameOnAllRanks(*world_, "GradientSync");
    schemaOf(options_).checkSameOnAllRanks(*world_, "GradientSync", "option");
    if (world_->size() > 1 && !wantsSharedMemory()) {
      messages_ = std::make_unique<detail::MessageGradients>(slots_, world_, options_);
    }
  }

  /// Ends a pass of backward(). @return whether the gradients are to be exchanged.
  bool endPass() {
    if (noSyncDepth_ > 0 || ++passes_ < options_.accumulationSteps) {
      chooseOverlap();
      return false;
    }
    passes_ = 0;
    return true;
  }

  void changeNoSync(int change) {
    noSyncDepth_ += change;
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
      clip(scaleSparse());
    } else {
      scaleAlone();
    }
    showAverages();
  }

  void step(torch::optim::Optimizer& optimizer) {
    if (world_->size() > 1) {
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
    } else if (options_.maxNorm > 0) {
      norm_ = std::sqrt(shared_->sumAndNorm(rest));
      rest = clipFactor(norm_, options_.maxNorm);
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
  double norm() const { return norm_; }

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
           (nodes == 1 ? " node" : " nodes") + (sharedOptimizer_ ? ", parameters shared" : "");
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

  /// The same answer on every rank.
  bool wantsSharedMemory() const {
    const bool fits = std::all_of(slots_.begin(), slots_.end(), [](const GradientSlot& slot) {
      const at::ScalarType type = slot.parameter.scalar_type();
      return slot.parameter.is_cpu() && (type == at::kFloat || type == at::kDouble);
    });
    const bool canTravel = options_.reduction == GradientReduction::kAverage &&
                           (world_->crossSize() == 1 || options_.compression == Compression::kNone);
    std::int32_t wanted =
        options_.useSharedMemory && fits && canTravel && world_->localSize() > 1 ? 1 : 0;
    world_->allreduce(Span<std::int32_t>(&wanted, 1), ReduceOp::kMin);
    return wanted != 0;
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

  void shareMemory() {
    std::string why;
    shared_ = detail::SharedGradients::create(slots_, detail::layOut(slots_, dense_), *world_, why);
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
      std::string why;
      if (detail::SharedOptimizer::canShare(optimizer, slots_, *shared_)) {
        sharedOptimizer_ =
            detail::SharedOptimizer::create(optimizer, slots_, *shared_, *world_, why);
      }
      declined_ = sharedOptimizer_ ? nullptr : &optimizer;
    }
    return sharedOptimizer_ != nullptr;
  }

  double scale() const {
    return 1.0 /
           (static_cast<double>(ranksWithData_) * static_cast<double>(options_.accumulationSteps));
  }

  void distributeShared() {
    const double sparseSquares = scaleSparse();
    if (options_.maxNorm == 0) {
      shared_->distribute(scale());
      return;
    }
    norm_ = std::sqrt(shared_->sumAndNorm(scale()) + sparseSquares);
    const double factor = clipFactor(norm_, options_.maxNorm);
    shared_->distribute(factor);
    scaleSparseBy(factor);
  }

  /// Averages the sparse gradients. @return the sum of their squares, if the norm is wanted.
  double scaleSparse() {
    double squares = 0;
    for (const std::size_t index : sparse_) {
      const GradientSlot& slot = slots_[index];
      detail::exchangeSparseGradient(slot, *world_, scale());
      if (options_.maxNorm > 0 && slot.parameter.grad().defined()) {
        squares += sumOfSquares(slot.parameter.grad());
      }
    }
    return squares;
  }

  void scaleSparseBy(double factor) {
    for (const std::size_t index : sparse_) {
      at::Tensor& gradient = slots_[index].parameter.mutable_grad();
      if (gradient.defined() && factor != 1) {
        gradient.mul_(factor);
      }
    }
  }

  /// Keeps maxNorm, where every rank has all averages.
  void clip(double sparseSquares) {
    if (options_.maxNorm == 0) {
      return;
    }
    double squares = sparseSquares;
    for (const std::size_t slot : dense_) {
      squares += sumOfSquares(slots_[slot].gradient);
    }
    norm_ = std::sqrt(squares);
    const double factor = clipFactor(norm_, options_.maxNorm);
    if (factor == 1) {
      return;
    }
    for (const std::size_t slot : dense_) {
      slots_[slot].gradient.mul_(factor);
    }
    scaleSparseBy(factor);
  }

  /// What is left to do on a single rank.
  void scaleAlone() {
    if (options_.accumulationSteps == 1 && options_.maxNorm == 0) {
      return;
    }
    double squares = 0;
    for (const GradientSlot& slot : slots_) {
      at::Tensor& gradient = slot.parameter.mutable_grad();
      if (gradient.defined()) {
        gradient.mul_(scale());
        squares += options_.maxNorm > 0 ? sumOfSquares(gradient) : 0;
      }
    }
    if (options_.maxNorm == 0) {
      return;
    }
    norm_ = std::sqrt(squares);
    const double factor = clipFactor(norm_, options_.maxNorm);
    for (const GradientSlot& slot : slots_) {
      if (factor != 1 && slot.parameter.grad().defined()) {
        slot.parameter.mutable_grad().mul_(factor);
      }
    }
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

  /// Frees the gradients that backward() made and that have served. Those in the shared memory stay:
  /// who zeroes gradients in place needs no others.
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
      messages_->setOverlapping(isPrepared_ && noSyncDepth_ == 0 &&
                                passes_ + 1 == options_.accumulationSteps);
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
  const torch::optim::Optimizer* declined_ = nullptr;  // Cannot be shared.
  std::string notShared_;

  int noSyncDepth_ = 0;
  std::int64_t passes_ = 0;
  bool hasData_ = true;
  int ranksWithData_;
  bool keepGradients_ = false;
  double norm_ = std::numeric_limits<double>::quiet_NaN();
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
  sync_.impl_->changeNoSync(1);
}

GradientSync::NoSync::~NoSync() {
  sync_.impl_->changeNoSync(-1);
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
