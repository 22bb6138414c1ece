// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

namespace torch::optim {
class Optimizer;
}

namespace steptape {

/// How gradients travel between ranks that share no memory.
enum class Compression {
  kNone,      ///< In their own type: the average is what one process would have computed.
  kFp16,      ///< As float16, added up in float32: half the bytes, 11 bits of each number.
  kBf16,      ///< As bfloat16, added up in float32: half the bytes, 8 bits, float32's range.
  kPowerSgd,  ///< Matrices as a product of two thin ones, with error feedback.
};

/// What becomes of the ranks' gradients.
enum class GradientReduction {
  kAverage,  ///< Their mean: the gradient of one batch that is `size` times as large.
  /// Their sum where they are orthogonal, their mean where they are parallel, and in between
  /// otherwise, parameter by parameter: needs no scaled learning rate.
  kAdasum,
};

/// What is done with gradients of embeddings, which are sparse tensors.
enum class SparseGradients {
  kGather,   ///< Indices and values of all ranks are gathered; `.grad` stays sparse.
  kDensify,  ///< Made dense first: better where most rows have a gradient.
};

/// Options of Compression::kPowerSgd.
struct PowerSgdOptions {
  /// Columns of the thin matrices. An (n, m) matrix travels as rank * (n + m) numbers, where that
  /// is less than half of n * m; otherwise as it is.
  std::int64_t rank = 2;
  /// Steps without compression at the start, while gradients change fastest.
  std::int64_t startAfterSteps = 10;
  /// Of the first thin matrix; equal on all ranks.
  std::uint64_t seed = 1;
};

/// Options of GradientSync; the same on every rank.
struct GradientSyncOptions {
  /// How much to average in one allreduce. Larger needs fewer of them; the gradients lie in buckets
  /// of this size anyway, so that it costs no memory.
  std::int64_t bucketBytes = std::int64_t{25} << 20;
  /// Of the bucket that is ready first: small, so that the first allreduce starts early.
  std::int64_t firstBucketBytes = std::int64_t{1} << 20;

  Compression compression = Compression::kNone;
  PowerSgdOptions powerSgd;
  GradientReduction reduction = GradientReduction::kAverage;
  SparseGradients sparse = SparseGradients::kGather;

  /// Gradients are divided by this before they are added up, and by size / predivideFactor after:
  /// sqrt(size) or so keeps sums of float16 in range.
  double predivideFactor = 1;

  /// Passes of backward() that add up before the ranks exchange: the gradients are divided by it.
  /// step() and synchronize() return at once in all passes but the last.
  std::int64_t accumulationSteps = 1;

  /// Scales the averaged gradients so that their Euclidean norm over all parameters is at most
  /// this, before the optimizer sees them. 0: no limit.
  double maxNorm = 0;

  /// Ranks of one node exchange through memory that they share, instead of through messages.
  bool useSharedMemory = true;

  /// Buckets are exchanged while backward() still runs, where the path is messages.
  bool overlap = true;

