// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/base/export.h"
#include "steptape/profile/record.h"

// How a source of spans other than zones records them. Spans that begin and end on one thread nest;
// `owner` is the address of the object whose lifetime a span is, and identifies it. Where an owner
// is not the innermost one when it ends, those inside it are given up and counted as dropped; an
// end without a begin does nothing, so sources can be switched on and off at any moment.
//
// While recording is off all of these do nothing but pop what began before.

namespace steptape::detail {

/// @param name Any lifetime: it is compared with known names, and copied once if it is new.
/// @cost About 10 ns with endSpan(), beyond two readings of the cycle counter.
STEPTAPE_EXPORT void beginSpan(ProfileKind kind, const char* name, std::int64_t sequence,
                               const void* owner) noexcept;
STEPTAPE_EXPORT void endSpan(const void* owner) noexcept;

/// Begins a span that nests in nothing and may end on another thread.
///
/// @return what endDetached() needs; its nameId is 0 if it is not recorded.
STEPTAPE_EXPORT ProfileRecord beginDetached(ProfileKind kind, const char* name,
                                            std::int64_t sequence) noexcept;
STEPTAPE_EXPORT void endDetached(ProfileRecord record) noexcept;

}  // namespace steptape::detail
