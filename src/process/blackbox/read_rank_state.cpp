// SPDX-License-Identifier: Apache-2.0
// Reads the file of a state while its process may be storing into it.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "base/got_expected.h"
#include "base/whole_file.h"
#include "process/blackbox/box_file.h"
#include "process/blackbox/rank_state.h"
#include "process/blackbox/state_sections.h"

namespace steptape::detail::process {
namespace {

using state_layout::Word;

constexpr std::size_t kMostBytes = std::size_t{16} << 20;

/// A file that is open for reading.
class OpenedFile {
 public:
  explicit OpenedFile(int descriptor) : descriptor_(descriptor) {}
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;
  ~OpenedFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  int descriptor() const { return descriptor_; }

  /// Reads `size` bytes at `offset`, or as many as there are.
  /// @return how many; `*error` is an errno, or 0.
  std::size_t read(char* to, std::size_t size, std::size_t offset, int* error) const {
    *error = 0;
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got =
          ::pread(descriptor_, to + done, size - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        *error = errno;
      }
      if (got <= 0) {
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  const int descriptor_;
};

Word wordAt(const std::string& bytes, std::size_t offset) {
  Word word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof(word));
  return word;
}

bool isStable(Word before, Word after) {
  return before == after && before % 2 == 0;
}

/// Reads one entry again, until no store has come between. A process that was stopped or has died
/// in a store leaves the number odd for ever, so the tries are few.
bool readStable(const OpenedFile& file, std::size_t offset, std::size_t size, char* entry) {
  constexpr int kTries = 6;
  for (int i = 0; i < kTries; ++i) {
    Word before = 0;
    Word after = 0;
    int error = 0;
    const auto readWord = [&](Word* word) {
      return file.read(reinterpret_cast<char*>(word), sizeof(*word), offset, &error) ==
             sizeof(*word);
    };
    if (!readWord(&before) || file.read(entry, size, offset, &error) != size || !readWord(&after)) {
      return false;
    }
    if (isStable(before, after)) {
      return true;
    }
  }
  return false;
}

/// Reads a file such that every entry of it was there at one moment, or has an odd number.
///
/// Three copies: an entry whose number is the same in the first and the last one did not change
/// while the one between was made.
Status readSnapshot(const OpenedFile& file, const std::string& path, std::string* bytes) {
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) {
    return boxError("read", path, errno);
  }
  const std::size_t size = std::min(kMostBytes, static_cast<std::size_t>(status.st_size));
  std::string before(size, '\0');
  std::string after(size, '\0');
  bytes->assign(size, '\0');
  for (std::string* const copy : {&before, bytes, &after}) {
    int error = 0;
    copy->resize(file.read(copy->data(), copy->size(), 0, &error));
    if (error != 0) {
      return boxError("read", path, error);
    }
  }
  const std::size_t common = std::min({before.size(), bytes->size(), after.size()});
  bytes->resize(common);
  StateSections sections(*bytes);
  if (!sections.find().ok()) {
    return {};  // decodeRankState() says why
  }
  sections.visitLocked([&](std::size_t offset, std::size_t entryBytes) {
    if (!isStable(wordAt(before, offset), wordAt(after, offset)) &&
        !readStable(file, offset, entryBytes, bytes->data() + offset)) {
      const Word odd = wordAt(*bytes, offset) | 1U;
      std::memcpy(bytes->data() + offset, &odd, sizeof(odd));
    }
  });
  // What these count was complete before the second copy was made.
  const auto takeOlder = [&](std::size_t offset) {
    std::memcpy(bytes->data() + offset, before.data() + offset, sizeof(Word));
  };
  if (const auto* const counters = sections.sectionOf(state_layout::kCounters)) {
    takeOlder(static_cast<std::size_t>(counters->offset) + offsetof(state_layout::Counters, names));
  }
  return {};
}

Status snapshotOfBox(const BoxName& box, std::string* bytes) {
  const std::string path = box.pathOf(kStatePart);
  // O_NONBLOCK: a pipe of that name must not stop us.
  const OpenedFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (file.descriptor() < 0) {
    return boxError("open", path, errno);
  }
  if (::fstat(file.descriptor(), &status) != 0) {
    return boxError("read", path, errno);
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != ::getuid()) {
    return {ErrorCode::kDataLoss, "black box: " + path + ": " +
                                      base::gotExpected("something else", "a file of this user")};
  }
  return readSnapshot(file, path, bytes);
}

/// Not by replaceFile(), which waits for the disk: a job that starts again would wait once for each
/// of its dead ranks. The temporary name is the same each time: the next copy overwrites one that
/// was killed.
Status writeCopy(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".new";
  int error = 0;
  std::uint64_t written = 0;
  {
    const OpenedFile file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
    error = file.descriptor() < 0 ? errno : writeAll(file.descriptor(), bytes, &written);
  }
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlink(temporary.c_str());
    return boxError("write", path, error);
  }
  return {};
}

}  // namespace

Status readRankState(const BoxName& box, RankState* state) {
  *state = {};
  std::string bytes;
  Status status = snapshotOfBox(box, &bytes);
  return status.ok() ? decodeRankState(bytes, state) : status;
}

Status readRankStateBytes(const std::string& path, std::string* bytes) {
  const OpenedFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.descriptor() < 0) {
    return boxError("open", path, errno);
  }
  if (::fstat(file.descriptor(), &status) != 0) {
    return boxError("read", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return {ErrorCode::kDataLoss,
            "black box: " + path + ": " + base::gotExpected("something else", "a file")};
  }
  return readSnapshot(file, path, bytes);
}

Status readRankStateFile(const std::string& path, RankState* state) {
  *state = {};
  std::string bytes;
  Status status = readRankStateBytes(path, &bytes);
  return status.ok() ? decodeRankState(bytes, state) : status;
}

Status copyRankState(const BoxName& box, const std::string& path) {
  std::string bytes;
  Status status = snapshotOfBox(box, &bytes);
  if (status.ok()) {
    status = base::createDirectoriesOf(path);
  }
  return status.ok() ? writeCopy(path, bytes) : status;
}

}  // namespace steptape::detail::process
