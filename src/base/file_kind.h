// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <sys/types.h>

#include "steptape/base/export.h"

namespace steptape::detail::base {

/// Returns the kind of file in `st_mode`, such as "a FIFO" or "a regular file".
STEPTAPE_EXPORT const char* fileKindName(mode_t mode) noexcept;

/// Returns why a file of this kind cannot be read: "got a FIFO; expected a regular file".
///
/// @param expected The expected kinds, such as "a directory or a regular event file".
/// @return empty for a regular file.
STEPTAPE_EXPORT std::string fileKindProblem(mode_t mode,
                                            const std::string& expected = "a regular file");

}  // namespace steptape::detail::base
