// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "steptape/values/tensor_view.h"

#include <ATen/core/TensorBody.h>

namespace steptape::detail::libtorch {

/// Copies tensors from a device to main memory without waiting for the device. Tests replace it to
/// simulate a device.
///
/// @threads Thread-safe.
class DeviceCopier {
 public:
  /// A tensor in main memory, and the arrival of its elements.
  struct Copy {
    at::Tensor host;
    std::shared_ptr<TensorArrival> arrival;
  };

  DeviceCopier() = default;
  DeviceCopier(const DeviceCopier&) = delete;
  DeviceCopier& operator=(const DeviceCopier&) = delete;
  virtual ~DeviceCopier();

  /// Returns whether reading the tensor would wait for a device's queue, and copy() would not.
  virtual bool canCopy(const at::Tensor& tensor) const;

  /// Queues a copy after the work that the calling thread has queued on the tensor's device, and an
  /// event after the copy. Work that the thread queues later, such as an in-place update by the
  /// next step, does not affect the copy.
  ///
  /// The tensor's memory is kept until the copy has been made. REQUIRES: canCopy(tensor)
  virtual Copy copy(const at::Tensor& tensor) const;

  /// Returns the current copier: the real one, unless a test has set another one.
  static const DeviceCopier& current();
  /// Null restores the real one. REQUIRES: no tensor is being logged.
  static void setForTesting(const DeviceCopier* copier);
};

}  // namespace steptape::detail::libtorch
