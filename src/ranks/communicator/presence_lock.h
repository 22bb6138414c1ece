// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::detail::ranks {

/// Shows the other ranks of a node that this rank lives, and which of them live: each rank locks
/// one byte of a shared memory object. The kernel releases the lock when the rank's process ends,
/// however it ends.
///
/// The lock is an OFD lock, which belongs to an open file description. Therefore:
///
/// - Ranks may be threads of one process, because each has a description of its own. A POSIX lock
///   belongs to the process, and is lost when the process closes any descriptor of the file.
/// - Ranks may be in containers with different pid namespaces: a pid would mean nothing there.
/// - A forked child inherits the description and would keep the lock of a killed rank. Therefore
///   fork() closes it in the child. A mapping would hold the description as well, so it is not the
///   one through which the memory is mapped. A child of clone(2), which calls no fork handlers,
///   keeps the lock until it ends or calls exec(); the other ranks then wait for their timeout.
///
/// In a forked child, every rank counts as living.
///
/// @threads Thread-compatible: const methods may run concurrently.
class PresenceLock {
 public:
  PresenceLock() = default;
  PresenceLock(const PresenceLock&) = delete;
  PresenceLock& operator=(const PresenceLock&) = delete;
  ~PresenceLock();

  /// Opens the shared memory object `name` and locks this rank's byte. Without OFD locks, every
  /// rank counts as living. REQUIRES: not called before.
  /// @return errno of the failed opening; 0 for success.
  int take(const std::string& name, int localRank);

  /// Whether the rank's process lives and has not destroyed its object.
  bool isHeldBy(int localRank) const;

 private:
  struct Registry;

  int descriptor_ = -1;
};

}  // namespace steptape::detail::ranks
