// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <gtest/gtest.h>
#include <zlib.h>

namespace steptape {

/// Inflates a gzip file by zlib; the test fails if zlib rejects it, or if bytes follow.
inline std::string gunzipped(const std::string& bytes) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, kGzipOnly), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int result = Z_OK;
  while (result == Z_OK) {
    char part[1 << 16];
    stream.next_out = reinterpret_cast<Bytef*>(part);
    stream.avail_out = sizeof part;
    result = inflate(&stream, Z_NO_FLUSH);
    text.append(part, sizeof part - stream.avail_out);
  }
  EXPECT_EQ(result, Z_STREAM_END) << (stream.msg != nullptr ? stream.msg : "no words");
  EXPECT_EQ(stream.avail_in, 0u);
  inflateEnd(&stream);
  return text;
}

}  // namespace steptape
