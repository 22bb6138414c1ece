// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "steptape/base/export.h"

namespace steptape {
namespace detail {

/// Number of the session that zones record into, and a bit for listeners; 0 while nobody wants to
/// know of zones.
STEPTAPE_EXPORT extern std::atomic<std::uint32_t> zoneSession;

/// What one STEPTAPE_ZONE in the source keeps between its executions.
struct ZoneSite {
  constexpr explicit ZoneSite(const char* literal) : name(literal) {}

  const char* name;
  std::atomic<std::uint32_t> nameId{0};  ///< 0 until the first recorded execution.
};

/// @return whether endZone() must follow.
STEPTAPE_EXPORT bool beginZone(std::uint32_t session, ZoneSite& site, const void* zone) noexcept;
STEPTAPE_EXPORT void endZone(const void* zone) noexcept;

}  // namespace detail

/// Times the scope that it lives in. Made by STEPTAPE_ZONE.
///
/// @threads Lives and dies on one thread.
class Zone {
 public:
  explicit Zone(detail::ZoneSite& site) noexcept {
    const std::uint32_t session = detail::zoneSession.load(std::memory_order_relaxed);
    if (session != 0) {
      recording_ = detail::beginZone(session, site, this);
    }
  }
  ~Zone() {
    if (recording_) {
      detail::endZone(this);
    }
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

 private:
  bool recording_ = false;
};

}  // namespace steptape

/// Times the enclosing scope from here to its end, exceptions included:
///
///     void loadBatch() {
///       STEPTAPE_ZONE("load batch");
///       ...
///     }
///
/// Zones nest, on any number of threads, with each other and with the operators of LibTorch; a
/// Profiler or OpProfiler collects them. Equal names are one row of its table.
///
/// @param name A string literal.
/// @threads Thread-safe.
/// @cost    While nothing collects: one relaxed load and a branch. While a profiler collects: two
///          readings of the cycle counter and a 32-byte store; no lock, allocation or system call
///          but the first time on a thread and the first time of a name. Nothing at all where
///          STEPTAPE_DISABLE_ZONES is defined.
#if defined(STEPTAPE_DISABLE_ZONES)
#define STEPTAPE_ZONE(name) static_cast<void>(0)
#else
#define STEPTAPE_ZONE_JOIN_EXPANDED(a, b) a##b
#define STEPTAPE_ZONE_JOIN(a, b) STEPTAPE_ZONE_JOIN_EXPANDED(a, b)
// The empty literal in front refuses everything but a literal: the site is set up only once.
#define STEPTAPE_ZONE(name)                                                                    \
  static ::steptape::detail::ZoneSite STEPTAPE_ZONE_JOIN(steptapeZoneSite, __LINE__){"" name}; \
  const ::steptape::Zone STEPTAPE_ZONE_JOIN(                                                   \
      steptapeZone, __LINE__)(STEPTAPE_ZONE_JOIN(steptapeZoneSite, __LINE__))
#endif
