// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/got_expected.h"

namespace steptape::detail::values {

// Errors of this room begin with "got". The writer adds the call and the tag.

/// Maximum bytes of one value: Protocol Buffers rejects messages of 2 GiB or more, and a record
/// also holds a tag, names and an envelope.
inline constexpr std::int64_t kMaxPayload = (std::int64_t{1} << 31) - (1 << 20);

}  // namespace steptape::detail::values
