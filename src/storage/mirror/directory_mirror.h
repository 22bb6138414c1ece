// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "base/loop_thread.h"
#include "storage/s3/bucket_url.h"

namespace steptape::detail::storage {

/// Keeps a bucket as a directory is, on a thread of its own: looks at the files every `period` and
/// sends those that are new or have changed, except those that isMirrored() leaves out. Never
/// deletes an object, and never replaces one of another origin: see ObjectWriter.
///
/// What cannot be sent is tried again, after 1 s at first and at most 30 s later. Of all processes
/// with a mirror of the same directory one sends, which others see by a DirectoryLock; directories
/// below it that have a mirror of their own are left to that.
///
/// @threads Thread-safe.
class STEPTAPE_EXPORT DirectoryMirror {
 public:
  struct Options {
    std::string directory;
    std::string url;  ///< As for parseBucketUrl().
    std::chrono::milliseconds period{30'000};
    /// The longest time from SIGTERM until the process ends, if it has no other handler.
    std::chrono::milliseconds terminationTimeout{20'000};
    /// Whether an object of this name is an event file: one that the directory lacks is a problem,
    /// since it is of another run. Empty: none is, because the run goes on in another directory.
    std::function<bool(std::string_view name)> isEventFile = {};
    /// Called on SIGTERM before the last files are sent, to write what is still in memory.
    std::function<void()> beforeTermination;
    /// Gets each problem once, on a thread of this object; false if nobody hears of it.
    std::function<bool(const Status&)> onProblem;
  };
  struct Stats {
    std::uint64_t bytesSent = 0;  ///< With those that were sent again.
    std::uint64_t objects = 0;    ///< Files that the bucket has, as they were then.
    std::uint64_t lateFiles = 0;  ///< Files that it lacks or has as they were before.
    std::uint64_t lateBytes = 0;  ///< Of those, what it does not have.
  };

  /// Finds out whether mirrors can work on this machine.
  /// @throws Error(kFailedPrecondition) with what to install, if there is no libcurl.
  static void checkLibrary();

  /// Starts the thread. All of this process for one directory and URL are the same one, with the
  /// times of the first and the functions of all.
  ///
  /// @throws Error(kInvalidArgument) if the URL is none of a bucket.
  static std::shared_ptr<DirectoryMirror> of(Options options);

  /// For of().
  explicit DirectoryMirror(Options options, BucketUrl url);
  DirectoryMirror(const DirectoryMirror&) = delete;
  DirectoryMirror& operator=(const DirectoryMirror&) = delete;
  /// Gives up what is not sent.
  ~DirectoryMirror();

  /// Sends all that is in the directory now.
  ///
  /// @param mayWait Called a few times a second; ends the wait when it returns false. Null: always.
  /// @return kDeadlineExceeded, or kIoError for what is refused: with the files that the bucket
  ///         lacks, and why.
  Status drain(std::chrono::milliseconds patience, bool (*mayWait)() = nullptr);

  Stats stats() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
  base::LoopThread thread_;
};

}  // namespace steptape::detail::storage
