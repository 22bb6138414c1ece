// SPDX-License-Identifier: Apache-2.0
#include "reader/run_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "steptape/base/error.h"

#include "base/got_expected.h"
#include "base/text.h"

namespace steptape::detail {

Status becameShorter(const std::string& path, std::uint64_t got, std::uint64_t expected) {
  return Status(ErrorCode::kIoError,
                "file became shorter: " +
                    gotExpected(std::to_string(got) + " bytes", std::to_string(expected)) + " of " +
                    path);
}

bool RunFile::open() {
  try {
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path_, error);
    const bool hasFailed = end_ && end_->outcome == ReadOutcome::kIoError;
    if (!error && size == size_ && !hasFailed) {
      return false;
    }
    if (!error && size < offset_) {
      becameShorter(path_, size, offset_).throwIfError();
    }
    source_.emplace(path_);
    reader_.emplace(&*source_);
    reader_->seek(offset_);
    size_ = error ? 0 : size;
    end_.reset();
    return true;
  } catch (const Error& error) {
    end_ = Damage{path_, offset_, 0, ReadOutcome::kIoError, Status(error.code(), error.what())};
    return false;
  }
}

bool RunFile::nextBehindDamage(std::string_view* payload) {
  for (;;) {
    if (searched_ && !passDamage()) {
      return false;
    }
    begin_ = reader_->offset();
    const ReadOutcome outcome = reader_->next(payload);
    if (outcome == ReadOutcome::kRecord) {
      return true;
    }
    if (reader_->lastError().ok()) {
      return false;
    }
    Damage damage{path_, begin_, bytesFrom(begin_), outcome, reader_->lastError()};
    if (outcome == ReadOutcome::kIoError || (outcome == ReadOutcome::kTruncated && mayGrow_)) {
      end_ = std::move(damage);
      return false;
    }
    if (Status status = begin_ == 0 ? isCompressed() : Status(); !status.ok()) {
      // Whatever looks like a record in compressed bytes is none.
      damage.outcome = ReadOutcome::kCorrupt;
      damage.status = std::move(status);
      end_ = std::move(damage);
      return false;
    }
    searched_ = std::move(damage);
  }
}

/// @return an error that tells how to decompress the file, if a compressor has written it.
Status RunFile::isCompressed() const {
  struct Format {
    std::string_view magic;
    const char* name;
  };
  static constexpr Format kFormats[] = {{"\x1f\x8b", "gzip"},
                                        {"\x28\xb5\x2f\xfd", "zstd"},
                                        {"\xfd"
                                         "7zXZ",
                                         "xz"},
                                        {"BZh", "bzip2"}};
  std::array<char, 8> begin{};
  std::size_t got = 0;
  if (!source_->read(0, begin.data(), begin.size(), &got).ok()) {
    return Status();
  }
  const std::string_view bytes(begin.data(), got);
  for (const auto& [magic, name] : kFormats) {
    if (startsWith(bytes, magic)) {
      const std::string program = name;
      return Status(ErrorCode::kDataLoss, path_ + ": " +
                                              gotExpected("a file compressed with " + program,
                                                          "an event file. Decompress it first: " +
                                                              program + " --decompress --keep"));
    }
  }
  return Status();
}

/// Continues after damage.
/// @return false if there is no complete record yet.
bool RunFile::passDamage() {
  const std::uint64_t from = std::max(reader_->offset(), searched_->offset + 1);
  const ReadOutcome outcome = reader_->findRecord(from);
  if (outcome == ReadOutcome::kRecord) {
    searched_->outcome = ReadOutcome::kCorrupt;
    searched_->bytes = reader_->offset() - searched_->offset;
    addPassed(*std::exchange(searched_, std::nullopt));
    return true;
  }
  end_ = searched_;
  end_->bytes = bytesFrom(end_->offset);
  if (outcome == ReadOutcome::kIoError) {
    end_->outcome = outcome;
    end_->status = reader_->lastError();
  } else if (searched_->outcome == ReadOutcome::kTruncated) {
    // The rest of the record may still be written.
    reader_->seek(searched_->offset);
    searched_.reset();
  }
  return false;
}

void RunFile::rejectRecord(const Status& status) {
  addPassed({path_, begin_, reader_->offset() - begin_, ReadOutcome::kCorrupt,
             Status(status.code(),
                    status.message() + " at offset " + std::to_string(begin_) + " of " + path_)});
}

/// Damage without a complete event in between is merged into one gap.
void RunFile::addPassed(Damage damage) {
  if (!passed_.empty() && passed_.back().offset + passed_.back().bytes == damage.offset) {
    passed_.back().bytes += damage.bytes;
  } else {
    passed_.push_back(std::move(damage));
  }
}

void RunFile::close() {
  offset_ = reader_->offset();
  reader_.reset();
  source_.reset();
}

std::uint64_t RunFile::bytesFrom(std::uint64_t offset) const {
  return size_ > offset ? size_ - offset : 0;
}

void RunFile::appendDamage(std::vector<Damage>* damage) const {
  damage->insert(damage->end(), passed_.begin(), passed_.end());
  if (end_) {
    damage->push_back(*end_);
  }
}

}  // namespace steptape::detail
