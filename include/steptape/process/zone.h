// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "steptape/base/export.h"
#include "steptape/process/span_record.h"

namespace steptape {
namespace detail::process {

/// Number of the session that zones record into, a bit for listeners, and a bit that is set while
/// the state of the process is kept; 0 while nobody wants zones.
STEPTAPE_EXPORT extern std::atomic<std::uint32_t> zoneSession;

/// What one STEPTAPE_ZONE in the source keeps between its executions.
struct ZoneSite {
  constexpr explicit ZoneSite(const char* literal, SpanKind spanKind = SpanKind::kZone,
                              std::uint32_t rgb = 0)
      : name(literal), kind(spanKind), color(rgb) {}

  const char* name;
  SpanKind kind;
  std::uint32_t color;                   ///< 0xRRGGBB; 0: the viewer chooses.
  std::atomic<std::uint16_t> nameId{0};  ///< 0 until the first recorded execution.
};

/// Bits: whom endZone() must notify.
enum ZoneState : std::uint8_t { kZoneRecorded = 1, kZoneListened = 2, kZoneKept = 4 };

/// @return bits of ZoneState. If not 0, endZone() must follow.
STEPTAPE_EXPORT std::uint8_t beginZone(std::uint32_t session, ZoneSite& site,
                                       const void* zone) noexcept;
STEPTAPE_EXPORT void endZone(std::uint8_t state, const void* zone) noexcept;
/// REQUIRES: a call between beginZone() and endZone().
STEPTAPE_EXPORT void setZoneValue(const void* zone, double value) noexcept;

}  // namespace detail::process

/// Times the scope that contains it. Made by STEPTAPE_ZONE and its variants.
///
/// @threads Constructed and destroyed on the same thread.
class Zone {
 public:
  explicit Zone(detail::process::ZoneSite& site) noexcept {
    const std::uint32_t session = detail::process::zoneSession.load(std::memory_order_relaxed);
    if (session != 0) {
      state_ = detail::process::beginZone(session, site, this);
    }
  }
  ~Zone() {
    if (state_ != 0) {
      detail::process::endZone(state_, this);
    }
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

  /// Sets a number that traces show with this zone, such as the number of rows it processed. The
  /// last call counts.
  void setValue(double value) noexcept {
    if (state_ != 0) {
      detail::process::setZoneValue(this, value);
    }
  }

 private:
  std::uint8_t state_ = 0;
};

/// What STEPTAPE_NAMED_ZONE declares if STEPTAPE_DISABLE_ZONES is defined.
struct DisabledZone {
  void setValue(double) const noexcept {}
};

/// Names the calling thread in traces, such as "loader 2". The default is the operating system's
/// name of the thread: the program's name, unless pthread_setname_np() has changed it.
///
/// @threads Thread-safe.
/// @cost   A lock and a copy of the name.
STEPTAPE_EXPORT void setThreadName(const char* name);

}  // namespace steptape

/// Times the enclosing scope from here to its end, exceptions included:
///
///     void loadBatch() {
///       STEPTAPE_ZONE("load batch");
///       ...
///     }
///
/// Zones nest with each other and with the operators of LibTorch, on any number of threads. A
/// Profiler or OpProfiler collects them. Zones with equal names share one row of its table.
///
///     STEPTAPE_ZONE("name")                          the usual one
///     STEPTAPE_COLORED_ZONE("name", 0xRRGGBB)        drawn in this color
///     STEPTAPE_INPUT_ZONE("name")                    loads data; viewers count it as input
///     STEPTAPE_NAMED_ZONE(zone, "name")              a Zone& `zone`, for zone.setValue(rows)
///
/// @param name A string literal.
/// @threads Thread-safe.
/// @cost   In a program without a writer, Trainer or Environment: one relaxed load and a
///         branch. With one, whose open zones readers see while it runs and after it has died: two
///         readings of the cycle counter and some stores. With a profiler: a 32-byte store more. No
///         lock, allocation or system call except for the first zone of a thread and the first use
///         of a name. Nothing if STEPTAPE_DISABLE_ZONES is defined.
#if defined(STEPTAPE_DISABLE_ZONES)
#define STEPTAPE_ZONE(name) static_cast<void>(0)
#define STEPTAPE_COLORED_ZONE(name, color) static_cast<void>(0)
#define STEPTAPE_INPUT_ZONE(name) static_cast<void>(0)
#define STEPTAPE_NAMED_ZONE(variable, name) const ::steptape::DisabledZone variable
#else
#define STEPTAPE_ZONE_JOIN_EXPANDED(a, b) a##b
#define STEPTAPE_ZONE_JOIN(a, b) STEPTAPE_ZONE_JOIN_EXPANDED(a, b)
// The empty literal before `name` makes everything but a literal an error: the site is set up only
// once.
#define STEPTAPE_ZONE_AT(variable, site, name, kind, color)                \
  static ::steptape::detail::process::ZoneSite site{"" name, kind, color}; \
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
