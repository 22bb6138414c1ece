// SPDX-License-Identifier: Apache-2.0
#include "log/reader/media_format.h"

#include "base/text.h"

namespace steptape::detail::log {

const char* mediaFormat(std::string_view bytes) {
  if (base::startsWith(bytes, "\x89PNG\r\n\x1a\n")) {
    return "png";
  }
  if (base::startsWith(bytes, "GIF8")) {
    return "gif";
  }
  if (base::startsWith(bytes, "\xff\xd8\xff")) {
    return "jpg";
  }
  if (base::startsWith(bytes, "BM")) {
    return "bmp";
  }
  const bool isRiff = base::startsWith(bytes, "RIFF") && bytes.size() >= 12;
  if (isRiff && bytes.substr(8, 4) == "WAVE") {
    return "wav";
  }
  return isRiff && bytes.substr(8, 4) == "WEBP" ? "webp" : "bin";
}

}  // namespace steptape::detail::log
