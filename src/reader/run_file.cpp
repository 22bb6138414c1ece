// SPDX-License-Identifier: Apache-2.0
#include "reader/run_file.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "steptape/base/error.h"
#include "steptape/record/byte_source.h"

namespace steptape::detail {

std::uint64_t RunFile::read(bool mayGrow, const TakeRecord& take) {
  const std::uint64_t before = offset_;
  try {
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path_, error);
    const bool hasFailed = end_ && end_->outcome == ReadOutcome::kIoError;
    if (!error && size == size_ && !hasFailed) {
      return 0;
    }
    if (!error && size < offset_) {
      throw Error(ErrorCode::kIoError, "file became shorter: got " + std::to_string(size) +
                                           " bytes, want " + std::to_string(offset_) + " of " +
                                           path_);
    }
    RecordReader reader(std::make_unique<FileByteSource>(path_));
    size_ = size;
    end_.reset();
    readRecords(&reader, mayGrow, take);
  } catch (const Error& error) {
    end_ = Damage{path_, offset_, 0, ReadOutcome::kIoError, Status(error.code(), error.what())};
  }
  return offset_ - before;
}

void RunFile::readRecords(RecordReader* reader, bool mayGrow, const TakeRecord& take) {
  reader->seek(offset_);
  if (searched_ && !passDamage(reader)) {
    return;
  }
  for (;;) {
    std::string_view payload;
    const std::uint64_t begin = reader->offset();
    const ReadOutcome outcome = reader->next(&payload);
    offset_ = reader->offset();
    if (outcome == ReadOutcome::kRecord) {
      if (Status status = take(payload, begin); !status.ok()) {
        passed_.push_back({path_, begin, offset_ - begin, ReadOutcome::kCorrupt,
                           Status(status.code(), status.message() + " at offset " +
                                                     std::to_string(begin) + " of " + path_)});
      }
      continue;
    }
    if (reader->lastError().ok()) {
      return;
    }
    Damage damage{path_, offset_, size_ > offset_ ? size_ - offset_ : 0, outcome,
                  reader->lastError()};
    if (outcome == ReadOutcome::kIoError || (outcome == ReadOutcome::kTruncated && mayGrow)) {
      end_ = std::move(damage);
      return;
    }
    searched_ = std::move(damage);
    ++offset_;
    if (!passDamage(reader)) {
      return;
    }
  }
}

/// Goes on behind the damage. @return false if no whole record is there, for now.
bool RunFile::passDamage(RecordReader* reader) {
  const ReadOutcome outcome = reader->findRecord(offset_);
  offset_ = reader->offset();
  if (outcome == ReadOutcome::kRecord) {
    searched_->outcome = ReadOutcome::kCorrupt;
    searched_->bytes = offset_ - searched_->offset;
    passed_.push_back(*std::exchange(searched_, std::nullopt));
    return true;
  }
  end_ = searched_;
  end_->bytes = size_ > end_->offset ? size_ - end_->offset : 0;
  if (searched_->outcome == ReadOutcome::kTruncated) {
    // The rest of the record may come all the same.
    offset_ = searched_->offset;
    searched_.reset();
  }
  return false;
}

void RunFile::appendDamage(std::vector<Damage>* damage) const {
  damage->insert(damage->end(), passed_.begin(), passed_.end());
  if (end_) {
    damage->push_back(*end_);
  }
}

}  // namespace steptape::detail
