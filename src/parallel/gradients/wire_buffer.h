// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "steptape/comm/collective.h"
#include "steptape/parallel/gradient_sync.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail {

/// The type in which tensors travel and are averaged; none if they have no mean.
std::optional<DType> averagedType(at::ScalarType type);

/// For messages about other types.
inline constexpr const char* kAveragedTypes = "Float, Double, Half or BFloat16";

/// Numbers that travel between ranks. Those of a device go through main memory, where any MPI can
/// reach them.
///
/// Not thread-safe: one thread at a time. Its copies go into the device's current queue.
class WireBuffer {
 public:
  /// Sends the elements of `tensor`, which is flat and contiguous.
  explicit WireBuffer(at::Tensor tensor);

  /// On its device.
  const at::Tensor& tensor() const { return tensor_; }
  /// In main memory; the same tensor if that is where it lies.
  const at::Tensor& host() const { return host_; }
  /// Those of host(). @throws Error(kInvalidArgument) unless they are floating-point numbers.
  Elements elements() const;

  /// Waits for what is queued on the device, and for the copy.
  void copyToHost();
  void copyFromHost();

 private:
  void copy(const at::Tensor& from, const at::Tensor& to);

  at::Tensor tensor_;
  at::Tensor host_;
};

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
