// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail {

/// What a file of an image or of audio is, by its first bytes: "png", "gif", "jpg", "bmp", "webp",
/// "wav", or "bin" where they do not say.
STEPTAPE_EXPORT const char* mediaFormat(std::string_view bytes);

}  // namespace steptape::detail
