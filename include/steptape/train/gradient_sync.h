// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

namespace torch::optim {
class Optimizer;
}

namespace steptape {

/// How gradients travel between ranks that share no memory.
enum class Compression {
  kNone,  ///< In their own type; the average is exact up to rounding.
  kFp16,  ///< As float16, summed in float32: half the bytes, 11 bits of precision.
  kBf16,  ///< As bfloat16, summed in float32: half the bytes, 8 bits of precision, float32's range.
  kPowerSgd,  ///< Matrices as a product of two thin matrices, with error feedback.
};

/// How gradients are combined.
enum class GradientReduction {
  kAverage,  ///< Their mean: the gradient of one batch that is `size` times as large.
  /// Adasum, per parameter: between the sum of the gradients (if they are orthogonal) and their
  /// mean (if they are parallel). Needs no scaled learning rate.
  kAdasum,
};

/// How gradients of embeddings, which are sparse tensors, are exchanged.
enum class SparseGradients {
  kGather,   ///< Gathers indices and values of all ranks; `.grad` stays sparse.
  kDensify,  ///< Makes them dense first: better if most rows have a gradient.
};

/// Options of Compression::kPowerSgd.
struct PowerSgdOptions {
  /// Columns of the thin matrices. An (n, m) matrix travels as rank * (n + m) numbers if that is
  /// less than half of n * m; otherwise uncompressed.
  std::int64_t rank = 2;
  /// Number of steps without compression at the start, while gradients change fastest.
  std::int64_t startAfterSteps = 10;
  /// Seed of the first thin matrix; equal on all ranks.
  std::uint64_t seed = 1;
};

/// Options of GradientSync. Must be equal on all ranks.
struct GradientSyncOptions {
  /// Size of a bucket in bytes: the amount that one allreduce averages. Larger buckets need fewer
  /// allreduces and no additional memory.
  std::int64_t bucketBytes = std::int64_t{25} << 20;
  /// Size of the bucket that is ready first: small, so that the first allreduce starts early.
  std::int64_t firstBucketBytes = std::int64_t{1} << 20;

  Compression compression = Compression::kNone;
  PowerSgdOptions powerSgd;
  GradientReduction reduction = GradientReduction::kAverage;
  SparseGradients sparse = SparseGradients::kGather;

  /// Gradients are divided by this factor before the sum, and by size / predivideFactor after it. A
  /// value near sqrt(size) keeps float16 sums in range.
  double predivideFactor = 1;

  /// Number of backward() passes whose gradients are summed before the exchange and divided by this
  /// number. step() and synchronize() return immediately in all passes but the last.
  std::int64_t accumulationSteps = 1;

  /// Maximum Euclidean norm of the averaged gradients over all parameters; larger gradients are
  /// scaled down before the optimizer uses them. 0: no limit.
  double maxNorm = 0;

  /// Whether ranks of one node exchange through shared memory instead of messages.
  bool useSharedMemory = true;

  /// Library that sums gradients on GPUs: NCCL, or RCCL ("librccl.so.1"). It is loaded if the
  /// parameters of every rank are on a GPU of its own; otherwise, and if this is empty, gradients
  /// travel by a GPU-aware MPI or through main memory. Adasum and PowerSGD do not use it.
  std::string ncclLibrary = "libnccl.so.2";

  /// Whether buckets are exchanged while backward() still runs. Applies to messages only.
  bool overlap = true;

