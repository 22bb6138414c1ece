// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "steptape/comm/communicator.h"
#include "steptape/parallel/gradient_sync.h"

#include "parallel/gradients/wire_buffer.h"
#include "parallel/messages/bucket_chain.h"

namespace steptape::detail {

/// Makes the columns of a row-major matrix orthogonal, and each of length 1. A column that the ones
/// before it make up, or zeros, is replaced by one that is orthogonal to them: else it would stay
/// so for ever. In double, element by element: ranks with equal numbers get equal bits.
///
/// @return false if the matrix holds an infinity or NaN; it is then left as it is from there on.
template <typename T>
bool orthogonalize(T* matrix, std::int64_t rows, std::int64_t columns);

/// Makes each matrix of a bucket nearly the sum of all ranks', of which only a product of two thin
/// matrices travels; what that leaves out is added to this rank's next gradient. Vectors, matrices
/// that would not shrink, and the first steps travel as they are. Two allreduces.
///
/// Numbers of 16 bits travel as float32, since the thin matrices hold their squares.
///
/// A step whose gradients are not finite has no effect: errors and thin matrices start
/// anew.
///
/// @source Vogels et al., arXiv:1905.13727, algorithms 1 and 2.
class PowerSgd final : public BucketChain {
 public:
  /// `bucket` and `world` must live as long.
  PowerSgd(const GradientBucket& bucket, const std::vector<GradientSlot>& slots,
           Communicator& world, const GradientSyncOptions& options);

  /// Whether a gradient of this shape shrinks.
  static bool compresses(const at::Tensor& gradient, std::int64_t rank);

 private:
  /// M, of (n, m), nearly P Q^T.
  struct Matrix {
    at::Tensor gradient;     // M's place in the bucket.
    at::Tensor error;        // Of this rank, left out so far.
    at::Tensor p;            // (n, rank), in first_.
    at::Tensor hostP;        // The same in main memory.
    at::Tensor q;            // (m, rank), in second_; kept from step to step.
    std::uint64_t seed = 0;  // Of the first q.
    bool isFinite = true;
  };
  /// A gradient that travels as it is.
  struct Whole {
    at::Tensor gradient;
    at::Tensor copy;  // In first_.
  };

  std::optional<ChainLink> advanceBucket() override;
  void addMatrix(const at::Tensor& gradient, std::uint64_t seed, std::int64_t rank);
  void addWhole(const at::Tensor& gradient);
  ChainLink sendFirst();
  ChainLink sendSecond();
  void finish();
  ChainLink send(WireBuffer& buffer, bool isLast);

  Communicator& world_;
  CollectiveOptions collective_;
  double predivideFactor_;
  std::int64_t stepsBefore_;  // That are still to go without compression.
  BucketSum uncompressed_;
  std::vector<Matrix> matrices_;
  std::vector<Whole> whole_;
  WireBuffer first_;            // Each P, and what travels as it is.
  WireBuffer second_;           // Each Q.
  std::int64_t firstUsed_ = 0;  // Elements.
  std::int64_t secondUsed_ = 0;
  int stage_ = 0;
};

}  // namespace steptape::detail
