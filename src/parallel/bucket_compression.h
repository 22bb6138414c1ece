// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/parallel/gradient_sync.h"

#include "parallel/wire_buffer.h"

namespace steptape::detail {

/// The element type in which gradients of `type` travel. What has 16 bits already stays as it is.
at::ScalarType wireTypeOf(Compression compression, at::ScalarType type);

/// A bucket's memory on its way in another element type, or in its own without a copy.
///
/// Not thread-safe: one thread at a time.
class CompressedBucket {
 public:
  CompressedBucket(at::Tensor memory, Compression compression);

  /// What travels.
  const WireBuffer& wire() const { return wire_; }
  /// From the bucket's memory to wire().host().
  void compress();
  /// Back again.
  void decompress();

 private:
  at::Tensor memory_;
  WireBuffer wire_;
};

}  // namespace steptape::detail
