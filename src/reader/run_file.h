// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/reader/run_reader.h"

namespace steptape::detail {

/// One file of a run and how far it was read. Open only while it is read: a log directory may have
/// more files than a process may open.
///
/// @threads Not thread-safe: one thread at a time.
class RunFile {
 public:
  /// Takes a record; says how it failed if it holds no event, which then counts as damage.
  using TakeRecord = std::function<Status(std::string_view payload, std::uint64_t offset)>;

  explicit RunFile(std::string path) : path_(std::move(path)) {}

  /// Reads what was written since the last call.
  ///
  /// @param mayGrow As RunReaderOptions::mayGrow.
  /// @return the bytes read.
  std::uint64_t read(bool mayGrow, const TakeRecord& take);

  const std::string& path() const { return path_; }
  void appendDamage(std::vector<Damage>* damage) const;

 private:
  void readRecords(RecordReader* reader, bool mayGrow, const TakeRecord& take);
  bool passDamage(RecordReader* reader);

  std::string path_;
  std::uint64_t size_ = 0;    // when it was read last
  std::uint64_t offset_ = 0;  // to read on from
  std::vector<Damage> passed_;
  std::optional<Damage> searched_;  // damage behind which no whole record was found yet
  std::optional<Damage> end_;       // what keeps the file from being read further
};

}  // namespace steptape::detail
