// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail::log {

/// Returns the format of an image or audio file by its first bytes: "png", "gif", "jpg", "bmp",
/// "webp", "wav", or "bin" if it is unknown.
STEPTAPE_EXPORT const char* mediaFormat(std::string_view bytes);

}  // namespace steptape::detail::log
