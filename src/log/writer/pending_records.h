// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/events/event.h"

#include "events/framing/record_buffer.h"
#include "log/writer/event_builder.h"
#include "log/writer/event_file.h"
#include "log/writer/loss_log.h"
#include "log/writer/run_counters.h"

namespace steptape::detail::log {

/// The complete records of a stream that its file does not have yet, in their order, and when to
/// try again to write them.
///
/// They are in one buffer; while writing fails, in chunks before it.
///
/// @threads Not thread-safe: one thread at a time.
class PendingRecords {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Large enough to amortize a write(2), and small enough to stay in the second-level cache.
  static constexpr std::size_t kChunkBytes = std::size_t{64} << 10;

  std::size_t bytes() const { return chunkBytes_ + buffer_.bytes().size(); }
  /// Returns how many scalars are in these records.
  std::uint64_t scalars() const;
  /// Returns how many scalars were ever added.
  std::uint64_t addedScalars() const { return addedScalars_; }
  /// Returns whether the buffer is as large as a chunk.
  bool isBufferLarge() const { return buffer_.bytes().size() >= kChunkBytes; }
  /// When the first of the bytes() was added.
  TimePoint oldest() const { return oldest_; }

  /// Ends the current event, and adds it. REQUIRES: it has scalars
  void addCurrent(EventBuilder* event);
  /// Adds an event of `values` values.
  /// @throws std::bad_alloc, and then has added nothing.
  void add(const event::Event& event, std::size_t values);

  bool hasChunks() const { return !chunks_.empty(); }
  /// Makes a chunk of what is in the buffer.
  void seal();
  /// Replaces each chunk by what `rewritten` returns for it.
  /// @param skipped The number of chunks that stay as they are.
  template <typename Rewritten>
  void rewrite(std::size_t skipped, const Rewritten& rewritten) {
    for (std::size_t i = skipped; i < chunks_.size(); ++i) {
      std::string bytes = rewritten(chunks_[i].bytes);
      chunkBytes_ += bytes.size() - chunks_[i].bytes.size();
      chunks_[i].bytes = std::move(bytes);
    }
  }

  /// Appends all records to the file; keeps those that it does not take.
  Status writeTo(EventFile* file, RunCounters* counters);
  /// Keeps in the file the whole records of a failed append that cannot be removed from it.
  /// REQUIRES: the file has a part of that append, and dropAll() follows
  void keepWholeRecords(EventFile* file);

  /// Drops and counts the oldest chunk that is not partly in the file: if a part cannot be removed,
  /// it must be completed, or the file is damaged.
  /// @return whether there was one.
  bool dropOldest(const EventFile& file, LossLog* losses);
  void dropAll(LossLog* losses);

  /// Returns whether the last write has failed.
  bool isFailing() const { return failures_ > 0; }
  /// Returns whether that was so recently that the next one must wait.
  bool mustWait(TimePoint now) const { return isFailing() && now < retryAt_; }
  /// @return whether it is the first failure in a row.
  bool noteFailure(TimePoint now);
  void noteSuccess() { failures_ = 0; }

  /// Appends all bytes but the first `skip`.
  void copyTo(std::string* out, std::uint64_t skip) const;

 private:
  struct Chunk {
    std::string bytes;
    std::uint64_t scalars = 0;
    std::uint64_t values = 0;
  };

  void noteAdded(bool isFirst);

  std::deque<Chunk> chunks_;  // only while writing fails
  std::size_t chunkBytes_ = 0;
  events::RecordBuffer buffer_;  // follows chunks_
  std::uint64_t bufferScalars_ = 0;
  std::uint64_t bufferValues_ = 0;
  std::uint64_t addedScalars_ = 0;
  TimePoint oldest_;
  int failures_ = 0;  // in a row
  TimePoint retryAt_;
};

}  // namespace steptape::detail::log
