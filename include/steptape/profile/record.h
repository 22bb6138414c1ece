// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape {

/// Where a recorded span of time comes from.
enum class ProfileKind : std::uint8_t {
  kZone,       ///< STEPTAPE_ZONE.
  kOperator,   ///< An operator of LibTorch, or autograd's own bookkeeping around one.
  kBackward,   ///< A node of autograd's graph, such as "AddmmBackward0".
  kUserScope,  ///< LibTorch's RECORD_USER_SCOPE.
};

inline constexpr std::size_t kProfileKinds = 4;

/// One word for people: "zone", "operator", "backward" or "scope".
STEPTAPE_EXPORT const char* profileKindName(ProfileKind kind) noexcept;

/// Bits of ProfileRecord::flags.
enum ProfileFlag : std::uint8_t {
  /// A span of the same name and kind encloses this one on its thread.
  kNestedInItself = 1,
  /// Began on one thread and may have ended on another, so it nests in nothing.
  kDetached = 2,
};

/// One finished span: what the recording threads write and every export reads.
///
/// The records of a thread come in the order in which spans ended, so children precede their
/// parent.
struct ProfileRecord {
  std::uint64_t startTicks;  ///< Of readTicks().
  std::uint64_t endTicks;
  std::uint32_t nameId;  ///< See profileName().
  std::uint16_t depth;   ///< Number of spans that enclosed it on its thread.
  ProfileKind kind;
  std::uint8_t flags;  ///< Of ProfileFlag.
  /// LibTorch's sequence number, which a forward operator shares with its backward node; else -1.
  std::int64_t sequence;
};
static_assert(sizeof(ProfileRecord) == 32, "two records share a cache line");

/// Gives equal (kind, text) the same small number, from now to the end of the process.
///
/// @return a number above 0. After 65,536 names new ones share the name "(other names)" of their
///         kind, so that names made at run time cannot fill the memory.
/// @threads Thread-safe.
/// @cost    A lock and a hash of the text.
STEPTAPE_EXPORT std::uint32_t internProfileName(ProfileKind kind, std::string_view text);

/// The text of a number that internProfileName() returned; stays valid.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT const std::string& profileName(std::uint32_t nameId);

}  // namespace steptape
