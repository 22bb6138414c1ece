// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "log/writer/scalar_ring.h"
#include "process/blackbox/box_folder.h"

namespace steptape::detail::log {

/// Room for the bytes of rings, of which only those that are used take memory.
class RingImage {
 public:
  /// Makes room for `bytes`, which may be anything.
  char* begin(std::size_t bytes) {
    if (bytes > capacity_) {
      bytes_.reset(new char[bytes]);  // not std::make_unique, which would store zeros
      capacity_ = bytes;
    }
    size_ = bytes;
    return bytes_.get();
  }
  std::string_view bytes() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
};

/// The rings of a process that may live, copied while its threads and its backend use them.
///
/// A ring keeps an entry until the log has it, or an event file does. So whoever reads the log
/// between readHeads() and copy() has each entry: in the log, in a file, or in the copy.
///
/// @threads Not thread-safe: one thread at a time.
class LivingRings {
 public:
  /// Where each ring stands, by slot.
  using Heads = std::vector<ScalarRing::Image::Head>;

  /// @return false if the box has no rings that this process can read.
  bool open(const process::BoxName& box);

  /// Reads where the rings stand. They may move meanwhile.
  /// @return false if the file does not hold them any more.
  bool readHeads(Heads* heads) const;

  /// Copies the entries of each ring that are not safe elsewhere, up to its tail now, into the form
  /// that DeadProcess::decode() takes.
  ///
  /// @param isAlive Whether the process may change the rings.
  /// @param before As of readHeads(). Set to where the rings stood when their tails were read.
  /// @param image  Gets them; what DeadProcess does not need is anything.
  /// @return false if entries became safe since `before`, or were discarded or overwritten while
  ///         they were copied: try again.
  bool copy(bool isAlive, Heads* before, RingImage* image) const;

  /// Returns whether the entries that were copied were still there: the ring has not given up their
  /// places, or has not come round to them yet.
  /// @param copied Where it stood before.
  static bool keepsEntries(const ScalarRing::Image::Head& copied,
                           const ScalarRing::Image::Head& now);

 private:
  bool copyWords(std::size_t slot, const ScalarRing::Image::Head& head, char* image) const;
  bool read(std::uint64_t offset, char* data, std::size_t size) const;

  base::FileDescriptor file_;
};

}  // namespace steptape::detail::log