  /// After synchronize(), makes every `.grad` a view of its bucket, so nothing is copied back.
  /// false: copies the averages into the gradients that backward() made; step() then does not share
  /// parameters.
  bool gradientAsBucketView = true;
};

/// What GradientSync has done so far, for logs. Times are this rank's.
struct GradientSyncStats {
  std::int64_t exchanges = 0;         ///< Exchanges of all buckets together.
  double waitSeconds = 0;             ///< Waiting for other ranks.
  double exchangeSeconds = 0;         ///< Transfer and summation; for step(), also the update.
  std::int64_t bytesPerExchange = 0;  ///< Gradient bytes, before compression.
};

/// Averages the gradients of all ranks, so that every rank's optimizer makes the same step.
///
///     steptape::GradientSync sync(model->named_parameters(), world);
///     loss.backward();
///     sync.step(optimizer);            // or: sync.synchronize(); optimizer.step();
///
/// With equal batch sizes on all ranks, the step equals that of one process with a batch `size`
/// times as large. The result is bit-identical on every rank.
///
/// There are several paths. The first exchange chooses one; describe() names it.
///
/// Shared memory: for float32 and float64 in main memory, if every node has several ranks.
/// Gradients lie in memory that the ranks of a node share, and each rank sums its part of them. For
/// SGD, Adam and AdamW, step() also moves parameters and optimizer state into shared memory: each
/// rank updates its part, and all ranks see the result. Between nodes, one rank per node exchanges
/// the sums of its node.
///
/// NCCL: for parameters on GPUs. One sum per bucket, started by hooks while backward() still runs,
/// on a stream of its own. No call but the first waits for the GPU. The order of additions is
/// NCCL's, and elements of 16 bits are rounded after each addition. If a rank is lost, the sums end
/// after Communicator::timeout() at the latest, and the next call throws.
///
/// Messages: otherwise. One allreduce per bucket, started by hooks while backward() still runs. If
/// MPI is GPU-aware (MpiOptions::assumeGpuAware), each GPU sums one part of a bucket, in the order
/// of the ranks. Otherwise gradients of GPUs travel through main memory. Buckets hold the
/// parameters in the order in which their gradients were ready in the first step. With
/// Communicator::worksOnAnyThread(), a separate thread moves the data; otherwise data moves only
/// when a hook or synchronize() runs, and describe() says so.
///
/// A parameter that no rank used in its loss keeps an undefined gradient, as in one process. If
/// some ranks used it, the other ranks contribute zeros.
///
/// @threads Not thread-safe: only the communicator's thread, one at a time, and not while
///         backward() runs.
/// @source Buckets: Li et al., "PyTorch Distributed", VLDB 2020, section 3.2. PowerSGD: Vogels et
///         al., arXiv:1905.13727, algorithms 1 and 2. Adasum: Maleki et al., arXiv:2006.02924.
class STEPTAPE_EXPORT GradientSync {
 public:
  /// Lays out the buckets, and compares options and the parameters' names, shapes and types over
  /// the ranks. Ignores parameters that do not require a gradient.
  ///
  /// Collective: every rank calls it, in the same order.
  ///
  /// @param parameters float32, float64, float16 or bfloat16, in main memory or on a device.
  /// @param world      The ranks to average over.
  /// @param options    See GradientSyncOptions.
  /// @throws Error(kRankMismatch) on every rank, naming the first rank that differs from the root
  ///         and the parameter or option; Error(kInvalidArgument) naming a parameter of another
  ///         type or given twice, or an option out of range.
  GradientSync(const torch::OrderedDict<std::string, at::Tensor>& parameters,
               std::shared_ptr<Communicator> world, const GradientSyncOptions& options = {});
  /// Moves parameters and state out of shared memory, if step() had moved them there. Not
  /// collective.
  ~GradientSync();
  GradientSync(const GradientSync&) = delete;
  GradientSync& operator=(const GradientSync&) = delete;

  /// Replaces every gradient with its average over the ranks. On a single rank it only applies
  /// accumulationSteps and maxNorm.
  ///
  /// Collective: every rank calls it after backward().
  ///
  /// @return whether the gradients were exchanged: false in all passes of accumulationSteps but the
  ///         last.
  /// @throws Error(kFailedPrecondition) after step() has moved the parameters to shared memory.
  bool synchronize();

  /// Averages the gradients and makes the optimizer's step: synchronize() and optimizer.step() in
  /// one call.
  ///
  /// The first call compares the kind, groups and options of the optimizers over the ranks.
  ///
  /// On the shared-memory path each rank updates only its part of the parameters. The first call is
  /// then a collective that moves parameters and state to shared memory; do not call
  /// `optimizer.step()` while this object lives. Otherwise the optimizer works as usual: its
  /// options are read at each step, it can be saved, and its state is complete on every rank.
  ///
  /// @return as synchronize(); false: the optimizer made no step.
  /// @throws Error(kRankMismatch) on every rank, naming the first rank and option that differ.
  bool step(torch::optim::Optimizer& optimizer);

  /// Sets whether step() leaves the averaged gradients in `.grad`. Default: false. On the
  /// shared-memory path no rank has all averages, so `.grad` is meaningless after step() unless
  /// this is set. Must be equal on all ranks.
  void setKeepGradients(bool keep);

  /// Accumulates gradients during its lifetime: backward() only adds, and step() and synchronize()
  /// return false.
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

  /// Reports whether this rank still has data, for ranks with different numbers of batches. Every
  /// rank calls it before each step. A rank without data keeps calling join(false) and step(),
  /// without backward(), until join() returns false: its gradients count as zeros, and the average
  /// is over the ranks that have data.
  ///
  ///     while (sync.join(loader.next(batch))) {
  ///       if (batch is there) { ... backward(); }
  ///       sync.step(optimizer);
  ///     }
  ///
  /// @return whether any rank has data.
  bool join(bool hasData);

  /// Returns the Euclidean norm of the averaged gradients of the last exchange, before maxNorm was
  /// applied; NaN if maxNorm is 0. Waits for a GPU that has not computed it yet.
  double gradientNorm() const;

  const GradientSyncStats& stats() const;

  /// Returns the chosen path and the reason as one line for logs: "shared memory, 2 ranks on 1
  /// node".
  std::string describe() const;

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape
