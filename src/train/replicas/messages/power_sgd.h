// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "steptape/ranks/communicator.h"
#include "steptape/train/gradient_sync.h"

#include "train/replicas/gradients/wire_buffer.h"
#include "train/replicas/messages/bucket_chain.h"

namespace steptape::detail::train {

/// Makes the columns of a row-major matrix orthogonal and of length 1. A column that depends
/// linearly on the previous ones, or is zero, is replaced by one orthogonal to them: otherwise it
/// would never change. Computes in double, element by element: ranks with equal numbers get equal
/// bits.
///
/// @return false if the matrix holds an infinity or NaN; the rest of it is then unchanged.
template <typename T>
bool orthogonalize(T* matrix, std::int64_t rows, std::int64_t columns);

/// Approximates the sum of all ranks' matrices of a bucket, and sends only a product of two thin
/// matrices. The error is added to this rank's next gradient. Vectors, matrices that would not
/// shrink, and the first steps are sent uncompressed. Uses two allreduces.
///
/// Numbers of 16 bits are sent as float32, because the thin matrices hold their squares.
///
/// A step whose gradients are not finite has no effect on later ones: errors and thin matrices are
/// reset.
///
/// @source Vogels et al., arXiv:1905.13727, algorithms 1 and 2.
class PowerSgd final : public BucketChain {
 public:
  /// `bucket` and `world` must outlive it.
  PowerSgd(const GradientBucket& bucket, const std::vector<GradientSlot>& slots,
           Communicator& world, const GradientSyncOptions& options);

  /// Returns whether compression shrinks a gradient of this shape.
  static bool compresses(const at::Tensor& gradient, std::int64_t rank);

 private:
  /// A matrix M of shape (n, m), approximated by P Q^T.
  struct Matrix {
    at::Tensor gradient;     // M's part of the bucket
    at::Tensor error;        // this rank's accumulated error
    at::Tensor p;            // (n, rank), in first_
    at::Tensor hostP;        // P in main memory
    at::Tensor q;            // (m, rank), in second_; kept between steps
    std::uint64_t seed = 0;  // of the first q
    bool isFinite = true;
  };
  /// A gradient that is sent uncompressed.
  struct Whole {
    at::Tensor gradient;
    at::Tensor copy;  // in first_
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
  std::int64_t stepsBefore_;  // remaining steps without compression
  BucketSum uncompressed_;
  std::vector<Matrix> matrices_;
  std::vector<Whole> whole_;
  WireBuffer first_;            // all P, and uncompressed gradients
  WireBuffer second_;           // all Q
  std::int64_t firstUsed_ = 0;  // in elements
  std::int64_t secondUsed_ = 0;
  int stage_ = 0;
};

}  // namespace steptape::detail::train
