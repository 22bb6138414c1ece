// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "steptape/log/run_reader.h"

#include "log/writer/unwritten_values.h"
#include "server/store/directory_watch.h"
#include "server/store/followed_run.h"
#include "server/store/served_run.h"

namespace steptape::detail::server {

/// A log directory, and what stands before the names of its runs.
struct NamedDirectory {
  std::string name;  ///< Empty: nothing.
  std::string path;
};

struct LogStoreOptions {
  std::vector<NamedDirectory> directories;
  /// The time between two looks at directories that do not tell of their changes.
  std::chrono::milliseconds reload{5000};
  bool once = false;  ///< Reads everything once, and then follows nothing.
  int threads = 2;    ///< That read. REQUIRES: at least 1.
  /// Gets one line for each thing that somebody who watches the server may want to know. Called on
  /// the threads of the store; may be empty.
  std::function<void(const std::string& line)> report;
};

/// All runs in and below log directories: reads them on its own threads, newest first, and follows
/// them. Never writes.
///
/// @threads Thread-safe.
class LogStore {
 public:
  using Runs = std::map<std::string, std::shared_ptr<const ServedRun>>;

  /// Starts reading.
  explicit LogStore(LogStoreOptions options);
  /// Waits for the threads, which finish what they are reading.
  ~LogStore();

  /// Brings in what processes have logged and not yet written, unless that was done a moment ago.
  /// Waits for it, but not long: whoever reads much data first has to read that.
  void freshen();

  /// Returns the runs by name, as of now; hold the result while you look at them. Those that are
  /// being read have the points so far.
  std::shared_ptr<const Runs> runs() const;

  /// Returns the log directories, as text.
  const std::string& location() const { return location_; }

 private:
  void follow();
  void readWhatChanged();
  void waitForChanges();
  void take(const DirectoryWatch::Changes& changes);
  void list();
  void listOne(const NamedDirectory& directory,
               std::map<std::string, std::unique_ptr<FollowedRun>>* kept,
               std::vector<std::string>* directories);
  void watchDirectories(const std::vector<std::string>& directories);
  void readAll();
  void read(FollowedRun* entry);
  void bringTails();
  bool tryToBringTails();
  FollowedRun* entryOf(std::size_t number, const std::string& runDirectory);
  std::unique_ptr<FollowedRun> makeEntry(const std::string& name, RunFiles run) const;
  void publish(const FollowedRun& entry);
  void publishAll();
  void report(const std::string& line) const;
  void reportOnce(const std::string& path, const std::string& problem);

  const LogStoreOptions options_;
  std::string location_;
  DirectoryWatch watch_;
  std::map<std::string, std::unique_ptr<FollowedRun>>
      entries_;                                  // by name; of the thread that follows
  std::map<std::string, std::string> problems_;  // reported, by directory
  bool needsListing_ = true;
  bool polls_ = false;
  bool lacksDirectory_ = false;
  std::chrono::steady_clock::time_point nextListing_;
  std::chrono::steady_clock::time_point lastListing_;
  std::chrono::steady_clock::time_point lastRound_;

  std::vector<std::unique_ptr<log::UnwrittenValues>> unwritten_;  // of each directory

  mutable std::mutex mutex_;
  std::condition_variable freshened_;
  bool wantsTails_ = false;       // guarded by mutex_, as the next two
  std::uint64_t tailRounds_ = 0;  // that are done
  std::chrono::steady_clock::time_point lastTails_;
  std::shared_ptr<const Runs> runs_;  // guarded by mutex_; never changes once it is shared

  std::atomic<bool> isReading_{false};
  std::atomic<bool> ends_{false};
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace steptape::detail::server
