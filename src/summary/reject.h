// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/got_expected.h"

namespace steptape::detail {

// Errors of this layer begin with "got": the writer puts the call and the tag before them.

/// Most bytes of one value: Protocol Buffers reject messages of 2 GiB or more, and a record holds a
/// tag, names and an envelope besides.
inline constexpr std::int64_t kMaxPayload = (std::int64_t{1} << 31) - (1 << 20);

}  // namespace steptape::detail
