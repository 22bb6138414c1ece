// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/base/export.h"

// Reports zones to a higher district without a profiler, which graphs use to name their scopes.

namespace steptape::detail::process {

/// The bit of `zoneSession` that is set while any thread listens.
constexpr std::uint32_t kZoneListenerBit = std::uint32_t{1} << 31;
/// The bit that is set while the state of the process is kept, to which open zones belong; see
/// StatePage.
constexpr std::uint32_t kZoneKeptBit = std::uint32_t{1} << 30;
/// The other bits are the session.
constexpr std::uint32_t kZoneSessionBits = kZoneKeptBit - 1;

/// Makes zones record into `session`. Listeners are not affected.
void setZoneSession(std::uint32_t session) noexcept;

/// Receives the zones of one thread.
class ZoneListener {
 public:
  virtual void onZoneBegin(const char* name) noexcept = 0;
  /// Called when the innermost open zone ends.
  virtual void onZoneEnd() noexcept = 0;

 protected:
  ~ZoneListener() = default;
};

/// Returns the listener of the calling thread, or null.
ZoneListener* zoneListener() noexcept;

/// During its lifetime, reports to `listener` the zones that the calling thread enters and leaves,
/// whether or not a profiler records them. Only the innermost ListenToZones of a thread is active.
///
/// @threads Construct and destroy it on one thread.
/// @cost    While any thread listens, every zone of the process costs a function call.
class STEPTAPE_EXPORT ListenToZones {
 public:
  explicit ListenToZones(ZoneListener* listener) noexcept;
  ~ListenToZones();
  ListenToZones(const ListenToZones&) = delete;
  ListenToZones& operator=(const ListenToZones&) = delete;

 private:
  ZoneListener* const outer_;
};

}  // namespace steptape::detail::process
