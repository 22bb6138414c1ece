// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include <ATen/core/Tensor.h>

namespace steptape {

/// A device in LibTorch's place for other people's, PrivateUse1: a stream that is busy for as long
/// as it was told, and events on it. Registered for the whole process.
struct FakeDevice {
  static constexpr std::int64_t kStreamId = 7;

  /// A tensor that lies there, without content.
  static at::Tensor tensor();

  /// The operator "fake::work" which keeps the stream busy.
  static at::Tensor work(const at::Tensor& tensor, std::int64_t micros);
  /// The operator "fake::work_twice", which calls the above two times.
  static at::Tensor workTwice(const at::Tensor& tensor, std::int64_t micros);

  /// Whether the stream's time stands still between one work and the next, instead of passing while
  /// it is idle: then each work takes exactly its time, however long the host is held up.
  static void neverIdles(bool whether);

  static std::int64_t eventsCreated();
  /// The threads that waited for an event since the last call, one entry each time.
  static std::vector<std::thread::id> takeWaits();
  /// Whether events throw, as those of a device without any do.
  static void refuseEvents(bool refuses);
};

}  // namespace steptape
