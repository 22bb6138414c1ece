// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape::detail::base {

/// Reads the file at `path` into `bytes`.
/// @return kIoError with the operating system's error message.
STEPTAPE_EXPORT Status readWholeFile(const std::string& path, std::string& bytes);

/// Replaces the content of `path` by `bytes` and creates missing directories. At every moment, the
/// file has either the old or the new content, even after a power failure.
///
/// @return kIoError with the operating system's error message; `path` is then unchanged.
STEPTAPE_EXPORT Status replaceFile(const std::string& path, std::string_view bytes);

/// Creates the directories that contain `path`.
/// @return kIoError with the operating system's error message.
STEPTAPE_EXPORT Status createDirectoriesOf(const std::string& path);

}  // namespace steptape::detail::base
