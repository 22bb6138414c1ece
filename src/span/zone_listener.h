// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/base/export.h"

// How a layer above learns of zones without a profiler: a graph names its scopes by them.

namespace steptape::detail {

/// The bit of `zoneSession` that is set while any thread listens; the others are the session.
constexpr std::uint32_t kZoneListenerBit = std::uint32_t{1} << 31;

/// Makes `session` the one that zones record into and leaves listeners alone.
void setZoneSession(std::uint32_t session) noexcept;

/// Receives the zones of one thread.
class ZoneListener {
 public:
  virtual void onZoneBegin(const char* name) noexcept = 0;
  /// Ends the innermost zone that has begun.
  virtual void onZoneEnd() noexcept = 0;

 protected:
  ~ZoneListener() = default;
};

/// The listener of the calling thread; null if there is none.
ZoneListener* zoneListener() noexcept;

/// Reports to `listener` the zones that the calling thread enters and leaves during its lifetime,
/// whether a profiler records them or not. The innermost object of a thread is the one that counts.
///
/// @threads Lives and dies on one thread.
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

}  // namespace steptape::detail
