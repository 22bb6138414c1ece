// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/error.h"

#include "base/utf8.h"

namespace steptape::detail {

/// What one value may hold: Protocol Buffers encode and decode no message of 2 GiB or more, and a
/// record has a tag, names and an envelope besides.
inline constexpr std::int64_t kMaxPayload = (std::int64_t{1} << 31) - (1 << 20);

/// Refuses what the caller passed: throws Error(kInvalidArgument) with "<subject>: <what>".
[[noreturn]] inline void reject(std::string_view subject, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, std::string(subject) + ": " + what);
}

/// The caller's text in quotation marks, as UTF-8.
inline std::string quoted(std::string_view text) {
  return "\"" + replaceInvalidUtf8(text) + "\"";
}

}  // namespace steptape::detail
