// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steptape::detail::profile {

/// What a DeviceActivity is.
enum class DeviceActivityKind : std::uint8_t {
  kWork,  ///< A kernel, copy or fill, on a stream of a device.
  kCall,  ///< A call of the device's runtime library or driver, on a thread of the host.
};

/// Something that a vendor's tracing library, such as CUPTI, has recorded.
struct DeviceActivity {
  DeviceActivityKind kind = DeviceActivityKind::kWork;
  std::string name;  ///< Such as "Memcpy HtoD (Pinned -> Device)" or "cudaLaunchKernel".
  int device = -1;   ///< For kWork.
  /// The number of the stream; for kCall, the operating system's number of the thread, or the lower
  /// 32 bits of its pthread_t.
  std::uint64_t row = 0;
  std::uint32_t correlation = 0;  ///< A call and the work that it launched share one; 0: none.
  std::int64_t startNanos = 0;    ///< Unix time.
  std::int64_t endNanos = 0;
  std::string facts;  ///< Further facts as members of a JSON object; may be empty.
};

/// Records activities of all devices, from start() to stop().
///
/// @threads Thread-safe, except that start() and stop() alternate.
class ActivityRecorder {
 public:
  virtual ~ActivityRecorder() = default;

  /// @return why nothing can be recorded; empty if recording has started.
  virtual std::string start() = 0;

  /// Returns once the devices have done everything that was launched before the call.
  virtual void synchronize() = 0;

  /// Ends recording. Activities that have not ended are lost.
  ///
  /// @return why `activities` is empty or incomplete; empty if it is complete.
  virtual std::string stop(std::vector<DeviceActivity>* activities) = 0;
};

}  // namespace steptape::detail::profile
