// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "steptape/events/record_reader.h"

#include "log/reader/series_batch.h"

namespace steptape::detail::log {

/// Reads a part of a file on several threads: each takes a chunk, finds the first record in it, and
/// sorts the events that start in the chunk.
///
/// Finding a record in the middle of a file is a guess, although a good one. A chunk is therefore
/// valid only if it starts where the previous one ended. A chunk also ends early at anything but
/// values, such as a restart or damage; the caller reads the rest of it in order.
///
///     ChunkReader chunks(&source, begin, end, file, threads);
///     while (const ChunkReader::Chunk* chunk = chunks.next()) {
///       if (chunk->first == <current position>) { ... }
///     }
///
/// @threads next() on one thread, which also reads chunks while it would wait.
class ChunkReader {
 public:
  struct Chunk {
    std::uint64_t end = 0;     ///< Events that start before it belong to the chunk.
    std::uint64_t first = 0;   ///< Start of the first event; kNotRead if not read.
    std::uint64_t last = 0;    ///< End of the last event.
    SeriesBatch batch{false};  ///< The content between first and last.
  };

  /// @param source Must outlive this object.
  /// @param file   Number of the file in the run.
  /// @param known  The known tags of the run.
  ChunkReader(const ByteSource* source, std::uint64_t begin, std::uint64_t end, std::uint32_t file,
              const SeriesBatch& known, int threads);
  /// Waits for the threads, which finish their current chunks.
  ~ChunkReader();

  /// @return the next chunk in order, valid until the next call; null at the end.
  Chunk* next();

 private:
  // Threads write to neighboring slots at every event, so slots must not share a cache line.
  static constexpr std::size_t kCacheLinesBytes = 128;
  struct alignas(kCacheLinesBytes) Slot {
    Chunk chunk;
    bool isDone = false;
  };

  void help();
  bool canTake() const;
  void take(std::unique_lock<std::mutex>* lock);
  void read(std::size_t number, Chunk* chunk) const;
  Slot& slotOf(std::size_t number) { return slots_[number % slots_.size()]; }

  const ByteSource* const source_;
  const std::uint64_t begin_;
  const std::uint64_t end_;
  const std::uint32_t file_;
  const std::size_t chunks_;
  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t taken_ = 0;  // chunks that a thread reads or has read
  std::size_t given_ = 0;  // chunks that the caller has finished
  bool isGiven_ = false;   // the caller is using one
  bool isStopped_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace steptape::detail::log
