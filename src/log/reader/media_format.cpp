// SPDX-License-Identifier: Apache-2.0
#include "log/reader/media_format.h"

#include "base/text.h"

namespace steptape::detail {

const char* mediaFormat(std::string_view bytes) {
  if (startsWith(bytes, "\x89PNG\r\n\x1a\n")) {
    return "png";
  }
  if (startsWith(bytes, "GIF8")) {
    return "gif";
  }
  if (startsWith(bytes, "\xff\xd8\xff")) {
    return "jpg";
  }
  if (startsWith(bytes, "BM")) {
    return "bmp";
  }
  const bool isRiff = startsWith(bytes, "RIFF") && bytes.size() >= 12;
  if (isRiff && bytes.substr(8, 4) == "WAVE") {
    return "wav";
  }
  return isRiff && bytes.substr(8, 4) == "WEBP" ? "webp" : "bin";
}

}  // namespace steptape::detail
