// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/status.h"

#include "base/utf8.h"

namespace steptape::detail::base {

/// Returns the end of every error message: "got <got>; expected <expected>".
inline std::string gotExpected(const std::string& got, const std::string& expected) {
  return "got " + got + "; expected " + expected;
}

/// Rejects an argument: throws Error(kInvalidArgument) with gotExpected(), prefixed by "<where>: ".
/// `where` is empty if a caller further up adds it.
[[noreturn]] inline void reject(const std::string& got, const std::string& expected,
                                const std::string& where = {}) {
  throw Error(ErrorCode::kInvalidArgument,
              where + (where.empty() ? "" : ": ") + gotExpected(got, expected));
}

/// Returns the caller's text in quotation marks, as valid UTF-8.
inline std::string quoted(std::string_view text) {
  return "\"" + replaceInvalidUtf8(text) + "\"";
}

}  // namespace steptape::detail::base
