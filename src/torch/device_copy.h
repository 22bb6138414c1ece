// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "steptape/summary/tensor_view.h"

#include <ATen/core/TensorBody.h>

namespace steptape {

/// Brings tensors from a device to main memory without waiting for the device: the one place where
/// tests put a device that no machine has.
///
/// @threads Thread-safe.
class DeviceCopier {
 public:
  /// A tensor in main memory, and when its elements are there.
  struct Copy {
    at::Tensor host;
    std::shared_ptr<TensorArrival> arrival;
  };

  DeviceCopier() = default;
  DeviceCopier(const DeviceCopier&) = delete;
  DeviceCopier& operator=(const DeviceCopier&) = delete;
  virtual ~DeviceCopier();

  /// Whether reading the tensor would wait for a device's queue, and copy() can do better.
  virtual bool canCopy(const at::Tensor& tensor) const;

  /// Queues a copy after the work that the calling thread has queued on the tensor's device, and
  /// an event after the copy. What the thread queues later, such as the next step's update in
  /// place, changes nothing of it.
  ///
  /// The tensor's memory is kept until the copy has been made.
  /// REQUIRES: canCopy(tensor)
  virtual Copy copy(const at::Tensor& tensor) const;

  /// The one in use: the real one unless a test has set another.
  static const DeviceCopier& current();
  /// Null sets the real one again. REQUIRES: no tensor is being logged.
  static void setForTesting(const DeviceCopier* copier);
};

}  // namespace steptape
