// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"

#include "base/mutex.h"

/// Of the compiler: its address identifies the program or shared library that contains the caller.
/// Without "C", since GCC declares it so where a unit has static objects.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern __attribute__((visibility("hidden"))) void* __dso_handle;

namespace steptape::detail::base {

/// The mutexes that fork() locks, in this order. A thread that holds one may lock only later ones.
/// In the parent and in the child, the last one locked is the first one unlocked.
enum class ForkOrder {
  kWriters,         ///< The background thread of all writers: `log/writer`.
  kState,           ///< The state of the process: `process/blackbox`.
  kDirectoryLocks,  ///< The directories in which the process writes: `process/blackbox`.
  kPresence,        ///< The ranks of this process: `ranks/communicator`.
  kBoxes,           ///< The black boxes, which writers and state use: `process/blackbox`.
};

/// What one user of fork() handlers needs: a mutex that no thread holds while the process is
/// copied, so that the child finds it free and what it guards consistent.
struct ForkHandlers {
  /// Returns the mutex; null if there is none yet.
  Mutex* (*mutex)();
  /// Called in the child, with the mutex locked; null if there is nothing to do.
  void (*inChild)();
};

/// Makes each later fork() of this process call `handlers`, whenever others are added, until the
/// library that contains them is unloaded. Does nothing if it calls them already.
///
/// A process may contain several copies of their library, for example one in a plugin: at most four
/// have handlers of one place.
///
/// @param handlers Must have static storage.
/// @param library  That which contains `handlers`: leave it to the default.
/// @threads Thread-safe, also while another thread is in fork().
STEPTAPE_EXPORT void addForkHandlers(ForkOrder place, const ForkHandlers& handlers,
                                     void* library = &__dso_handle);

}  // namespace steptape::detail::base
