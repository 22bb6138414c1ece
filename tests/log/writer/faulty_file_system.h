// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "log/writer/file_system.h"

namespace steptape {

/// The real file system until a test breaks it.
class FaultyFileSystem final : public detail::log::FileSystem {
 public:
  FaultyFileSystem() { detail::log::FileSystem::setForTesting(this); }
  ~FaultyFileSystem() override { detail::log::FileSystem::setForTesting(nullptr); }

  /// Makes writes fail with `error`; 0 repairs the disk.
  void breakWrites(int error) { writeError_ = error; }
  /// Lets only the first bytes of each write succeed before it fails.
  void tearWrites(std::size_t bytes) { tornBytes_ = bytes; }
  void breakTruncate(int error) { truncateError_ = error; }
  void breakCreate(int error) { createError_ = error; }
  void breakRename(int error) { renameError_ = error; }
  /// Limits every write to this many bytes, as a signal or a pipe would.
  void shortenWrites(std::size_t bytes) { shortBytes_ = bytes; }
  /// Blocks writes until resume().
  void stall() { stalled_ = true; }
  void resume() { stalled_ = false; }

  int writes() const { return writes_; }
  int openDescriptors() const { return open_; }
  int mostOpenDescriptors() const { return mostOpen_; }

  int createExclusive(const std::string& path, int* descriptor) override {
    if (createError_ != 0) {
      return createError_;
    }
    return noteOpened(detail::log::FileSystem::createExclusive(path, descriptor));
  }
  int openToAppend(const std::string& path, int* descriptor) override {
    return noteOpened(detail::log::FileSystem::openToAppend(path, descriptor));
  }
  void close(int descriptor) override {
    --open_;
    detail::log::FileSystem::close(descriptor);
  }
  int write(int descriptor, std::string_view bytes, std::size_t* written) override {
    ++writes_;
    while (stalled_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    *written = 0;
    if (writeError_ != 0) {
      if (tornBytes_ > 0) {
        detail::log::FileSystem::write(descriptor, bytes.substr(0, tornBytes_), written);
      }
      return writeError_;
    }
    return detail::log::FileSystem::write(descriptor, bytes.substr(0, shortBytes_), written);
  }
  int rename(const std::string& from, const std::string& to) override {
    return renameError_ != 0 ? renameError_.load() : detail::log::FileSystem::rename(from, to);
  }
  int truncate(int descriptor, std::uint64_t size) override {
    return truncateError_ != 0 ? truncateError_.load()
                               : detail::log::FileSystem::truncate(descriptor, size);
  }

 private:
  int noteOpened(int error) {
    if (error == 0) {
      ++open_;
      mostOpen_ = std::max(mostOpen_.load(), open_.load());
    }
    return error;
  }

  std::atomic<int> writeError_{0};
  std::atomic<int> createError_{0};
  std::atomic<int> renameError_{0};
  std::atomic<int> truncateError_{0};
  std::atomic<std::size_t> tornBytes_{0};
  std::atomic<std::size_t> shortBytes_{std::string_view::npos};
  std::atomic<bool> stalled_{false};
  std::atomic<int> writes_{0};
  std::atomic<int> open_{0};
  std::atomic<int> mostOpen_{0};
};

}  // namespace steptape
