// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/posix_node_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "ranks/communicator/agreed_node_memory.h"
#include "ranks/communicator/presence_lock.h"

namespace steptape::detail::ranks {
namespace {

/// Returns why a system call failed, with the size if that helps.
std::string systemFailure(const char* call, std::size_t bytes, int error) {
  return std::string(call) + " of " + std::to_string(bytes) +
         " bytes of shared memory: " + std::generic_category().message(error);
}

/// The file descriptor of a shared memory object.
class SharedFile {
 public:
  SharedFile() = default;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() {
    unlink();
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
  }

  /// @return the error; empty for success.
  std::string create(const std::string& name, std::size_t bytes) {
    name_ = name;
    ownsName_ = true;
    descriptor_ = shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor_ < 0) {
      ownsName_ = false;
      return systemFailure("shm_open", bytes, errno);
    }
    if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
      return systemFailure("ftruncate", bytes, errno);
    }
    return lackOfRoom(bytes);
  }

  std::string open(const std::string& name, std::size_t bytes) {
    name_ = name;
    descriptor_ = shm_open(name_.c_str(), O_RDWR | O_CLOEXEC, 0);
    return descriptor_ < 0 ? systemFailure("shm_open", bytes, errno) : "";
  }

  /// Removes the name. Ranks that have opened the object keep it.
  void unlink() {
    if (std::exchange(ownsName_, false)) {
      shm_unlink(name_.c_str());
    }
  }

  /// Returns the error if the file system is too full. Checked before pages are reserved, because
  /// filling almost all memory takes long and harms other processes.
  std::string lackOfRoom(std::size_t bytes) const {
    struct statvfs room {};
    // A file system without blocks has no limit.
    if (fstatvfs(descriptor_, &room) != 0 || room.f_blocks == 0) {
      return "";
    }
    const std::size_t free = room.f_bavail * room.f_frsize;
    return free >= bytes ? ""
                         : std::to_string(bytes) + " bytes of shared memory: there is room for " +
                               std::to_string(free);
  }

  int descriptor() const { return descriptor_; }

 private:
  std::string name_;
  int descriptor_ = -1;
  bool ownsName_ = false;
};

/// Reserves the pages of this rank's part.
/// @return the error; empty for success.
std::string reserveOwnPart(int file, std::size_t bytes, const GroupMap& group) {
  const std::size_t ranks = static_cast<std::size_t>(group.localSize());
  const std::size_t rank = static_cast<std::size_t>(group.localRank());
  const std::size_t begin = bytes / ranks * rank;
  const std::size_t end = rank + 1 == ranks ? bytes : begin + bytes / ranks;
  if (begin == end) {
    return "";
  }
  int error = 0;
  do {
    error = posix_fallocate(file, static_cast<off_t>(begin), static_cast<off_t>(end - begin));
  } while (error == EINTR);
  return error == 0 ? "" : systemFailure("posix_fallocate", bytes, error);
}

/// Returns the name of the object of this rank's node, which all of its ranks find by themselves.
/// @param number Differs between all objects.
std::string nameOf(std::uint64_t number, const GroupMap& group) {
  return "/steptape-" + std::to_string(number) + "-" +
         std::to_string(group.place(group.rank()).nodeId);
}

}  // namespace

std::shared_ptr<NodeMemory> PosixNodeMemory::tryMake(
    Communicator& communicator, const GroupMap& group, std::size_t bytes, std::string* why,
    std::function<void(const std::string&)> onGivenUp) {
  const std::string name = nameOf(agreeOnBytes(communicator, group, bytes), group);
  // An empty file cannot be mapped.
  const std::size_t fileBytes = std::max<std::size_t>(bytes, 1);
  const bool isLeader = group.localRank() == 0;
  SharedFile file;
  if (!agreeOnSuccess(communicator, group, isLeader ? file.create(name, fileBytes) : "", why)) {
    return nullptr;
  }
  std::string failure = isLeader ? "" : file.open(name, fileBytes);
  if (failure.empty()) {
    failure = reserveOwnPart(file.descriptor(), fileBytes, group);
  }
  auto presence = std::make_unique<PresenceLock>();
  if (failure.empty()) {
    const int error = presence->take(name, group.localRank());
    failure = error == 0 ? "" : systemFailure("shm_open", fileBytes, error);
  }
  void* data = MAP_FAILED;
  if (failure.empty()) {
    data = mmap(nullptr, fileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
    failure = data == MAP_FAILED ? systemFailure("mmap", fileBytes, errno) : "";
  }
  std::shared_ptr<PosixNodeMemory> memory;
  if (failure.empty()) {
    memory.reset(new PosixNodeMemory(static_cast<std::byte*>(data), bytes, std::move(presence),
                                     group, std::move(onGivenUp)));
  }
  const bool isShared = agreeOnSuccess(communicator, group, failure, why);
  return isShared ? memory : nullptr;
}

PosixNodeMemory::PosixNodeMemory(std::byte* data, std::size_t bytes,
                                 std::unique_ptr<PresenceLock> presence, GroupMap group,
                                 std::function<void(const std::string&)> onGivenUp)
    : NodeMemory(data, bytes),
      presence_(std::move(presence)),
      group_(std::move(group)),
      onGivenUp_(std::move(onGivenUp)) {}

PosixNodeMemory::~PosixNodeMemory() {
  munmap(data(), std::max<std::size_t>(size(), 1));
}

void PosixNodeMemory::checkPeers() const {
  for (int localRank = 0; localRank < group_.localSize(); ++localRank) {
    if (localRank != group_.localRank() && !presence_->isHeldBy(localRank)) {
      throw Error(
          ErrorCode::kDeadlineExceeded,
          group_.nameOfLocal(localRank) + " has ended or let go of the memory that it shared");
    }
  }
}

}  // namespace steptape::detail::ranks
