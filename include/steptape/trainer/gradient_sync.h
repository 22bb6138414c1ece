// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/distributed/communicator.h"

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

namespace steptape {

/// How gradients travel between ranks.
enum class Compression {
  kNone,  ///< In their own type: the average is what one process would have computed.
};

/// Options of GradientSync; the same on every rank.
struct GradientSyncOptions {
  /// How much to average in one allreduce. Larger needs fewer of them; the gradients lie in buckets
  /// of this size anyway, so that it costs no memory.
  std::int64_t bucketBytes = std::int64_t{25} << 20;

  Compression compression = Compression::kNone;
};

/// Averages the gradients of all ranks, so that every rank's optimizer makes the same step.
///
///     steptape::GradientSync sync(model->named_parameters(), world);
///     loss.backward();
///     sync.synchronize();
///     optimizer.step();
///
/// With equal batches on all ranks the step is that of one process with a batch `size` times as
/// large. The gradients lie one behind the other in a few buckets, each averaged by one allreduce:
///
///     parameter   conv1.weight | conv1.bias | fc1.weight | ...
///     .grad       view         | view       | view       | ...
///     bucket      [================================ 25 MiB ][====== ...
///
/// After synchronize() every `.grad` is such a view. An optimizer that zeroes gradients in place
/// keeps it, and nothing is ever copied; where gradients are reset to undefined, each step copies
/// the new one into the bucket, never back.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class STEPTAPE_EXPORT GradientSync {
 public:
  /// Lays out the buckets and compares the parameters' names, shapes and types over the ranks.
  /// Parameters that need no gradient are left alone.
  ///
  /// Collective: every rank calls it, in the same order.
  ///
  /// @param parameters Of any device's type float32 or float64, in main memory.
  /// @throws Error(kRankMismatch) on every rank, naming the first rank and parameter that differ
  ///         from the root's; Error(kInvalidArgument) naming a parameter of another type or device,
  ///         or a bucket size that is not positive.
  GradientSync(const torch::OrderedDict<std::string, at::Tensor>& parameters,
               std::shared_ptr<Communicator> world, const GradientSyncOptions& options = {});
  ~GradientSync();
  GradientSync(const GradientSync&) = delete;
  GradientSync& operator=(const GradientSync&) = delete;

  /// Replaces every gradient by its average over the ranks. One that is undefined, because the
  /// parameter had no part in the loss, counts as zeros. On a single rank this does nothing.
  ///
  /// Collective: every rank calls it after backward().
  ///
  /// @throws Error(kInvalidArgument) naming a parameter whose gradient is sparse.
  /// @cost   One allreduce per bucket, and at most one copy of the gradients.
  void synchronize();

 private:
  struct Bucket;

  Bucket& bucketFor(const at::Tensor& parameter, std::int64_t bytes);

  std::shared_ptr<Communicator> world_;
  std::vector<Bucket> buckets_;
};

}  // namespace steptape
