// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "events/framing/record_buffer.h"

namespace steptape::detail::events {

/// A record under construction in a RecordBuffer. The destructor cancels it unless end() has
/// returned, so that an exception during encoding leaves the buffer unchanged.
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

  /// Returns the string to append the payload to.
  std::string* payload() const { return payload_; }
  void end() {
    buffer_->endRecord();
    buffer_ = nullptr;
  }

 private:
  std::string* const payload_;
  RecordBuffer* buffer_;
};

}  // namespace steptape::detail::events
