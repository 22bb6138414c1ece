// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptape::detail {

/// What one value may hold: Protocol Buffers encode and decode no message of 2 GiB or more, and a
/// record has a tag, names and an envelope besides.
inline constexpr std::int64_t kMaxPayload = (std::int64_t{1} << 31) - (1 << 20);

}  // namespace steptape::detail
