// SPDX-License-Identifier: Apache-2.0
#include "events/framing/record_buffer.h"

#include <utility>

#include "base/little_endian.h"
#include "events/framing/masked_crc32c.h"
#include "events/framing/record_format.h"

namespace steptape::detail::events {

std::string* RecordBuffer::beginRecord() {
  recordStart_ = bytes_.size();
  bytes_.append(kHeaderBytes, '\0');
  return &bytes_;
}

void RecordBuffer::endRecord() {
  const std::string_view payload = std::string_view(bytes_).substr(recordStart_ + kHeaderBytes);
  char footer[kFooterBytes];
  base::storeLittleEndian32(footer, maskedCrc32c(payload).value());

  char* const header = bytes_.data() + recordStart_;
  base::storeLittleEndian64(header, payload.size());
  base::storeLittleEndian32(header + 8, maskedCrc32c({header, 8}).value());

  bytes_.append(footer, sizeof footer);
  ++records_;
}

void RecordBuffer::cancelRecord() {
  bytes_.resize(recordStart_);
}

void RecordBuffer::append(std::string_view payload) {
  beginRecord()->append(payload);
  endRecord();
}

void RecordBuffer::clear() {
  bytes_.clear();
  records_ = 0;
}

std::string RecordBuffer::take() {
  records_ = 0;
  return std::exchange(bytes_, std::string());
}

}  // namespace steptape::detail::events