  /// After synchronize() every `.grad` is a view of its bucket, and nothing is copied back. false:
  /// the averages are copied into the gradients that backward() made, and step() shares no
  /// parameters.
  bool gradientAsBucketView = true;
};

/// What GradientSync did so far, for logs. Times of this rank.
struct GradientSyncStats {
  std::int64_t exchanges = 0;         ///< Of all buckets together.
  double waitSeconds = 0;             ///< Waiting for other ranks to come.
  double exchangeSeconds = 0;         ///< Moving and adding up, and for step() updating.
  std::int64_t bytesPerExchange = 0;  ///< Of gradients, before compression.
};

/// Averages the gradients of all ranks, so that every rank's optimizer makes the same step.
///
///     steptape::GradientSync sync(model->named_parameters(), world);
///     loss.backward();
///     sync.step(optimizer);            // or: sync.synchronize(); optimizer.step();
///
/// With equal batches on all ranks the step is that of one process with a batch `size` times as
/// large. The result is the same to the bit on every rank.
///
/// Two paths, chosen at the first exchange and named by describe():
///
/// Shared memory, for float32 and float64 in main memory where every node has several ranks:
/// gradients lie in memory that the ranks of a node share, and each rank adds up its part of them.
/// step() goes further for SGD, Adam and AdamW: parameters and the optimizer's state move into
/// shared memory too, each rank updates its part of them, and all see the result. Where there are
/// several nodes, one rank a node exchanges what its node has added up.
///
/// Messages, otherwise: an allreduce per bucket, started by hooks while backward() still runs. The
/// buckets hold the parameters in the order in which their gradients were ready in the first step.
/// With Communicator::worksOnAnyThread() a thread of its own moves them; without, they move only
/// when a hook or synchronize() runs, and describe() says so.
///
/// A parameter that had no part in the loss on any rank keeps an undefined gradient, as in one
/// process; one that had a part on some ranks counts as zeros on the others.
///
/// @threads Not thread-safe: one thread at a time, the communicator's. Not while backward() runs.
/// @source Buckets: Li et al., "PyTorch Distributed", VLDB 2020, section 3.2. PowerSGD: Vogels et
///         al., arXiv:1905.13727, algorithms 1 and 2. Adasum: Maleki et al., arXiv:2006.02924.
class STEPTAPE_EXPORT GradientSync {
 public:
  /// Lays out the buckets and compares the parameters' names, shapes and types, and the options,
  /// over the ranks. Parameters that need no gradient are left alone.
  ///
  /// Collective: every rank calls it, in the same order.
  ///
  /// @param parameters float32, float64, float16 or bfloat16, in main memory or on a device.
  /// @throws Error(kRankMismatch) on every rank, naming the first rank and parameter or option that
  ///         differ from the root's; Error(kInvalidArgument) naming a parameter of another type or
  ///         given twice, or an option out of range.
  GradientSync(const torch::OrderedDict<std::string, at::Tensor>& parameters,
               std::shared_ptr<Communicator> world, const GradientSyncOptions& options = {});
  /// Takes parameters and state out of shared memory, if step() had moved them there. Not a
  /// collective.
  ~GradientSync();
  GradientSync(const GradientSync&) = delete;
  GradientSync& operator=(const GradientSync&) = delete;

  /// Replaces every gradient by its average over the ranks. On a single rank it only applies
  /// accumulationSteps and maxNorm.
  ///
  /// Collective: every rank calls it after backward().
  ///
  /// @return whether the gradients were exchanged: false in all passes but the last of
  ///         accumulationSteps.
  /// @throws Error(kFailedPrecondition) after step() has moved the parameters to shared memory.
  bool synchronize();

  /// synchronize() and optimizer.step(), as one.
  ///
  /// The first call compares the optimizers' kind, groups and options over the ranks.
  ///
  /// On the shared-memory path each rank updates its part of the parameters only. The first call is
  /// then a collective that moves parameters and state to shared memory: `optimizer.step()` must
  /// not be called any more while this object lives. The optimizer stays what it was otherwise: its
  /// options are read at each step, it can be saved, and its state is whole on every rank.
  ///
  /// @return as synchronize(); false: the optimizer made no step.
  /// @throws Error(kRankMismatch) on every rank, naming the first rank and option that differ.
  bool step(torch::optim::Optimizer& optimizer);

  /// Whether step() leaves the averaged gradients in `.grad`, for who wants to look at them. Off at
  /// first: where step() updates shared parameters, the averages never exist as a whole, and what
  /// `.grad` is after it means nothing. The same on every rank.
  void setKeepGradients(bool keep);

  /// While one of these lives, backward() only adds up, and step() and synchronize() return false.
  class STEPTAPE_EXPORT NoSync {
   public:
    explicit NoSync(GradientSync& sync);
    ~NoSync();
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    GradientSync& sync_;
  };
  NoSync noSync() { return NoSync(*this); }

  /// Says whether this rank still has data, for ranks whose numbers of batches differ; every rank
  /// calls it before each step. Once a rank has said false, it goes on calling join(false) and
  /// step(), without backward(), until join() returns false: its gradients count as zeros, and the
  /// average is over the ranks that have data.
  ///
  ///     while (sync.join(loader.next(batch))) {
  ///       if (batch is there) { ... backward(); }
  ///       sync.step(optimizer);
  ///     }
  ///
  /// @return whether any rank has data.
  bool join(bool hasData);

  /// Euclidean norm of the averaged gradients of the last exchange, before maxNorm was applied; NaN
  /// if maxNorm is 0.
  double gradientNorm() const;

  const GradientSyncStats& stats() const;

  /// The way that was chosen and why, in a line for logs: "shared memory, 2 ranks on 1 node".
  std::string describe() const;

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape
