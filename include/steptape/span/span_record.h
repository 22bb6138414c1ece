// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape {

/// Where a recorded span of time comes from.
enum class SpanKind : std::uint8_t {
  kZone,        ///< STEPTAPE_ZONE.
  kOperator,    ///< An operator of LibTorch, or autograd's own bookkeeping around one.
  kBackward,    ///< A node of autograd's graph, such as "AddmmBackward0".
  kUserScope,   ///< LibTorch's RECORD_USER_SCOPE.
  kInput,       ///< Loading and preparing data, STEPTAPE_INPUT_ZONE.
  kCollective,  ///< An operation of a Communicator, or a thread that blocks for one under way.
  kWait,        ///< The part of a collective in which other ranks had not come yet.
  kDevice,      ///< What a device did, by its own clock.
  kMemory,      ///< Not a span, see SpanRecord::memory().
};

inline constexpr std::size_t kSpanKinds = 9;

/// One word for people: "zone", "operator", "backward", "scope", "input", "collective", "wait",
/// "device" or "memory".
STEPTAPE_EXPORT const char* spanKindName(SpanKind kind) noexcept;

/// Bits of SpanRecord::flags.
enum SpanFlag : std::uint8_t {
  /// A span of the same name and kind encloses this one on its thread.
  kNestedInItself = 1,
  /// Began on one thread and may have ended on another, so it nests in nothing.
  kDetached = 2,
  /// Its payload is a number of the user's.
  kHasValue = 4,
  /// Of kMemory: the totals behind the record in front of it.
  kMemoryTotals = 8,
};

/// One finished span: what the recording threads write and every export reads.
///
/// The records of a thread come in the order in which spans ended, so children precede their
/// parent.
struct SpanRecord {
  std::uint64_t startTicks;  ///< Of readTicks().
  std::uint64_t endTicks;
  std::uint64_t payload;  ///< See sequence(), detailsId() and value().
  std::uint16_t nameId;   ///< See spanName().
  /// For kBackward: LibTorch's number of the thread that ran the forward operator; for kOperator:
  /// that of this thread. Modulo 2^16, 0 where there is none.
  std::uint16_t forwardThread;
  std::uint8_t depth;  ///< Number of spans that enclosed it on its thread.
  SpanKind kind;
  std::uint8_t flags;  ///< Of SpanFlag.
  std::uint8_t unused;

  /// LibTorch's sequence number modulo 2^32, which a forward operator shares with its backward
  /// node; -1 if it has none.
  std::int64_t sequence() const noexcept {
    const auto low = static_cast<std::uint32_t>(payload);
    return (flags & kHasValue) != 0 || low == kNoSequence ? -1 : std::int64_t{low};
  }
  /// See spanDetails(); 0 if it has none.
  std::uint32_t detailsId() const noexcept {
    return (flags & kHasValue) != 0 ? 0 : static_cast<std::uint32_t>(payload >> 32);
  }
  /// The user's number. REQUIRES: kHasValue.
  double value() const noexcept {
    double value;
    std::memcpy(&value, &payload, sizeof value);
    return value;
  }

  /// When it was made: where a span ended, or memory was allocated or freed.
  std::uint64_t ticks() const noexcept { return kind == SpanKind::kMemory ? startTicks : endTicks; }

  /// An allocation of `bytes` at `address`, or with negative `bytes` its end.
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
  /// What the device has in use and reserved behind the memory() record pushed just before.
  static SpanRecord memoryTotals(std::uint64_t ticks, std::uint64_t allocated,
                                 std::uint64_t reserved) noexcept {
    return {ticks, allocated, reserved, 0, 0, 0, SpanKind::kMemory, kMemoryTotals, 0};
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

/// Gives equal (kind, text) the same small number, from now to the end of the process.
///
/// @return a number above 0. When there are 65,000 names, new ones share the name "(other names)"
///         of their kind, so that names made at run time cannot fill the memory.
/// @threads Thread-safe.
/// @cost    A lock and a hash of the text.
STEPTAPE_EXPORT std::uint16_t internSpanName(SpanKind kind, std::string_view text);

/// The text of a number that internSpanName() returned; stays valid.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT const std::string& spanName(std::uint16_t nameId);

/// What is known of a call beyond its name; spans with equal ones share them.
struct STEPTAPE_EXPORT SpanDetails {
  /// Of each input as JSON, such as `[[64, 784], [256]]`; an input without a shape is `[]`.
  std::string shapes;
  /// Of each input as JSON, such as `["float", "Scalar"]`.
  std::string types;
  /// The module that the call ran in, such as "features.0"; empty if unknown.
  std::string module;
  /// Floating-point operations, a multiplication and an addition as two; 0 if unknown.
  double flops = 0.0;
  /// Bytes of all inputs of an operator, or those that a collective moves; 0 if unknown.
  std::int64_t bytes = 0;
  /// Further arguments as members of a JSON object, such as `"Group size": 2`; may be empty.
  std::string arguments;

  bool operator==(const SpanDetails& other) const noexcept;
};

/// Gives equal details the same number, from now to the end of the process.
///
/// @return a number above 0. When there are 2^20, new ones get the number 0, which says that
///         nothing is known.
/// @threads Thread-safe.
/// @cost    A lock and a hash of the texts: for what a thread has not seen before.
STEPTAPE_EXPORT std::uint32_t internSpanDetails(const SpanDetails& details);

/// The details of a number that internSpanDetails() returned, and empty ones of 0; stay valid.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT const SpanDetails& spanDetails(std::uint32_t detailsId);

}  // namespace steptape
