// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace steptape
