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
#include "process/spans/span_collector.h"

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>
#include <c10/util/ArrayRef.h>

namespace steptape::detail::libtorch {

/// Times operators on a device, by one event on their stream before them and one after:
///
///     host     begin ──── end                              take()
///     stream     ...busy... ┃start ▓▓▓▓▓▓▓▓▓▓▓▓ stop┃        reads the times of both events
///
/// The difference is the time that the stream took from one event to the other: the operator's
/// kernels, and if the stream is idle, also the wait until the host launches them. begin() and
/// end() do not wait, except for the first operator on a device. Events are reused.
///
/// @threads Thread-safe, except take(): one thread at a time.
/// @source  c10::Event and c10::impl::DeviceGuardImplInterface of LibTorch 2.4 or later, which
///          CUDA, ROCm, XPU and third-party backends implement. Older versions of LibTorch time no
///          device.
class DeviceTimer {
 public:
  /// Returns the only instance: LibTorch's callbacks are plain functions.
  static DeviceTimer& instance();

  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  /// Returns whether there is a device other than the CPU.
  static bool hasDevices();

  /// Starts to time a call on the device of its inputs. Does nothing if they are on no device, or
  /// while the thread times an enclosing call.
  ///
  /// @param owner  Identifies the call for end().
  /// @param nameId A name of SpanKind::kDevice.
  /// @cost  Two events, about 2 us on a GPU.
  void begin(const void* owner, std::uint16_t nameId, std::uint64_t payload,
             c10::ArrayRef<const c10::IValue> inputs) noexcept;
  /// Ends a call. Does nothing without begin().
  void end(const void* owner) noexcept;

  /// Reports the finished calls that began between `since` and `until`, one batch per stream, and
  /// discards earlier calls.
  ///
  /// @param waits Whether to wait for unfinished calls.
  void take(std::uint64_t since, std::uint64_t until, bool waits,
            const std::function<void(const process::SpanBatch&)>& sink);

  /// Discards all calls.
  void clear() noexcept;

  /// Returns which device cannot be timed, and why; empty if there is none.
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

  mutable base::Mutex mutex_;
  std::deque<Call> calls_ STEPTAPE_GUARDED_BY(mutex_);  ///< Finished on the host.
  std::uint64_t dropped_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  std::vector<Call> unused_ STEPTAPE_GUARDED_BY(mutex_);  ///< Their events are reused.
  std::vector<std::pair<c10::Device, std::shared_ptr<const Anchor>>> anchors_
      STEPTAPE_GUARDED_BY(mutex_);
  std::map<c10::DeviceType, std::string> problems_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail::libtorch
