// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "steptape/base/export.h"

namespace steptape {

/// A block of memory that all ranks of one node share, each at an address of its own.
///
/// Made by Communicator::allocateNodeMemory(). The rules for threads apply between ranks: separate
/// a write from a read on another rank by std::atomic flags in the block or by a NodeBarrier. With
/// n ranks on the node, the r-th of n equal parts lies in the NUMA domain of local rank r.
///
/// The block lives until the last rank destroys its object; destruction is not collective.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT NodeMemory {
 public:
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;
  virtual ~NodeMemory();

  /// Returns the block: page-aligned, filled with zeros at first.
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// Throws if a rank of the node has ended or has destroyed its object. For loops that wait for
  /// another rank's write. A rank may end right after it has written, so look once more for the
  /// write before you give up.
  ///
  /// @throws Error(kDeadlineExceeded) naming the rank.
  /// @cost   One system call per rank: call it every few milliseconds.
  virtual void checkPeers() const;

  /// Reports that a wait of the caller's own has given up on a rank. A communicator over MPI then
  /// ends the job with the reason `why` where MPI_Finalize would wait for that rank.
  virtual void reportGivenUp(const std::string& why);

  /// Returns a name for messages, such as "rank 3 (node7)".
  virtual std::string nameOfLocalRank(int localRank) const;

  /// Returns the communicator's stall warning time as it was at allocation, for waits of the
  /// caller's own; 0: never warn. warnOfStall() passes a warning to the communicator's listener.
  std::chrono::milliseconds stallWarningAfter() const { return stallWarningAfter_; }
  void warnOfStall(const std::string& warning) const { stallListener_(warning); }

 protected:
  NodeMemory(std::byte* data, std::size_t size) : data_(data), size_(size) {}

 private:
  friend class Communicator;

  std::byte* data_;
  std::size_t size_;
  std::chrono::milliseconds stallWarningAfter_{0};
  std::function<void(const std::string&)> stallListener_;  // Set where there is a time.
};

}  // namespace steptape
