// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/distributed/collective.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail {

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

}  // namespace steptape::detail
