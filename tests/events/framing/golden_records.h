// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape {

// The two records of a file that TensorFlow wrote, from the tests of TensorBoard's data server.
// @source tensorboard/data/server/tf_record.rs, test_success

/// wall_time and file_version "brain.Event:2".
inline std::string goldenVersionPayload() {
  return std::string("\x09\x00\x00\x80\x38\x99\xd6\xd7\x41\x1a\x0d", 11) + "brain.Event:2";
}

inline std::string goldenVersionRecord() {
  return std::string("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22", 12) + goldenVersionPayload() +
         std::string("\x12\x4b\x36\xab", 4);
}

}  // namespace steptape
