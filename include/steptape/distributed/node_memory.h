// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

 protected:
  NodeMemory(std::byte* data, std::size_t size) : data_(data), size_(size) {}

 private:
  std::byte* data_;
  std::size_t size_;
};

}  // namespace steptape
