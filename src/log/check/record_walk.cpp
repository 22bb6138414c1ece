// SPDX-License-Identifier: Apache-2.0
#include "log/check/record_walk.h"

#include <array>

namespace steptape::detail::log {
namespace {

/// Finds the end of `source`, which is at or after `from`.
Status findEnd(const ByteSource& source, std::uint64_t from, std::uint64_t* end) {
  std::array<char, 64 * 1024> passed;
  std::size_t got = 0;
  *end = from;
  do {
    *end += got;
    if (Status status = source.read(*end, passed.data(), passed.size(), &got); !status.ok()) {
      return status;
    }
  } while (got > 0);
  return Status();
}

}  // namespace

RecordWalk::Stretch RecordWalk::next() {
  begin_ = end_;
  if (isAtEnd_) {
    return Stretch::kEnd;
  }
  const ReadOutcome outcome = reader_.next(&payload_);
  if (outcome == ReadOutcome::kRecord) {
    end_ = reader_.offset();
    return Stretch::kRecord;
  }
  status_ = reader_.lastError();
  if (outcome == ReadOutcome::kIoError) {
    return fail();
  }
  if (status_.ok()) {
    isAtEnd_ = true;
    return Stretch::kEnd;
  }
  return passDamage(outcome);
}

std::string RecordWalk::problem() const {
  const std::string& message = status_.message();
  const std::string place = " at offset " + std::to_string(begin_) + " of " + source_->name();
  return message.substr(0, message.rfind(place));
}

bool RecordWalk::nextRecord() {
  Stretch stretch = next();
  while (stretch == Stretch::kDamage || stretch == Stretch::kTail) {
    stretch = next();
  }
  return stretch == Stretch::kRecord;
}

RecordWalk::Stretch RecordWalk::passDamage(ReadOutcome outcome) {
  isCutShort_ = outcome == ReadOutcome::kTruncated;
  const ReadOutcome found = reader_.findRecord(begin_ + 1);
  if (found == ReadOutcome::kIoError) {
    status_ = reader_.lastError();
    return fail();
  }
  if (found == ReadOutcome::kRecord) {
    end_ = reader_.offset();
    return Stretch::kDamage;
  }
  isAtEnd_ = true;
  if (Status status = findEnd(*source_, reader_.offset(), &end_); !status.ok()) {
    status_ = status;
    return fail();
  }
  return isCutShort_ ? Stretch::kTail : Stretch::kDamage;
}

RecordWalk::Stretch RecordWalk::fail() {
  isAtEnd_ = true;
  end_ = begin_;
  return Stretch::kIoError;
}

}  // namespace steptape::detail::log
