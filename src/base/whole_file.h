// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape::detail {

/// Reads the file at `path` into `bytes`. @return kIoError with the system's words.
STEPTAPE_EXPORT Status readWholeFile(const std::string& path, std::string& bytes);

/// Makes `bytes` the content of `path`, creating directories as needed. It is at every moment the
/// old file or the new one, also if the power fails.
///
/// @return kIoError with the system's words; `path` is then what it was.
STEPTAPE_EXPORT Status replaceFile(const std::string& path, std::string_view bytes);

/// Makes the directories in which `path` lies. @return kIoError with the system's words.
STEPTAPE_EXPORT Status createDirectoriesOf(const std::string& path);

}  // namespace steptape::detail
