// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape::detail::process {

/// Shows other processes, also those of other machines, that this one writes in a directory.
///
/// The file `.steptape_owner` in the directory names the process. It is held in two ways:
///
/// - By a lock, which the kernel frees however the process ends. It tells processes of one machine,
///   and of several where the file system passes locks on.
/// - By the time of its last change, which a thread renews every few seconds. Where another machine
///   wrote the file, a free lock means nothing: the next process watches the time until it knows.
///
/// Times are compared with earlier ones of the same file, so that the clocks of the machines do not
/// matter. All of this process have one lock for a directory. A child made by fork() does not have
/// it.
///
/// @threads Thread-safe.
class STEPTAPE_EXPORT DirectoryLock {
 public:
  struct Times {
    std::chrono::milliseconds renewal{5'000};
    /// How long the file of another machine may be unchanged while its process lives.
    std::chrono::milliseconds staleAfter{20'000};
  };
  struct Result {
    std::shared_ptr<DirectoryLock> lock;
    /// Who has it: "process 123 on node7 of job 41 of Slurm, user 1000"; empty: nobody else.
    std::string holder;
    /// Why there is no lock although nobody has it: the file cannot be written.
    Status problem;
  };

  /// Takes the lock of `directory`, which must exist.
  ///
  /// @param suffix Appended to the file's name: locks with different suffixes are different ones.
  /// @cost Some system calls, and up to `times.staleAfter` if the last owner was on another machine
  ///       and did not release it.
  static Result acquire(const std::string& directory, const std::string& suffix,
                        const Times& times);
  static Result acquire(const std::string& directory, const std::string& suffix = {}) {
    return acquire(directory, suffix, Times());
  }

  /// What the file of a lock tells.
  struct Sign {
    std::string owner;             ///< As Result::holder.
    std::chrono::nanoseconds age;  ///< Since its last renewal, by the clocks of both machines.

    /// Returns whether its process lives, as far as the age tells.
    bool isFresh(const Times& times) const { return age <= times.staleAfter; }
  };
  /// Looks for a lock, without taking it and without waiting.
  ///
  /// @return nothing if nobody has it. A process that was killed leaves its file behind.
  static std::optional<Sign> look(const std::string& directory, const std::string& suffix = {});

  /// Releases the lock and removes the file.
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  struct Registry;
  struct Held;
  explicit DirectoryLock(std::shared_ptr<Held> held) : held_(std::move(held)) {}

  const std::shared_ptr<Held> held_;
};

}  // namespace steptape::detail::process
