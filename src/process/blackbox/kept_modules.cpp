// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/kept_modules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <link.h>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/whole_file.h"
#include "process/blackbox/state_page.h"
#include "process/blackbox/state_words.h"

namespace steptape::detail::process {
namespace {

/// Fills the entries of modules one after the other.
class ModuleStore {
 public:
  explicit ModuleStore(StatePage& page) : modules_(page.state().modules) {}
  ~ModuleStore() {
    for (; next_ < modules_.size(); ++next_) {
      if (loadWord(modules_[next_].end) != 0) {
        const OwnStore store(modules_[next_].sequence);
        storeWord(modules_[next_].end, 0);
      }
    }
  }
  ModuleStore(const ModuleStore&) = delete;
  ModuleStore& operator=(const ModuleStore&) = delete;

  void add(std::uint64_t begin, std::uint64_t end, std::uint64_t offset, std::string_view path) {
    if (next_ == modules_.size()) {
      return;
    }
    state_layout::Module& module = modules_[next_++];
    const OwnStore store(module.sequence);
    storeWord(module.begin, begin);
    storeWord(module.end, end);
    storeWord(module.offset, offset);
    storeText(module.path, path);
  }

 private:
  std::array<state_layout::Module, state_layout::kMaxModules>& modules_;
  std::size_t next_ = 0;
};

/// Takes the executable part of files from a line of /proc/self/maps:
/// `begin-end r-xp offset device inode   path`.
void addModule(const std::string& line, ModuleStore* modules) {
  char* at = nullptr;
  const std::uint64_t begin = std::strtoull(line.c_str(), &at, 16);
  if (*at != '-') {
    return;
  }
  const std::uint64_t end = std::strtoull(at + 1, &at, 16);
  constexpr std::size_t kRights = 6;  // " r-xp "
  if (std::strlen(at) < kRights || at[3] != 'x') {
    return;
  }
  const std::uint64_t offset = std::strtoull(at + kRights, &at, 16);
  const std::size_t path = line.find_first_of("/[");
  if (path != std::string::npos) {
    modules->add(begin, end, offset, std::string_view(line).substr(path));
  }
}

/// Returns how many libraries this process has loaded and unloaded so far.
std::uint64_t libraryChanges() noexcept {
  std::uint64_t changes = 0;
  ::dl_iterate_phdr(
      [](struct dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<std::uint64_t*>(result) = info->dlpi_adds + info->dlpi_subs;
        return 1;  // the first library tells
      },
      &changes);
  return changes;
}

}  // namespace

void keepModules(StatePage& page) noexcept {
  static base::Mutex mutex;
  static std::uint64_t keptChanges STEPTAPE_GUARDED_BY(mutex) = 0;
  static StatePage* keptPage STEPTAPE_GUARDED_BY(mutex) = nullptr;
  base::MutexLock lock(mutex);
  const std::uint64_t changes = libraryChanges();
  if (keptPage == &page && keptChanges == changes) {
    return;
  }
  try {
    std::string maps;
    if (!base::readWholeFile("/proc/self/maps", maps).ok()) {
      return;
    }
    ModuleStore modules(page);
    std::size_t at = 0;
    while (at < maps.size()) {
      const std::size_t end = std::min(maps.find('\n', at), maps.size());
      addModule(maps.substr(at, end - at), &modules);
      at = end + 1;
    }
    keptChanges = changes;
    keptPage = &page;
  } catch (const std::exception&) {
    // Out of memory: the next call tries again.
  }
}

}  // namespace steptape::detail::process
