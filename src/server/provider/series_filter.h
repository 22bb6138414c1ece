// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "steptape/events/event.h"

#include "server/store/log_store.h"

namespace steptape::detail::server {

/// Which series a page asks for.
struct SeriesFilter {
  std::string plugin;
  event::DataClass dataClass = event::DataClass::kUnknown;
  // None: all. Empty: none.
  std::optional<std::set<std::string, std::less<>>> runs;
  std::optional<std::set<std::string, std::less<>>> tags;
};

/// A series that a page asks for, while the run is locked.
struct ServedSeries {
  const std::string& runName;
  const std::shared_ptr<const ServedRun>& run;
  const TagView& tag;
};

/// Calls `use` with each series, run by run, in the order of names. Some may be empty.
template <typename Use>
void forEachSeries(const LogStore& store, const SeriesFilter& filter, const Use& use) {
  const std::shared_ptr<const LogStore::Runs> runs = store.runs();
  const auto useRun = [&](const std::string& name, const std::shared_ptr<const ServedRun>& run) {
    const auto useTag = [&](const TagView& tag) {
      if (tag.dataClass() == filter.dataClass && tag.plugin() == filter.plugin) {
        use(ServedSeries{name, run, tag});
      }
    };
    if (!filter.tags) {
      run->forEachTag(useTag);
      return;
    }
    for (const std::string& tag : *filter.tags) {
      run->withTag(tag, useTag);
    }
  };
  if (!filter.runs) {
    for (const auto& [name, run] : *runs) {
      useRun(name, run);
    }
    return;
  }
  for (const std::string& name : *filter.runs) {
    if (const auto run = runs->find(name); run != runs->end()) {
      useRun(run->first, run->second);
    }
  }
}

}  // namespace steptape::detail::server
