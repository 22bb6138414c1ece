// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "steptape/base/export.h"
#include "steptape/span/span_record.h"

namespace steptape {
namespace detail {

/// Number of the session that zones record into, and a bit for listeners; 0 while nobody wants to
/// know of zones.
STEPTAPE_EXPORT extern std::atomic<std::uint32_t> zoneSession;

/// What one STEPTAPE_ZONE in the source keeps between its executions.
struct ZoneSite {
  constexpr explicit ZoneSite(const char* literal, SpanKind spanKind = SpanKind::kZone,
                              std::uint32_t rgb = 0)
      : name(literal), kind(spanKind), color(rgb) {}

  const char* name;
  SpanKind kind;
  std::uint32_t color;                   ///< 0xRRGGBB; 0: chosen by whoever draws it.
  std::atomic<std::uint16_t> nameId{0};  ///< 0 until the first recorded execution.
};

/// Who endZone() must tell, bits.
enum ZoneState : std::uint8_t { kZoneRecorded = 1, kZoneListened = 2 };

/// @return of ZoneState; where it is not 0, endZone() must follow.
STEPTAPE_EXPORT std::uint8_t beginZone(std::uint32_t session, ZoneSite& site,
                                       const void* zone) noexcept;
STEPTAPE_EXPORT void endZone(std::uint8_t state, const void* zone) noexcept;
/// REQUIRES: between beginZone() and endZone().
STEPTAPE_EXPORT void setZoneValue(const void* zone, double value) noexcept;

}  // namespace detail

/// Times the scope that it lives in. Made by STEPTAPE_ZONE and its kin.
///
/// @threads Lives and dies on one thread.
class Zone {
 public:
  explicit Zone(detail::ZoneSite& site) noexcept {
    const std::uint32_t session = detail::zoneSession.load(std::memory_order_relaxed);
    if (session != 0) {
      state_ = detail::beginZone(session, site, this);
    }
  }
  ~Zone() {
    if (state_ != 0) {
      detail::endZone(state_, this);
    }
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

  /// A number that traces show with this zone, such as how many rows it handled. The last one
  /// counts.
  void setValue(double value) noexcept {
    if (state_ != 0) {
      detail::setZoneValue(this, value);
    }
  }

 private:
  std::uint8_t state_ = 0;
};

/// What STEPTAPE_NAMED_ZONE makes where zones are compiled out.
struct DisabledZone {
  void setValue(double) const noexcept {}
};

/// Names the calling thread in traces, such as "loader 2". Without it, it has the name that it has
/// for the system, which is the program's unless pthread_setname_np() gave another one.
///
/// @threads Thread-safe.
/// @cost    A lock and a copy of the name.
STEPTAPE_EXPORT void setThreadName(const char* name);

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
///     STEPTAPE_ZONE("name")                          the usual one
///     STEPTAPE_COLORED_ZONE("name", 0xRRGGBB)        drawn in a color of yours
///     STEPTAPE_INPUT_ZONE("name")                    loads data: viewers count it as such
///     STEPTAPE_NAMED_ZONE(zone, "name")              a Zone& `zone`, for zone.setValue(rows)
///
/// @param name A string literal.
/// @threads Thread-safe.
/// @cost    While nothing collects: one relaxed load and a branch. While a profiler collects: two
///          readings of the cycle counter and a 32-byte store; no lock, allocation or system call
///          but the first time on a thread and the first time of a name. Nothing at all where
///          STEPTAPE_DISABLE_ZONES is defined.
#if defined(STEPTAPE_DISABLE_ZONES)
#define STEPTAPE_ZONE(name) static_cast<void>(0)
#define STEPTAPE_COLORED_ZONE(name, color) static_cast<void>(0)
#define STEPTAPE_INPUT_ZONE(name) static_cast<void>(0)
#define STEPTAPE_NAMED_ZONE(variable, name) const ::steptape::DisabledZone variable
#else
#define STEPTAPE_ZONE_JOIN_EXPANDED(a, b) a##b
#define STEPTAPE_ZONE_JOIN(a, b) STEPTAPE_ZONE_JOIN_EXPANDED(a, b)
// The empty literal in front refuses everything but a literal: the site is set up only once.
#define STEPTAPE_ZONE_AT(variable, site, name, kind, color)       \
  static ::steptape::detail::ZoneSite site{"" name, kind, color}; \
  ::steptape::Zone variable(site)
#define STEPTAPE_ZONE_HERE(name, kind, color)                  \
  STEPTAPE_ZONE_AT(STEPTAPE_ZONE_JOIN(steptapeZone, __LINE__), \
                   STEPTAPE_ZONE_JOIN(steptapeZoneSite, __LINE__), name, kind, color)
#define STEPTAPE_ZONE(name) STEPTAPE_ZONE_HERE(name, ::steptape::SpanKind::kZone, 0)
#define STEPTAPE_COLORED_ZONE(name, color) \
  STEPTAPE_ZONE_HERE(name, ::steptape::SpanKind::kZone, color)
#define STEPTAPE_INPUT_ZONE(name) STEPTAPE_ZONE_HERE(name, ::steptape::SpanKind::kInput, 0)
#define STEPTAPE_NAMED_ZONE(variable, name)                                        \
  STEPTAPE_ZONE_AT(variable, STEPTAPE_ZONE_JOIN(steptapeZoneSite, __LINE__), name, \
                   ::steptape::SpanKind::kZone, 0)
#endif
