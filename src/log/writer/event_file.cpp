// SPDX-License-Identifier: Apache-2.0
#include "log/writer/event_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/host_name.h"
#include "events/framing/event_file_name.h"
#include "log/writer/file_system.h"

namespace steptape::detail::log {
namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";
constexpr std::uint64_t kMaxDuration = 9'999'999'999;  // the maximum for ten digits

std::string eventFileName(std::uint64_t seconds, std::uint32_t number, const std::string& suffix) {
  char digits[16];
  char tail[48];
  std::snprintf(digits, sizeof(digits), "%010" PRIu64, seconds);
  std::snprintf(tail, sizeof(tail), ".%ld.%05" PRIu32, static_cast<long>(::getpid()), number);
  return std::string(kPrefix) + digits + "." + base::hostName() + tail + suffix;
}

/// Returns the seconds field of an event file's name; 0 if it has none.
std::uint64_t secondsOf(const std::string& name) {
  const std::size_t at = name.find(kPrefix);
  return at == std::string::npos ? 0
                                 : std::strtoull(name.c_str() + at + kPrefix.size(), nullptr, 10);
}

Status systemError(const char* what, const std::string& path, int error) {
  return {ErrorCode::kIoError,
          std::string(what) + " " + path + ": " + std::generic_category().message(error)};
}

}  // namespace

std::string nextEventFileName(const std::vector<std::string>& existing, double wallTime,
                              const std::string& suffix) {
  static std::atomic<std::uint32_t> filesOfProcess{0};
  const std::uint32_t number = filesOfProcess.fetch_add(1, std::memory_order_relaxed);

  std::string last;
  for (const std::string& name : existing) {
    if (events::isEventFileName(name)) {
      last = std::max(last, name);
    }
  }
  std::uint64_t seconds = std::min(
      kMaxDuration, std::max(static_cast<std::uint64_t>(std::max(wallTime, 0.0)), secondsOf(last)));
  std::string name = eventFileName(seconds, number, suffix);
  if (name <= last && seconds < kMaxDuration) {
    name = eventFileName(seconds + 1, number, suffix);
  }
  return name;
}

EventFile::~EventFile() {
  abandon();
}

Status EventFile::create(const std::string& directory, double wallTime, const std::string& suffix) {
  FileSystem& files = FileSystem::current();
  if (const int error = files.createDirectories(directory)) {
    return systemError("cannot create the directory", directory, error);
  }
  // A name is in use only if another process chose the same one between list and create.
  constexpr int kAttempts = 100;
  int error = EEXIST;
  int descriptor = -1;
  std::string path = directory;
  for (int attempt = 0; attempt < kAttempts && error == EEXIST; ++attempt) {
    std::vector<std::string> names;
    error = files.list(directory, &names);
    if (error == 0) {
      followsOthers_ = std::any_of(names.begin(), names.end(), events::isEventFileName);
      path = directory + "/" + nextEventFileName(names, wallTime, suffix);
      error = files.createExclusive(path, &descriptor);
    }
  }
  if (error != 0) {
    return systemError("cannot create the event file", path, error);
  }
  path_ = std::move(path);
  descriptor_ = descriptor;
  size_ = 0;
  leftover_ = 0;
  if (openFiles_ != nullptr) {
    openFiles_->opened(this);
  }
  return {};
}

void EventFile::keepWithin(OpenFiles* openFiles) noexcept {
  if (openFiles_ == nullptr && descriptor_ >= 0) {
    openFiles->opened(this);
  }
  openFiles_ = openFiles;
}

int EventFile::open() noexcept {
  if (descriptor_ >= 0) {
    if (openFiles_ != nullptr) {
      openFiles_->used(this);
    }
    return 0;
  }
  if (const int error = FileSystem::current().openToAppend(path_, &descriptor_)) {
    descriptor_ = -1;
    return error;
  }
  if (openFiles_ != nullptr) {
    openFiles_->opened(this);
  }
  return 0;
}

Status EventFile::append(std::string_view bytes) {
  if (const int error = open()) {
    return systemError("cannot open", path_, error);
  }
  FileSystem& files = FileSystem::current();
  std::size_t done = leftover_;
  while (done < bytes.size()) {
    std::size_t written = 0;
    int error = files.write(descriptor_, bytes.substr(done), &written);
    done += written;
    if (error == 0 && written == 0) {
      error = EIO;  // never loop on a device that accepts nothing and reports no error
    }
    if (error != 0) {
      leftover_ = done;
      cutBack();
      return systemError("cannot write to", path_, error);
    }
  }
  size_ += bytes.size();
  leftover_ = 0;
  return {};
}

int EventFile::cutBack() noexcept {
  if (leftover_ == 0) {
    return 0;
  }
  int error = open();
  if (error == 0) {
    error = FileSystem::current().truncate(descriptor_, size_);
  }
  leftover_ = error == 0 ? 0 : leftover_;
  return error;
}

bool EventFile::deleted() {
  if (const int error = open()) {
    return error == ENOENT || error == ENOTDIR;
  }
  std::uint64_t links = 1;
  return FileSystem::current().linkCount(descriptor_, &links) == 0 && links == 0;
}

void EventFile::closeDescriptor() noexcept {
  if (descriptor_ >= 0) {
    FileSystem::current().close(descriptor_);
    descriptor_ = -1;
    if (openFiles_ != nullptr) {
      openFiles_->closed(this);
    }
  }
}

int EventFile::finish() noexcept {
  if (!created()) {
    return 0;
  }
  int error = size_ > 0 ? cutBack() : FileSystem::current().remove(path_);
  error = error == ENOENT ? 0 : error;  // the file was deleted
  if (error == 0) {
    forget();
  }
  return error;
}

void EventFile::abandon() noexcept {
  if (finish() != 0) {
    forget();
  }
}

void EventFile::forget() noexcept {
  closeDescriptor();
  path_.clear();
  leftover_ = 0;
}

void OpenFiles::opened(EventFile* file) noexcept {
  file->inOpenFiles_ = file->place_.begin();
  files_.splice(files_.begin(), file->place_);
  if (files_.size() > limit_) {
    files_.back()->closeDescriptor();
  }
}

void OpenFiles::used(EventFile* file) noexcept {
  files_.splice(files_.begin(), files_, file->inOpenFiles_);
}

void OpenFiles::closed(EventFile* file) noexcept {
  file->place_.splice(file->place_.begin(), files_, file->inOpenFiles_);
}

}  // namespace steptape::detail::log
