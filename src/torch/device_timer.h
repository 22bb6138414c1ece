// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "span/span_collector.h"

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>
#include <c10/util/ArrayRef.h>

namespace steptape {

/// Times what operators do on a device, by one event on their stream before them and one after:
///
///     host     begin ──── end                              take()
///     stream     ...busy... ┃start ▓▓▓▓▓▓▓▓▓▓▓▓ stop┃        reads what both events say
///
/// What lies between is the time that the stream spent from the one to the other: the operator's
/// kernels, and where the stream is idle also its wait for the host to launch them. begin() and
/// end() wait for nothing, but for the first operator on a device; events are used again.
///
/// @threads Thread-safe, but for take(): one thread at a time.
/// @source  c10::Event and c10::impl::DeviceGuardImplInterface of LibTorch 2.4 or later, which
///          CUDA, ROCm, XPU and backends of others implement; where LibTorch is older, no device is
///          timed.
class DeviceTimer {
 public:
  /// LibTorch's callbacks are plain functions.
  static DeviceTimer& instance();

  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  /// Whether there is a device beside the CPU that could be timed.
  static bool hasDevices();

  /// Begins to time a call on the device of its inputs; does nothing if they have none, or while
  /// the thread times a call around it.
  ///
  /// @param owner  Of the call, for end().
  /// @param nameId A name of SpanKind::kDevice.
  /// @cost  Two events in all, some 2 us on a GPU.
  void begin(const void* owner, std::uint16_t nameId, std::uint64_t payload,
             c10::ArrayRef<const c10::IValue> inputs) noexcept;
  /// Does nothing without begin().
  void end(const void* owner) noexcept;

  /// Hands over what has ended of the calls that began from `since` to `until`, and forgets those
  /// before; a batch for each stream.
  ///
  /// @param waits Whether to wait for those that have not ended.
  void take(std::uint64_t since, std::uint64_t until, bool waits,
            const std::function<void(const SpanBatch&)>& sink);

  /// Forgets all calls.
  void clear() noexcept;

  /// Which device cannot be timed, and why; empty if all can.
  std::string problem() const;

 private:
  struct Call;
  struct Anchor;
  struct OpenCall;
  class StreamSpans;

  DeviceTimer() = default;
  ~DeviceTimer() = default;

  static OpenCall& openOnThisThread();

  Call beginOn(c10::Device device);
  std::shared_ptr<const Anchor> anchorOf(c10::Device device);
  void renewAnchors();
  void note(c10::DeviceType type, const std::exception& error) noexcept;
  bool isRefused(c10::DeviceType type) const;

  mutable Mutex mutex_;
  std::deque<Call> calls_ STEPTAPE_GUARDED_BY(mutex_);  ///< That end() has seen.
  std::uint64_t dropped_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  std::vector<Call> unused_ STEPTAPE_GUARDED_BY(mutex_);  ///< For their events.
  std::vector<std::pair<c10::Device, std::shared_ptr<const Anchor>>> anchors_
      STEPTAPE_GUARDED_BY(mutex_);
  std::map<c10::DeviceType, std::string> problems_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape
