// SPDX-License-Identifier: Apache-2.0
#include "log/reader/chunk_reader.h"

#include <algorithm>
#include <exception>

#include "steptape/events/record_reader.h"

namespace steptape::detail::log {
namespace {

// Long enough to amortize finding the first record and passing the chunk on, and short enough for
// its points to stay in the cache until they are appended to the columns.
constexpr std::uint64_t kChunkBytes = 1 << 20;
constexpr std::uint64_t kNotRead = ~std::uint64_t{0};  // no event starts there

std::size_t chunksIn(std::uint64_t bytes) {
  return static_cast<std::size_t>((bytes + kChunkBytes - 1) / kChunkBytes);
}

}  // namespace

ChunkReader::ChunkReader(const ByteSource* source, std::uint64_t begin, std::uint64_t end,
                         std::uint32_t file, const SeriesBatch& known, int threads)
    : source_(source),
      begin_(begin),
      end_(end),
      file_(file),
      chunks_(chunksIn(end - begin)),
      slots_(3 * static_cast<std::size_t>(threads)) {
  for (Slot& slot : slots_) {
    slot.chunk.batch.learnFrom(known);
  }
  try {
    for (int i = 1; i < threads; ++i) {
      helpers_.emplace_back([this] { help(); });
    }
  } catch (const std::exception&) {
    // The operating system has no more threads, or no memory: the existing threads do the work.
  }
}

ChunkReader::~ChunkReader() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    isStopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& helper : helpers_) {
    helper.join();
  }
}

ChunkReader::Chunk* ChunkReader::next() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (isGiven_) {
    slotOf(given_).isDone = false;
    ++given_;
    isGiven_ = false;
    changed_.notify_all();
  }
  if (given_ == chunks_) {
    return nullptr;
  }
  Slot& slot = slotOf(given_);
  while (!slot.isDone) {
    if (canTake()) {
      take(&lock);
    } else {
      changed_.wait(lock);
    }
  }
  isGiven_ = true;
  return &slot.chunk;
}

void ChunkReader::help() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!isStopped_ && taken_ < chunks_) {
    if (canTake()) {
      take(&lock);
    } else {
      changed_.wait(lock);
    }
  }
}

bool ChunkReader::canTake() const {
  return taken_ < std::min(chunks_, given_ + slots_.size());
}

/// Reads the next free chunk, without the lock.
void ChunkReader::take(std::unique_lock<std::mutex>* lock) {
  const std::size_t number = taken_++;
  Slot& slot = slotOf(number);
  lock->unlock();
  try {
    read(number, &slot.chunk);
  } catch (const std::exception&) {
    // Out of memory: the caller reads the chunk in order, and throws if there is no memory then
    // either.
    slot.chunk.first = kNotRead;
    slot.chunk.batch.reset();
  }
  lock->lock();
  slot.isDone = true;
  changed_.notify_all();
}

void ChunkReader::read(std::size_t number, Chunk* chunk) const {
  const std::uint64_t begin = begin_ + number * kChunkBytes;
  chunk->end = std::min(begin + kChunkBytes, end_);
  chunk->batch.clear();
  RecordReader reader(source_);
  if (number > 0 && reader.findRecord(begin, chunk->end) != ReadOutcome::kRecord) {
    chunk->first = chunk->last = chunk->end;
    return;
  }
  if (number == 0) {
    reader.seek(begin);
  }
  chunk->first = reader.offset();
  std::uint64_t last = chunk->first;
  for (std::string_view payload; last < chunk->end && reader.next(&payload) == ReadOutcome::kRecord;
       last = reader.offset()) {
    if (!chunk->batch.addScalars(payload, last, file_) &&
        chunk->batch.add(payload, {0, 0, last, 0, file_, 0}).kind != EventMeaning::Kind::kContent) {
      break;
    }
  }
  chunk->last = last;
}

}  // namespace steptape::detail::log
