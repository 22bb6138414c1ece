// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "steptape/ranks/collective.h"
#include "steptape/train/gradient_sync.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail::train {

/// Returns the type in which tensors are sent and averaged; none if they have no mean.
std::optional<DType> averagedType(at::ScalarType type);

/// For messages about other types.
inline constexpr const char* kAveragedTypes = "Float, Double, Half or BFloat16";

/// Returns the tensor whose elements travel for those of `memory`: a new one of another element
/// type, or `memory` itself.
at::Tensor wireFor(const at::Tensor& memory, Compression compression);

/// Numbers that are sent between ranks. Those of a device are copied to main memory, which every
/// MPI can access.
///
/// @threads Not thread-safe: one thread at a time. Its copies use the device's current stream.
class WireBuffer {
 public:
  /// Sends the elements of `tensor`, which is flat and contiguous.
  explicit WireBuffer(at::Tensor tensor);

  /// Returns the tensor on its device.
  const at::Tensor& tensor() const { return tensor_; }
  /// Returns the tensor in main memory; the same tensor if it is there.
  const at::Tensor& host() const { return host_; }
  /// Returns the elements of host().
  /// @throws Error(kInvalidArgument) unless they are floating-point numbers.
  Elements elements() const;

  /// Waits for the device's queued work, and copies to host().
  void copyToHost();
  void copyFromHost();

 private:
  void copy(const at::Tensor& from, const at::Tensor& to);

  at::Tensor tensor_;
  at::Tensor host_;
};

/// Sends a bucket's memory in another element type, or in its own without a copy.
///
/// @threads Not thread-safe: one thread at a time.
class CompressedBucket {
 public:
  CompressedBucket(at::Tensor memory, Compression compression);

  /// Returns the buffer to send.
  const WireBuffer& wire() const { return wire_; }
  /// Converts the bucket's memory to wire().host().
  void compress();
  /// Converts wire().host() to the bucket's memory.
  void decompress();

 private:
  at::Tensor memory_;
  WireBuffer wire_;
};

}  // namespace steptape::detail::train
