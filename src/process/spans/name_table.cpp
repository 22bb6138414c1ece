// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <deque>
#include <exception>
#include <unordered_map>

#include "steptape/process/zone.h"

#include "base/mutex.h"
#include "process/blackbox/state_page.h"
#include "process/spans/name_cache.h"
#include "process/spans/recorder_registry.h"

namespace steptape {
namespace {

constexpr std::size_t kMaxNames = 65000;  // plus one name per kind for all others, in 16 bits
constexpr std::string_view kOtherNames = "(other names)";

struct Name {
  std::string text;
  std::uint32_t color = 0;
};

using detail::process::StatePage;

class NameTable {
 public:
  // Never destroyed: threads may end, and record their last zones, after main() has returned.
  static NameTable& instance() {
    static auto* const kTable = new NameTable;
    return *kTable;
  }

  std::uint16_t intern(SpanKind kind, std::string_view text) {
    const detail::base::MutexLock lock(mutex_);
    Ids& ids = ids_[static_cast<std::size_t>(kind)];
    auto known = ids.find(text);
    if (known == ids.end() && names_.size() >= kMaxNames) {
      text = kOtherNames;
      known = ids.find(text);
    }
    if (known != ids.end()) {
      return known->second;
    }
    const Name& name = names_.emplace_back(Name{std::string(text)});
    if (StatePage* const page = StatePage::current()) {
      page->addName(static_cast<std::uint16_t>(names_.size()), text);
    }
    return ids.emplace(name.text, static_cast<std::uint16_t>(names_.size())).first->second;
  }

  /// Adds the names that `page` does not have.
  void copyTo(StatePage* page) {
    const detail::base::MutexLock lock(mutex_);
    for (std::size_t i = page->names(); i < names_.size(); ++i) {
      page->addName(static_cast<std::uint16_t>(i + 1), names_[i].text);
    }
  }

  const std::string& text(std::uint16_t id) {
    const detail::base::MutexLock lock(mutex_);
    return names_.at(id - std::size_t{1}).text;
  }
  std::uint32_t color(std::uint16_t id) {
    const detail::base::MutexLock lock(mutex_);
    return names_.at(id - std::size_t{1}).color;
  }
  void setColor(std::uint16_t id, std::uint32_t rgb) {
    const detail::base::MutexLock lock(mutex_);
    names_.at(id - std::size_t{1}).color = rgb;
  }

 private:
  using Ids = std::unordered_map<std::string_view, std::uint16_t>;

  detail::base::Mutex mutex_;
  std::deque<Name> names_ STEPTAPE_GUARDED_BY(mutex_);  // a deque: references stay valid
  std::array<Ids, kSpanKinds> ids_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace

const char* spanKindName(SpanKind kind) noexcept {
  switch (kind) {
    case SpanKind::kZone:
      return "zone";
    case SpanKind::kOperator:
      return "operator";
    case SpanKind::kBackward:
      return "backward";
    case SpanKind::kUserScope:
      return "scope";
    case SpanKind::kInput:
      return "input";
    case SpanKind::kCollective:
      return "collective";
    case SpanKind::kWait:
      return "wait";
    case SpanKind::kDevice:
      return "device";
    case SpanKind::kMemory:
      return "memory";
    case SpanKind::kRuntime:
      return "runtime";
  }
  return "unknown";
}

std::uint16_t internSpanName(SpanKind kind, std::string_view text) {
  return NameTable::instance().intern(kind, text);
}

const std::string& spanName(std::uint16_t nameId) {
  return NameTable::instance().text(nameId);
}

namespace detail::process {

std::uint16_t NameCache::find(SpanKind kind, const char* text) noexcept {
  try {
    auto& ids = ids_[static_cast<std::size_t>(kind)];
    Slot found;
    if (const auto known = ids.find(text); known != ids.end()) {
      found = {text, known->first.data(), known->second, kind};
    } else {
      const std::uint16_t id = internSpanName(kind, text);
      const std::string& name = spanName(id);
      if (name == text) {  // false if the table is full and many texts share a name
        ids.emplace(name, id);
      }
      found = {text, name.c_str(), id, kind};
    }
    slots_[(reinterpret_cast<std::uintptr_t>(text) >> 3) % kSlots] = found;
    return found.id;
  } catch (const std::exception&) {
    RecorderRegistry::instance().countUnrecorded();
    return 0;
  }
}

void copySpanNamesTo(StatePage* page) {
  NameTable::instance().copyTo(page);
}

std::uint32_t spanColor(std::uint16_t nameId) {
  return NameTable::instance().color(nameId);
}

void setSpanColor(std::uint16_t nameId, std::uint32_t rgb) noexcept {
  if (rgb != 0) {
    NameTable::instance().setColor(nameId, rgb);
  }
}

}  // namespace detail::process
}  // namespace steptape
