// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <sys/types.h>

#include "steptape/base/export.h"

namespace steptape::detail {

/// Returns the kind of file in `st_mode`, such as "a FIFO" or "a regular file".
STEPTAPE_EXPORT const char* fileKindName(mode_t mode) noexcept;

/// Why nothing can be read of a file of this kind: "got a FIFO; expected a regular file".
///
/// @param expected The expected kinds, such as "a directory or a regular event file".
/// @return empty if it is a regular file.
STEPTAPE_EXPORT std::string fileKindProblem(mode_t mode,
                                            const std::string& expected = "a regular file");

}  // namespace steptape::detail
