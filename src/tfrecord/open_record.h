// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tfrecord/record_buffer.h"

namespace steptape::detail {

/// A record that is being built in a RecordBuffer: unless end() returned, it is canceled, so that
/// an exception while its payload is encoded leaves the buffer as it was.
class OpenRecord {
 public:
  explicit OpenRecord(RecordBuffer* buffer) : payload_(buffer->beginRecord()), buffer_(buffer) {}
  ~OpenRecord() {
    if (buffer_ != nullptr) {
      buffer_->cancelRecord();
    }
  }
  OpenRecord(const OpenRecord&) = delete;
  OpenRecord& operator=(const OpenRecord&) = delete;

  /// Where to append the payload.
  std::string* payload() const { return payload_; }
  void end() {
    buffer_->endRecord();
    buffer_ = nullptr;
  }

 private:
  std::string* const payload_;
  RecordBuffer* buffer_;
};

}  // namespace steptape::detail
