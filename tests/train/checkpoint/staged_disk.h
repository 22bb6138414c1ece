// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace steptape::test {

// Stages what a disk does to the thread that writes checkpoints, by functions of the C library that
// staged_disk.cpp replaces in the test program. An operation is one of their calls on that thread.
// Other threads are not affected.
//
// Not thread-safe: one thread at a time, while no checkpoint is under way.

/// The operations since the last call of disk…(), a letter for each: `o`pen, `w`rite, `s`ync,
/// `c`lose, `r`ename, `l`ink, `d`elete.
std::string diskOperations();

/// The disk works from now on.
void diskWorks();
/// Operation `first` fails with `error`, as do all after it if `forever`. Half of a write succeeds.
void diskFailsAt(std::uint64_t first, int error, bool forever);
/// The process dies by SIGKILL in the operation `first`; of a write, one half is done.
void diskKillsAt(std::uint64_t first);
/// Operation `first` does not return before releaseDisk().
void diskHangsAt(std::uint64_t first);
void releaseDisk();

}  // namespace steptape::test
