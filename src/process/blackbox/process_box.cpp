// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/process_box.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <random>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/directory_entries.h"
#include "base/file_descriptor.h"
#include "base/fork_handlers.h"
#include "base/mutex.h"

namespace steptape::detail::process {
namespace {

constexpr const char* kId = "id";

std::uint64_t randomNumber() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

/// The box of this process and the numbers of all that it has. Never destroyed: writers with static
/// storage may outlive it.
struct BoxesOfProcess {
  base::Mutex mutex;
  std::weak_ptr<ProcessBox> current STEPTAPE_GUARDED_BY(mutex);
  // A POSIX lock ends when its process closes any descriptor of the file. So these are never
  // opened again, also not by claim().
  std::set<std::uint64_t> numbers STEPTAPE_GUARDED_BY(mutex);
};

BoxesOfProcess& boxes() {
  static constexpr base::ForkHandlers kHandlers{[] { return &boxes().mutex; }, nullptr};
  static auto* const kBoxes = [] {
    base::addForkHandlers(base::ForkOrder::kBoxes, kHandlers);
    return new BoxesOfProcess;
  }();
  return *kBoxes;
}

bool isOfThisProcess(const BoxName& name) {
  base::MutexLock lock(boxes().mutex);
  return boxes().numbers.count(name.number) > 0;
}

bool hasOtherParts(const BoxName& box) {
  const std::string id = box.pathOf(kId);
  const std::string idName = id.substr(id.rfind('/') + 1);
  const std::string prefix = idName.substr(0, idName.size() - std::string_view(kId).size());
  std::vector<base::DirectoryEntry> entries;
  base::listDirectory(box.folder, &entries);
  return std::any_of(entries.begin(), entries.end(), [&](const base::DirectoryEntry& entry) {
    return entry.name != idName && entry.name.compare(0, prefix.size(), prefix) == 0;
  });
}

struct flock wholeFile() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Locks the file as long as this process lives.
bool lockFile(const BoxFile& file, Status* why) {
  // A POSIX lock, and not one of the open file, because a child made by fork() must not hold it.
  // It waits only while a process that looks for dead boxes finds out that this one is none.
  struct flock whole = wholeFile();
  int locked = 0;
  do {
    locked = ::fcntl(file.descriptor(), F_SETLKW, &whole);
  } while (locked != 0 && errno == EINTR);
  if (locked != 0) {
    *why = boxError("lock", file.path(), errno);
  }
  return locked == 0;
}

}  // namespace

std::shared_ptr<ProcessBox> ProcessBox::acquire(Status* why) {
  const std::string folder = boxFolder();
  base::MutexLock lock(boxes().mutex);
  if (auto known = boxes().current.lock()) {
    if (known->isOurs() && known->name().folder == folder) {
      return known;
    }
  }
  if (folder.empty()) {
    *why = {ErrorCode::kFailedPrecondition,
            "black box: got no tmpfs at /dev/shm, or STEPTAPE_BLACK_BOX=off; expected a folder"};
    return nullptr;
  }
  if (const char* const network = networkFileSystemOf(folder)) {
    *why = {ErrorCode::kFailedPrecondition, "black box: " + folder + ": got a folder on " +
                                                network +
                                                "; expected one that other machines do not see"};
    return nullptr;
  }
  BoxHeader header = headerOfThisProcess();
  BoxName name{folder, header.user, 0};
  std::unique_ptr<BoxFile> id;
  do {
    header.box = name.number = randomNumber();
    id = BoxFile::create(name, kId, header, why);
    if (id == nullptr || !lockFile(*id, why)) {
      return nullptr;
    }
    // Before it had the lock, another process could take it for one that has died.
  } while (id->isRemoved());
  boxes().numbers.insert(name.number);
  std::shared_ptr<ProcessBox> box(new ProcessBox(std::move(name), header, std::move(id)));
  boxes().current = box;
  return box;
}

ProcessBox::~ProcessBox() = default;

bool ProcessBox::isOurs() const {
  return header_.pid == static_cast<std::uint64_t>(::getpid());
}

bool hasLivingProcess(const BoxName& name, const BoxHeader& header) {
  if (isOfThisProcess(name)) {
    return true;
  }
  base::FileDescriptor id;
  if (!openBoxFile(name, kId, &id).ok()) {
    return false;
  }
  struct flock whole = wholeFile();
  if (::fcntl(id.number(), F_OFD_GETLK, &whole) != 0) {
    return false;
  }
  constexpr pid_t kLockOfOpenFile = -1;  // of one that recovers the box
  return whole.l_type == F_UNLCK ? isKnownToLive(header) : whole.l_pid != kLockOfOpenFile;
}

DeadBox::~DeadBox() {
  release();
}

DeadBox::State DeadBox::claim(const BoxName& name) {
  if (isOfThisProcess(name)) {
    return State::kLives;
  }
  release();
  const std::string path = name.pathOf(kId);
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::getuid()) {
    return State::kNothing;
  }
  // A lock of the open file: two threads of one process must exclude each other as well. It also
  // fails while a process holds its POSIX lock.
  struct flock whole = wholeFile();
  if (::fcntl(descriptor_, F_OFD_SETLK, &whole) != 0) {
    return State::kLives;
  }
  // Another process may have claimed and removed it between open and lock.
  if (::fstat(descriptor_, &status) != 0 || status.st_nlink == 0) {
    return State::kNothing;
  }
  std::string bytes(BoxHeader::kBytes, '\0');
  const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), 0);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  name_ = name;
  if (!decodeBoxHeader(bytes, kId, &header_).ok()) {
    if (bytes.size() < BoxHeader::kBytes) {
      // Its process has died before it wrote the header. If it is only about to write it, it finds
      // out once it has the lock, and makes another box.
      ::unlink(path.c_str());
    }
    return State::kNothing;
  }
  // If the process has two copies of this library, the other one may have lost its lock. And one
  // that ends loses it a moment before it has ended.
  if (isKnownToLive(header_)) {
    // Else hasLivingProcess() would take this claim for one of another recovery.
    release();
    return State::kLives;
  }
  return State::kDead;
}

void DeadBox::release() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
}

void DeadBox::remove(std::initializer_list<const char*> parts) {
  for (const char* const part : parts) {
    ::unlink(name_.pathOf(part).c_str());
  }
  if (!hasOtherParts(name_)) {
    ::unlink(name_.pathOf(kId).c_str());
  }
}

}  // namespace steptape::detail::process
