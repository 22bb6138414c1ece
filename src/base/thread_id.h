// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace steptape::detail::base {

/// Returns the operating system's number of the calling thread.
///
/// @threads Thread-safe, and safe in a signal handler.
/// @cost    A system call.
inline std::uint64_t threadId() noexcept {
  // Wheels are built on glibc 2.28, which has no gettid().
  return static_cast<std::uint64_t>(::syscall(SYS_gettid));
}

}  // namespace steptape::detail::base
