// SPDX-License-Identifier: Apache-2.0
#include "log/writer/kill_proof_log.h"

#include <cstring>
#include <new>
#include <sys/mman.h>
#include <utility>

#include "events/framing/record_buffer.h"

namespace steptape::detail::log {
namespace {

std::uint64_t slotOffset(std::uint32_t number) {
  return process::BoxHeader::kBytes + std::uint64_t{number} * kRingSlotBytes;
}

/// Says what a failure of the box means for the user.
Status unprotected(const Status& why) {
  return {why.code(), why.message() +
                          "; a process that is killed may now lose the scalars of the last second. "
                          "STEPTAPE_BLACK_BOX names another folder, or `off`"};
}

}  // namespace

void KillProofLog::open(const TickTimes& times) {
  base::MutexLock lock(mutex_);
  hasProblem_ = false;
  if (process::boxFolder().empty()) {
    return;  // wanted, or a system without such a file system
  }
  try {
    Status status;
    if (!isStillRight()) {
      removeFiles();
      status = create();
    }
    if (status.ok()) {
      status = begin(times);
    }
    if (status.ok()) {
      open_.store(true, std::memory_order_release);
      return;
    }
    noteProblem(status);
  } catch (...) {
    removeFiles();
    throw;
  }
  removeFiles();
}

bool KillProofLog::isStillRight() const {
  return box_ != nullptr && box_->name().folder == process::boxFolder() && box_->isOurs() &&
         !rings_->isRemoved() && !names_->isRemoved() && !log_->isRemoved();
}

Status KillProofLog::create() {
  Status why;
  box_ = process::ProcessBox::acquire(&why);
  if (box_ == nullptr) {
    return why;
  }
  for (const auto& [file, part] :
       {std::pair{&rings_, "rings"}, {&names_, "names"}, {&log_, "log"}}) {
    *file = box_->addFile(part, &why);
    if (*file == nullptr) {
      return why;
    }
  }
  return moveRings();
}

/// Starts the log. Entries of rings need the times, even if the process dies before it logs
/// anything else.
Status KillProofLog::begin(const TickTimes& times) {
  times_ = times;
  LogRecordBuilder first(times);
  const std::string_view record = first.finish();
  logBytes_ = firstBytes_ = record.size();
  const int error = log_->append(record);
  return error == 0 ? Status() : process::boxError("write to", log_->path(), error);
}

/// Gives the memory of threads that have ended back, as far as no other thread's comes after it.
void KillProofLog::freeLastSlots() {
  while (!slots_.empty() && !slots_.back().isUsed) {
    ::munmap(slots_.back().memory, kRingSlotBytes);
    slots_.pop_back();
  }
}

Status KillProofLog::moveRings() {
  // Nobody logs now, so a ring holds still. Other threads have its address: the new pages take the
  // place of the old ones.
  freeLastSlots();
  std::uint32_t number = 0;
  for (const Slot& slot : slots_) {
    if (const int error = rings_->replaceMapping(slotOffset(number), kRingSlotBytes, slot.memory)) {
      return process::boxError("map", rings_->path(), error);
    }
    ++number;
  }
  return {};
}

void KillProofLog::close() {
  base::MutexLock lock(mutex_);
  if (isOpen()) {
    open_.store(false, std::memory_order_release);
    if (empty() != 0) {
      removeFiles();
    }
  }
}

/// Leaves a box that names no run, and that the next writer can use.
/// @return 0 or an errno.
int KillProofLog::empty() {
  // The names first: a box without any needs no recovery.
  int error = names_->cutTo(process::BoxHeader::kBytes);
  if (error == 0) {
    error = log_->cutTo(process::BoxHeader::kBytes);
  }
  if (error == 0) {
    freeLastSlots();
    error = rings_->cutTo(slotOffset(static_cast<std::uint32_t>(slots_.size())));
  }
  return error;
}

void KillProofLog::remove() {
  base::MutexLock lock(mutex_);
  removeFiles();
}

void KillProofLog::removeFiles() {
  open_.store(false, std::memory_order_release);
  // The log first: without it, a process that finds the rest has nothing to do.
  for (std::unique_ptr<process::BoxFile>* const file : {&log_, &names_, &rings_}) {
    file->reset();
  }
  box_.reset();
}

/// Only the first problem: each thread without room would otherwise bring the same.
void KillProofLog::noteProblem(const Status& status) {
  if (!std::exchange(hasProblem_, true)) {
    problem_ = unprotected(status);
  }
}

void KillProofLog::fail(const Status& status) {
  removeFiles();
  noteProblem(status);
}

Status KillProofLog::takeProblem() {
  base::MutexLock lock(mutex_);
  return std::exchange(problem_, Status());
}

std::shared_ptr<OwnedProducer> KillProofLog::makeProducer() {
  std::uint32_t number = 0;
  Producer* const memory = takeSlot(&number);
  if (memory == nullptr) {
    return std::make_shared<OwnedProducer>(
        OwnedProducer::Memory(new Producer, [](Producer* producer) { delete producer; }));
  }
  OwnedProducer::Memory owned(memory, [this, number](Producer*) { freeSlot(number); });
  return std::make_shared<OwnedProducer>(std::move(owned), number);
}

Producer* KillProofLog::takeSlot(std::uint32_t* number) {
  base::MutexLock lock(mutex_);
  if (!isOpen()) {
    return nullptr;
  }
  for (Slot& slot : slots_) {
    if (!slot.isUsed) {
      slot.isUsed = true;
      *number = static_cast<std::uint32_t>(&slot - slots_.data());
      // It goes on where the ring of the thread before ended: its cursors in the log stay right.
      return new (slot.memory) Producer(slot.memory->ring.safe());
    }
  }
  slots_.emplace_back();
  *number = static_cast<std::uint32_t>(slots_.size() - 1);
  int error = 0;
  void* const pages = rings_->map(slotOffset(*number), kRingSlotBytes, &error);
  if (pages == nullptr) {
    slots_.pop_back();
    noteProblem(process::boxError("reserve memory for a thread in", rings_->path(), error));
    return nullptr;
  }
  slots_.back() = {new (pages) Producer, true};
  return slots_.back().memory;
}

void KillProofLog::freeSlot(std::uint32_t number) {
  base::MutexLock lock(mutex_);
  slots_[number].isUsed = false;
}

void KillProofLog::addName(const NameRecord& record) {
  if (!isOpen()) {
    return;
  }
  std::string payload;
  appendNameRecord(record, &payload);
  events::RecordBuffer framed;
  framed.append(payload);
  base::MutexLock lock(mutex_);
  if (names_ == nullptr) {
    return;
  }
  if (const int error = names_->append(framed.bytes())) {
    fail(process::boxError("write to", names_->path(), error));
  }
}

void KillProofLog::append(std::string_view record) {
  base::MutexLock lock(mutex_);
  if (log_ == nullptr) {
    return;
  }
  if (const int error = log_->append(record)) {
    fail(process::boxError("write to", log_->path(), error));
    return;
  }
  logBytes_ += record.size();
}

void KillProofLog::replaceLog(std::string_view record) {
  base::MutexLock lock(mutex_);
  if (log_ == nullptr) {
    return;
  }
  Status why;
  std::unique_ptr<process::BoxFile> next = box_->addFile("log", &why, "next");
  int error = next == nullptr ? 0 : next->append(record);
  if (next != nullptr && error == 0) {
    error = next->takePlaceOf(log_.get());
  }
  if (next == nullptr || error != 0) {
    // The old log is still right. It only grows; when there is no more room, append() fails.
    firstBytes_ = logBytes_;
    return;
  }
  log_ = std::move(next);
  firstBytes_ = record.size();
  logBytes_ = firstBytes_;
}

}  // namespace steptape::detail::log
