// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape {

/// Tells what kind of code a recorded span of time comes from.
enum class SpanKind : std::uint8_t {
  kZone,        ///< STEPTAPE_ZONE.
  kOperator,    ///< An operator of LibTorch, or autograd's own work around one.
  kBackward,    ///< A node of autograd's graph, such as "AddmmBackward0".
  kUserScope,   ///< LibTorch's RECORD_USER_SCOPE.
  kInput,       ///< Loading or preparing data: STEPTAPE_INPUT_ZONE.
  kCollective,  ///< An operation of a Communicator, or a thread that waits for one.
  kWait,        ///< The part of a collective before all ranks have arrived.
  kDevice,      ///< Work of a device, measured by the device's clock.
  kMemory,      ///< Not a span; see SpanRecord::memory().
  kRuntime,     ///< A call of a device's runtime library or driver, such as cudaLaunchKernel.
};

inline constexpr std::size_t kSpanKinds = 10;

/// Returns the kind as one word: "zone", "operator", "backward", "scope", "input", "collective",
/// "wait", "device", "memory" or "runtime".
STEPTAPE_EXPORT const char* spanKindName(SpanKind kind) noexcept;

/// Bits of SpanRecord::flags.
enum SpanFlag : std::uint8_t {
  /// A span of the same name and kind encloses this one on its thread.
  kNestedInItself = 1,
  /// The span began on one thread and may have ended on another, so it does not nest.
  kDetached = 2,
  /// The payload is a number that the user set.
  kHasValue = 4,
  /// For kMemory: the totals after the record that precedes this one.
  kMemoryTotals = 8,
  /// With kDetached: the span belongs to its thread, but overlaps another one without nesting. Set
  /// by nestSpans().
  kOverlapping = 16,
};

/// One finished span. Recording threads write it; every export reads it.
///
/// The records of a thread are in the order in which spans ended, so children precede their parent.
struct SpanRecord {
  std::uint64_t startTicks;  ///< In ticks of readTicks().
  std::uint64_t endTicks;
  std::uint64_t payload;  ///< See sequence(), correlation(), detailsId() and value().
  std::uint16_t nameId;   ///< See spanName().
  /// For kBackward: LibTorch's number of the thread that ran the forward operator. For kOperator:
  /// LibTorch's number of this thread. Modulo 2^16; 0 if there is none.
  std::uint16_t forwardThread;
  std::uint8_t depth;  ///< Number of spans that enclose this one on its thread.
  SpanKind kind;
  std::uint8_t flags;  ///< Bits of SpanFlag.
  std::uint8_t unused;

  /// Returns LibTorch's sequence number modulo 2^32, which a forward operator shares with its
  /// backward node; -1 if there is none.
  std::int64_t sequence() const noexcept { return isOfDevice() ? -1 : number(); }
  /// Returns the number that a call of kRuntime shares with the work of kDevice that it launched; 0
  /// if there is none.
  std::uint32_t correlation() const noexcept {
    return isOfDevice() && number() > 0 ? static_cast<std::uint32_t>(number()) : 0;
  }
  /// Returns the number to pass to spanDetails(); 0 if there are no details.
  std::uint32_t detailsId() const noexcept {
    return (flags & kHasValue) != 0 ? 0 : static_cast<std::uint32_t>(payload >> 32);
  }
  /// Returns the user's number. REQUIRES: kHasValue.
  double value() const noexcept {
    double value;
    std::memcpy(&value, &payload, sizeof value);
    return value;
  }

  /// Returns when the record was made: at the end of a span, or when memory was allocated or freed.
  std::uint64_t ticks() const noexcept { return kind == SpanKind::kMemory ? startTicks : endTicks; }

  /// Returns the record of an allocation of `bytes` at `address`; negative `bytes` record that it
  /// was freed.
  static SpanRecord memory(std::uint64_t ticks, std::uint64_t address, std::int64_t bytes,
                           std::uint8_t deviceType, std::uint16_t deviceIndex) noexcept {
    return {ticks,
            address,
            static_cast<std::uint64_t>(bytes),
            0,
            deviceIndex,
            deviceType,
            SpanKind::kMemory,
            0,
            0};
  }
  /// Returns the record of the bytes that the device has allocated and reserved after the memory()
  /// record pushed just before.
  static SpanRecord memoryTotals(std::uint64_t ticks, std::uint64_t allocated,
                                 std::uint64_t reserved) noexcept {
    return {ticks, allocated, reserved, 0, 0, 0, SpanKind::kMemory, kMemoryTotals, 0};
  }

  /// Returns whether the span is work of a device, or the call that launched it.
  bool isOfDevice() const noexcept {
    return kind == SpanKind::kDevice || kind == SpanKind::kRuntime;
  }
  /// Returns the lower half of the payload: sequence() or correlation(); -1 if there is none.
  std::int64_t number() const noexcept {
    const auto low = static_cast<std::uint32_t>(payload);
    return (flags & kHasValue) != 0 || low == kNoSequence ? -1 : std::int64_t{low};
  }

  static constexpr std::uint32_t kNoSequence = ~std::uint32_t{0};
  static constexpr std::uint64_t kNoPayload = kNoSequence;

  static constexpr std::uint64_t payloadOf(std::int64_t sequence,
                                           std::uint32_t detailsId) noexcept {
    return std::uint64_t{detailsId} << 32 | static_cast<std::uint32_t>(sequence);
  }
  static std::uint64_t payloadOf(double value) noexcept {
    std::uint64_t payload;
    std::memcpy(&payload, &value, sizeof payload);
    return payload;
  }
};
static_assert(sizeof(SpanRecord) == 32, "two records share a cache line");

/// Maps each pair of kind and text to a small number that stays the same until the process ends.
///
/// @return a number above 0. Beyond 65,000 names, new ones share the name "(other names)" of their
///         kind, so that names made at run time cannot exhaust memory.
/// @threads Thread-safe.
/// @cost   A lock and a hash of the text.
STEPTAPE_EXPORT std::uint16_t internSpanName(SpanKind kind, std::string_view text);

/// Returns the text of a number from internSpanName(). The reference stays valid.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT const std::string& spanName(std::uint16_t nameId);

/// What is known of a call besides its name. Spans with equal details share one object.
struct STEPTAPE_EXPORT SpanDetails {
  /// Shape of each input as JSON, such as `[[64, 784], [256]]`; `[]` for an input without a shape.
  std::string shapes;
  /// Type of each input as JSON, such as `["float", "Scalar"]`.
  std::string types;
  /// Module in which the call ran, such as "features.0"; empty if unknown.
  std::string module;
  /// Floating-point operations; a multiplication and an addition count as two. 0 if unknown.
  double flops = 0.0;
  /// Bytes of all inputs of an operator, or bytes that a collective moves; 0 if unknown.
  std::int64_t bytes = 0;
  /// Further arguments as members of a JSON object, such as `"Group size": 2`; may be empty.
  std::string arguments;

  bool operator==(const SpanDetails& other) const noexcept;
};

/// Maps equal details to the same number, which stays the same until the process ends.
///
/// @return a number above 0. Beyond 2^20 different details the number is 0: nothing is known.
/// @threads Thread-safe.
/// @cost   A lock and a hash of the texts. Meant for details that the thread has not seen before.
STEPTAPE_EXPORT std::uint32_t internSpanDetails(const SpanDetails& details);

/// Returns the details of a number from internSpanDetails(); empty details for 0. The reference
/// stays valid.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT const SpanDetails& spanDetails(std::uint32_t detailsId);

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
