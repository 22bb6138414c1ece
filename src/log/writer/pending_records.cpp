// SPDX-License-Identifier: Apache-2.0
#include "log/writer/pending_records.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/little_endian.h"
#include "events/framing/record_format.h"
#include "events/messages/scalar_event_view.h"
#include "log/writer/file_head.h"

namespace steptape::detail::log {
namespace {

constexpr auto kFirstRetry = std::chrono::milliseconds(100);
constexpr auto kLastRetry = std::chrono::milliseconds(5000);

/// Whether an event holds nothing but scalars, and how many values it counts as.
bool countsAsScalars(std::string_view payload, std::uint64_t* values) {
  events::ScalarEventView event(payload);
  events::ScalarView scalar;
  while (event.next(&scalar)) {
    ++*values;
  }
  const bool isScalars = event.isWhole();
  *values = std::max<std::uint64_t>(*values, 1);
  return isScalars;
}

}  // namespace

std::uint64_t PendingRecords::scalars() const {
  return std::accumulate(chunks_.begin(), chunks_.end(), bufferScalars_,
                         [](std::uint64_t sum, const Chunk& chunk) { return sum + chunk.scalars; });
}

void PendingRecords::addCurrent(EventBuilder* event) {
  const std::size_t scalars = event->size();
  const bool isFirst = bytes() == 0;
  event->finish(&buffer_);
  noteAdded(isFirst);
  bufferScalars_ += scalars;
  addedScalars_ += scalars;
}

void PendingRecords::add(const event::Event& event, std::size_t values) {
  const bool isFirst = bytes() == 0;
  appendRecord(event, &buffer_);
  noteAdded(isFirst);
  bufferValues_ += values;
}

void PendingRecords::noteAdded(bool isFirst) {
  if (isFirst) {
    oldest_ = std::chrono::steady_clock::now();
  }
}

void PendingRecords::seal() {
  if (buffer_.bytes().empty()) {
    return;
  }
  Chunk& chunk = chunks_.emplace_back();
  chunk = {buffer_.take(), std::exchange(bufferScalars_, 0), std::exchange(bufferValues_, 0)};
  chunkBytes_ += chunk.bytes.size();
}

Status PendingRecords::writeTo(EventFile* file, RunCounters* counters) {
  while (!chunks_.empty()) {
    Status status = file->append(chunks_.front().bytes);
    if (!status.ok()) {
      return status;
    }
    counters->bytesWritten.add(chunks_.front().bytes.size());
    chunkBytes_ -= chunks_.front().bytes.size();
    chunks_.pop_front();
  }
  Status status = file->append(buffer_.bytes());
  if (status.ok()) {
    counters->bytesWritten.add(buffer_.bytes().size());
    buffer_.clear();
    bufferScalars_ = 0;
    bufferValues_ = 0;
  }
  return status;
}

void PendingRecords::keepWholeRecords(EventFile* file) {
  seal();
  Chunk& chunk = chunks_.front();
  std::string_view rest(chunk.bytes);
  while (rest.size() >= events::kFramingBytes) {
    const std::uint64_t length = base::loadLittleEndian64(rest.data());
    if (file->partialBytes() < events::kFramingBytes + length) {
      return;
    }
    std::uint64_t values = 0;
    std::uint64_t& counter = countsAsScalars(rest.substr(events::kHeaderBytes, length), &values)
                                 ? chunk.scalars
                                 : chunk.values;
    counter -= std::min(counter, values);
    file->keepPartial(events::kFramingBytes + length);
    rest.remove_prefix(events::kFramingBytes + length);
  }
}

bool PendingRecords::dropOldest(const EventFile& file, LossLog* losses) {
  if (chunks_.empty()) {
    return false;
  }
  if (file.hasPartialAppend() && chunks_.size() == 1) {
    seal();
  }
  const auto oldest = chunks_.begin() + (file.hasPartialAppend() ? 1 : 0);
  if (oldest == chunks_.end()) {
    return false;
  }
  losses->countDropped(oldest->scalars, oldest->values);
  chunkBytes_ -= oldest->bytes.size();
  chunks_.erase(oldest);
  return true;
}

void PendingRecords::dropAll(LossLog* losses) {
  for (const Chunk& chunk : chunks_) {
    losses->countDropped(chunk.scalars, chunk.values);
  }
  losses->countDropped(std::exchange(bufferScalars_, 0), std::exchange(bufferValues_, 0));
  buffer_.clear();
  chunks_.clear();
  chunkBytes_ = 0;
  failures_ = 0;
}

bool PendingRecords::noteFailure(TimePoint now) {
  const int doublings = std::min(failures_, 6);
  retryAt_ = now + std::min<std::chrono::milliseconds>(kFirstRetry * (1 << doublings), kLastRetry);
  return failures_++ == 0;
}

void PendingRecords::copyTo(std::string* out, std::uint64_t skip) const {
  const auto append = [&](std::string_view bytes) {
    const std::size_t skipped = std::min<std::size_t>(skip, bytes.size());
    out->append(bytes.substr(skipped));
    skip -= skipped;
  };
  for (const Chunk& chunk : chunks_) {
    append(chunk.bytes);
  }
  append(buffer_.bytes());
}

}  // namespace steptape::detail::log
