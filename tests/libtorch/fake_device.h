// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include <ATen/core/Tensor.h>

namespace steptape {

/// A device in PrivateUse1, LibTorch's place for third-party devices: a stream that is busy for
/// requested times, and events on it. Registered for the whole process.
struct FakeDevice {
  static constexpr std::int64_t kStreamId = 7;

  /// Returns a tensor on the device, without content.
  static at::Tensor tensor();

  /// The operator "fake::work", which keeps the stream busy.
  static at::Tensor work(const at::Tensor& tensor, std::int64_t micros);
  /// The operator "fake::work_twice", which calls "fake::work" twice.
  static at::Tensor workTwice(const at::Tensor& tensor, std::int64_t micros);

  /// Sets whether the stream's time stops between works instead of passing while it is idle: each
  /// work then takes exactly its time, however much the host is delayed.
  static void neverIdles(bool whether);

  static std::int64_t eventsCreated();
  /// Returns the threads that have waited for an event since the last call, one entry per wait.
  static std::vector<std::thread::id> takeWaits();
  /// Sets whether events throw, like those of a device without events.
  static void refuseEvents(bool refuses);
};

}  // namespace steptape
