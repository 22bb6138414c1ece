// SPDX-License-Identifier: Apache-2.0
#include "log/writer/living_rings.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/stat.h>

#include "log/writer/kill_proof_log.h"
#include "process/blackbox/box_file.h"
#include "process/blackbox/box_header.h"

namespace steptape::detail::log {
namespace {

using Head = ScalarRing::Image::Head;

std::uint64_t offsetOfSlot(std::size_t slot) {
  return process::BoxHeader::kBytes + slot * kRingSlotBytes;
}

/// Lets no later read of the rings come before an earlier one: nobody promises that of pread(2).
void keepOrderOfReads() noexcept {
#if defined(__SANITIZE_THREAD__)
  asm volatile("" : : : "memory");  // ThreadSanitizer does not know fences
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

}  // namespace

bool LivingRings::keepsEntries(const Head& copied, const Head& now) {
  // The producer stores the words of an entry before it moves the tail.
  constexpr std::uint64_t kUnpublished = ScalarRing::batchWords(ScalarRing::kMaxBatch);
  return now.discardedTo == copied.discardedTo &&
         (now.safe == copied.safe || now.tail + kUnpublished <= copied.safe + ScalarRing::kWords);
}

bool LivingRings::open(const process::BoxName& box) {
  return process::openBoxFile(box, "rings", &file_).ok();
}

bool LivingRings::read(std::uint64_t offset, char* data, std::size_t size) const {
  return process::readBytesAt(file_.number(), offset, data, size) == static_cast<ssize_t>(size);
}

bool LivingRings::readHeads(Heads* heads) const {
  struct stat status {};
  if (::fstat(file_.number(), &status) != 0) {
    return false;
  }
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  heads->resize(bytes < offsetOfSlot(0) ? 0 : (bytes - offsetOfSlot(0)) / kRingSlotBytes);
  for (std::size_t slot = 0; slot < heads->size(); ++slot) {
    std::array<char, ScalarRing::Image::kHeadBytes> head{};
    if (!read(offsetOfSlot(slot), head.data(), head.size())) {
      return false;
    }
    (*heads)[slot] = ScalarRing::Image::headOf(head.data());
  }
  keepOrderOfReads();
  return true;
}

bool LivingRings::copy(bool isAlive, Heads* before, RingImage* image) const {
  Heads now;
  if (!readHeads(&now) || now.size() != before->size()) {
    return false;
  }
  for (std::size_t slot = 0; slot < now.size(); ++slot) {
    // If more is safe now, the log may have been read before it had that. What was discarded, the
    // backend may still have, if it lives.
    if (now[slot].safe != (*before)[slot].safe ||
        (isAlive && now[slot].discardedTo > now[slot].safe)) {
      return false;
    }
  }
  char* const bytes = image->begin(offsetOfSlot(now.size()));
  if (!read(0, bytes, offsetOfSlot(0))) {
    return false;
  }
  for (std::size_t slot = 0; slot < now.size(); ++slot) {
    if (!copyWords(slot, now[slot], bytes + offsetOfSlot(slot))) {
      return false;
    }
  }
  keepOrderOfReads();
  Heads after;
  if (!readHeads(&after) || after.size() < now.size()) {
    return false;
  }
  for (std::size_t slot = 0; slot < now.size(); ++slot) {
    if (!keepsEntries(now[slot], after[slot])) {
      return false;
    }
  }
  *before = std::move(now);
  return true;
}

/// Copies the head, and the words from the first one that counts to the tail, to their places.
bool LivingRings::copyWords(std::size_t slot, const Head& head, char* image) const {
  using Image = ScalarRing::Image;
  Image::setHead(head, image);
  std::uint64_t index = std::max(head.safe, head.discardedTo);
  if (head.tail < index || head.tail - index > ScalarRing::kWords) {
    return false;
  }
  while (index < head.tail) {
    const std::uint64_t untilWrap = ScalarRing::kWords - index % ScalarRing::kWords;
    const std::uint64_t words = std::min(head.tail - index, untilWrap);
    const std::size_t at = Image::offsetOf(index);
    if (!read(offsetOfSlot(slot) + at, image + at, words * sizeof(std::uint64_t))) {
      return false;
    }
    index += words;
  }
  return true;
}

}  // namespace steptape::detail::log
