// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <deque>
#include <unordered_map>

#include "steptape/base/mutex.h"
#include "steptape/profile/record.h"

namespace steptape {
namespace {

constexpr std::size_t kMaxNames = 65536;
constexpr std::string_view kOtherNames = "(other names)";

class NameTable {
 public:
  // Never destroyed: threads may end, and with them their last zones, after main() has returned.
  static NameTable& instance() {
    static auto* const kTable = new NameTable;
    return *kTable;
  }

  std::uint32_t intern(ProfileKind kind, std::string_view text) {
    const MutexLock lock(mutex_);
    Ids& ids = ids_[static_cast<std::size_t>(kind)];
    auto known = ids.find(text);
    if (known == ids.end() && names_.size() >= kMaxNames) {
      text = kOtherNames;
      known = ids.find(text);
    }
    if (known != ids.end()) {
      return known->second;
    }
    const std::string& name = names_.emplace_back(text);
    return ids.emplace(name, static_cast<std::uint32_t>(names_.size())).first->second;
  }

  const std::string& name(std::uint32_t id) {
    const MutexLock lock(mutex_);
    return names_.at(id - 1);
  }

 private:
  using Ids = std::unordered_map<std::string_view, std::uint32_t>;

  Mutex mutex_;
  std::deque<std::string> names_ STEPTAPE_GUARDED_BY(mutex_);  // a deque: references stay valid
  std::array<Ids, kProfileKinds> ids_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace

const char* profileKindName(ProfileKind kind) noexcept {
  switch (kind) {
    case ProfileKind::kZone:
      return "zone";
    case ProfileKind::kOperator:
      return "operator";
    case ProfileKind::kBackward:
      return "backward";
    case ProfileKind::kUserScope:
      return "scope";
  }
  return "unknown";
}

std::uint32_t internProfileName(ProfileKind kind, std::string_view text) {
  return NameTable::instance().intern(kind, text);
}

const std::string& profileName(std::uint32_t nameId) {
  return NameTable::instance().name(nameId);
}

}  // namespace steptape
