// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "steptape/base/export.h"

namespace steptape {

/// A block of memory that all ranks of one node see, each at an address of its own.
///
/// Made by Communicator::allocateNodeMemory(). What one rank writes another sees, under the rules
/// for threads: put std::atomic flags into the block, or a NodeBarrier, between write and read.
/// Of n ranks on the node, the r-th of n equal parts lies in the NUMA domain of local rank r.
///
/// The block lives as long as one rank's object does; destroying it is not a collective.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT NodeMemory {
 public:
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;
  virtual ~NodeMemory();

  /// Zeros at first, aligned to a page.
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// For loops that wait for another rank's write: throws if a rank of the node has ended or has
  /// let go of the block. A rank may do so right after it has written, so look once more for what
  /// is waited for before giving up.
  ///
  /// @throws Error(kDeadlineExceeded) naming the rank.
  /// @cost   One system call per rank: call it every few milliseconds.
  virtual void checkPeers() const;

  /// To be called by a wait of the caller's own that gives a rank up: a communicator over MPI then
  /// ends the job with this reason where MPI_Finalize would wait for that rank.
  virtual void reportGivenUp(const std::string& why);

  /// For messages, such as "rank 3 (node7)".
  virtual std::string nameOfLocalRank(int localRank) const;

  /// The communicator's warning, as it was when the memory was allocated, for waits of the caller's
  /// own: after how long to warn, 0 for never, and whom to tell.
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
