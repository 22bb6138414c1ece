// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "steptape/process/zone.h"

#include "base/mutex.h"
#include "c/arguments.h"
#include "c/calls.h"

namespace steptape::detail::c {
namespace {

using process::ZoneSite;

/// What C++ keeps in the source for each zone, here by name. Never destroyed: threads may have
/// zones while the process ends.
class ZoneSites {
 public:
  static ZoneSites& instance() {
    static auto* const kSites = new ZoneSites;
    return *kSites;
  }

  ZoneSite* find(std::string_view name) {
    const base::MutexLock lock(mutex_);
    const auto found = sites_.find(name);
    if (found != sites_.end()) {
      return found->second;
    }
    const std::string& kept = names_.emplace_back(name);
    ZoneSite* const site = new ZoneSite(kept.c_str());
    sites_.emplace(kept, site);
    return site;
  }

 private:
  base::Mutex mutex_;
  std::deque<std::string> names_ STEPTAPE_GUARDED_BY(mutex_);
  std::map<std::string_view, ZoneSite*> sites_ STEPTAPE_GUARDED_BY(mutex_);
};

/// The open zones of a thread. Deeper ones are counted, and not shown.
struct OpenZones {
  std::array<std::uint8_t, 256> states{};  ///< The address of an element stands for its zone.
  std::size_t depth = 0;
  std::unordered_map<std::string_view, ZoneSite*> known;  ///< Names are those of ZoneSites.

  ZoneSite* site(std::string_view name) {
    const auto found = known.find(name);
    if (found != known.end()) {
      return found->second;
    }
    ZoneSite* const made = ZoneSites::instance().find(name);
    known.emplace(made->name, made);
    return made;
  }
};

thread_local OpenZones openZones;

steptape_status beginZone(const char* function, std::string_view name) noexcept {
  OpenZones& zones = openZones;
  const std::size_t depth = zones.depth++;
  if (depth >= zones.states.size()) {
    return STEPTAPE_OK;
  }
  zones.states[depth] = 0;
  return call(function, [&] {
    if (name.empty()) {
      Argument{function, "name"}.reject("an empty text", "a name");
    }
    const std::uint32_t session = process::zoneSession.load(std::memory_order_relaxed);
    if (session != 0) {
      zones.states[depth] = process::beginZone(session, *zones.site(name), &zones.states[depth]);
    }
  });
}

}  // namespace
}  // namespace steptape::detail::c

namespace impl = steptape::detail::c;

extern "C" {

steptape_status steptape_zone_begin(const char* name) {
  return impl::beginZone("steptape_zone_begin", name == nullptr ? std::string_view() : name);
}

steptape_status steptape_zone_begin_n(const char* name, size_t length) {
  return impl::beginZone("steptape_zone_begin_n",
                         name == nullptr ? std::string_view() : std::string_view(name, length));
}

steptape_status steptape_zone_end(void) {
  impl::OpenZones& zones = impl::openZones;
  if (zones.depth == 0) {
    return impl::fail(STEPTAPE_FAILED_PRECONDITION,
                      "steptape_zone_end: got no open zone of this thread; expected a "
                      "steptape_zone_begin() before it");
  }
  const std::size_t depth = --zones.depth;
  if (depth < zones.states.size() && zones.states[depth] != 0) {
    steptape::detail::process::endZone(zones.states[depth], &zones.states[depth]);
  }
  return STEPTAPE_OK;
}

}  // extern "C"
