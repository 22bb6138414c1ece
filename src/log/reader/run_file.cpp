// SPDX-License-Identifier: Apache-2.0
#include "log/reader/run_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <sys/stat.h>
#include <utility>

#include "steptape/base/status.h"

#include "base/got_expected.h"
#include "base/text.h"

namespace steptape::detail::log {

Status becameShorter(const std::string& path, std::uint64_t got, std::uint64_t expected) {
  return Status(ErrorCode::kIoError,
                "file became shorter: " +
                    base::gotExpected(std::to_string(got) + " bytes", std::to_string(expected)) +
                    " of " + path);
}

std::optional<RunFile::Stamp> RunFile::stampOf(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return Stamp{static_cast<std::uint64_t>(status.st_size), status.st_ino,
               status.st_ctim.tv_sec * kNanoseconds + status.st_ctim.tv_nsec};
}

bool RunFile::open() {
  isReplaced_ = false;
  try {
    const std::optional<Stamp> stamp = stampOf(path_);
    const bool hasFailed = end_ && end_->outcome == ReadOutcome::kIoError;
    if (stamp && stamp_ && *stamp == *stamp_ && !hasFailed) {
      return false;
    }
    source_.emplace(path_);
    if (stamp && (stamp->size < offset_ || !holdsWhatWasRead())) {
      source_.reset();
      isReplaced_ = true;
      return false;
    }
    reader_.emplace(&*source_);
    reader_->seek(offset_);
    stamp_ = stamp;
    size_ = stamp ? stamp->size : 0;
    end_.reset();
    return true;
  } catch (const Error& error) {
    end_ = Damage{path_, offset_, 0, ReadOutcome::kIoError, Status(error.code(), error.what())};
    return false;
  }
}

/// A file that cannot be read counts as unchanged: reading it reports why.
bool RunFile::holdsWhatWasRead() const {
  KeptBytes now{};
  return !hasKept_ || !keep(&now) || now == kept_;
}

/// Copies the first and the last bytes before `offset_`.
/// @return false if they cannot be read.
bool RunFile::keep(KeptBytes* kept) const {
  constexpr std::size_t kHalf = kKeptBytes / 2;
  std::array<char, kReadAtOnce> bytes;
  std::size_t got = 0;
  if (offset_ <= bytes.size()) {
    const auto all = static_cast<std::size_t>(offset_);
    if (!source_->read(0, bytes.data(), all, &got).ok() || got != all) {
      return false;
    }
    const std::size_t size = std::min(all, kHalf);
    std::memcpy(kept->data(), bytes.data(), size);
    std::memcpy(kept->data() + kHalf, bytes.data() + all - size, size);
    return true;
  }
  char* const last = kept->data() + kHalf;
  return source_->read(0, kept->data(), kHalf, &got).ok() && got == kHalf &&
         source_->read(offset_ - kHalf, last, kHalf, &got).ok() && got == kHalf;
}

bool RunFile::nextAfterDamage(std::string_view* payload) {
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
    if (outcome == ReadOutcome::kIoError ||
        (outcome == ReadOutcome::kTruncated && expectsGrowth_)) {
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
    if (base::startsWith(bytes, magic)) {
      const std::string program = name;
      return Status(ErrorCode::kDataLoss,
                    path_ + ": " +
                        base::gotExpected("a file compressed with " + program,
                                          "an event file. Decompress it first: " + program +
                                              " --decompress --keep"));
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
  hasKept_ = expectsGrowth_ && keep(&kept_);
  reader_.reset();
  source_.reset();
}

void RunFile::closeEarly() {
  close();
  stamp_.reset();
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

}  // namespace steptape::detail::log
