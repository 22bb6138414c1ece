// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/trace_text.h"

namespace steptape::detail::profile {

TraceText::TraceText(base::ReplacementFile* file, bool compress)
    : file_(file), buffer_(kBufferBytes) {
  if (compress) {
    deflater_.emplace(base::Deflater::Form::kGzip, Z_DEFAULT_STRATEGY, kBufferBytes, &compressed_);
  }
}

void TraceText::passOn() {
  if (deflater_) {
    deflater_->add(buffer_.data(), used_);
    deflater_->trim();
    file_->write(compressed_);
    compressed_.clear();
  } else {
    file_->write({buffer_.data(), used_});
  }
  used_ = 0;
}

void TraceText::finish() {
  passOn();
  if (deflater_) {
    deflater_->finish();
    file_->write(compressed_);
  }
}

}  // namespace steptape::detail::profile
