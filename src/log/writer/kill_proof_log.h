// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "steptape/base/status.h"

#include "base/mutex.h"
#include "log/writer/box_records.h"
#include "log/writer/producer.h"
#include "process/blackbox/process_box.h"

namespace steptape::detail::log {

/// Keeps what the process has logged in its black box until the files have it, so that a process
/// that is killed loses nothing.
///
/// Three files: `.rings` is the memory of the producers' rings; `.names` says what the numbers in
/// their entries mean; `.log` holds the encoded bytes that wait to be written, with the cursors up
/// to which entries of the rings are among them. Bytes are in the log before they are in an event
/// file. So at every moment, files, log and rings together hold everything once, and recoverRuns()
/// can tell what is missing where.
///
/// Without a box, or after its file system failed, everything works in private memory.
///
/// @threads Thread-safe, except append() and replaceLog(): only for the backend thread.
/// @source  docs/black_box_format.md
class KillProofLog {
 public:
  KillProofLog() = default;
  KillProofLog(const KillProofLog&) = delete;
  KillProofLog& operator=(const KillProofLog&) = delete;

  /// Begins to keep what writers log, in the box of the last time if it is still the right one,
  /// else in a new one, to which the rings move. REQUIRES: no writer exists.
  void open(const TickTimes& times);
  /// Ends that, and empties the box. REQUIRES: everything is written.
  void close();
  /// Removes the box. REQUIRES: not open.
  void remove();
  bool isOpen() const { return open_.load(std::memory_order_acquire); }

  /// Returns the first reason since open() why something is not protected, once; success if all is.
  Status takeProblem();

  /// Makes the memory of a thread: in the box if it is open and has room, else private.
  std::shared_ptr<OwnedProducer> makeProducer();

  /// Returns a number for a new stream.
  std::uint32_t nextStream() { return lastStream_.fetch_add(1, std::memory_order_relaxed) + 1; }
  void addName(const NameRecord& record);

  /// Adds a framed record to the log. If the file system refuses, the box is removed.
  void append(std::string_view record);
  /// Returns whether most of the log is out of date.
  bool shouldReplaceLog() const { return isOpen() && logBytes_ > kSmallLog + 2 * firstBytes_; }
  /// Replaces the whole log by one record that says everything.
  void replaceLog(std::string_view record);

  const TickTimes& times() const { return times_; }
  void setTimes(const TickTimes& times) { times_ = times; }

 private:
  static constexpr std::uint64_t kSmallLog = std::uint64_t{256} << 10;
  struct Slot {
    Producer* memory = nullptr;
    bool isUsed = false;
  };

  void noteProblem(const Status& status) STEPTAPE_REQUIRES(mutex_);
  void fail(const Status& status) STEPTAPE_REQUIRES(mutex_);
  void removeFiles() STEPTAPE_REQUIRES(mutex_);
  bool isStillRight() const STEPTAPE_REQUIRES(mutex_);
  Status create() STEPTAPE_REQUIRES(mutex_);
  Status begin(const TickTimes& times) STEPTAPE_REQUIRES(mutex_);
  int empty() STEPTAPE_REQUIRES(mutex_);
  void freeLastSlots() STEPTAPE_REQUIRES(mutex_);
  Status moveRings() STEPTAPE_REQUIRES(mutex_);
  Producer* takeSlot(std::uint32_t* number);
  void freeSlot(std::uint32_t number);

  std::atomic<bool> open_{false};
  std::atomic<std::uint32_t> lastStream_{0};
  base::Mutex mutex_;
  std::shared_ptr<process::ProcessBox> box_ STEPTAPE_GUARDED_BY(mutex_);
  std::unique_ptr<process::BoxFile> rings_ STEPTAPE_GUARDED_BY(mutex_);
  std::unique_ptr<process::BoxFile> names_ STEPTAPE_GUARDED_BY(mutex_);
  std::unique_ptr<process::BoxFile> log_ STEPTAPE_GUARDED_BY(mutex_);
  std::vector<Slot> slots_ STEPTAPE_GUARDED_BY(mutex_);
  Status problem_ STEPTAPE_GUARDED_BY(mutex_);
  bool hasProblem_ STEPTAPE_GUARDED_BY(mutex_) = false;  // since open()

  // The backend thread's own.
  std::uint64_t logBytes_ = 0;    // of records in the log
  std::uint64_t firstBytes_ = 0;  // of its first record
  TickTimes times_;
};

/// Bytes of a ring's slot in the file `.rings`.
constexpr std::size_t kRingSlotBytes = (sizeof(Producer) + 4095) / 4096 * 4096;
static_assert(kRingSlotBytes == 282624, "the layout is a file format");

}  // namespace steptape::detail::log
