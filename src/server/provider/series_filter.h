// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "steptape/events/event.h"

#include "base/utf8.h"
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

/// Adds an entry for each series to `response`, run by run, in the order of names.
/// @param use (the entry, a ServedSeries)
template <typename Response, typename Use>
void forEachSeries(const LogStore& store, const SeriesFilter& filter, Response* response,
                   const Use& use) {
  const std::shared_ptr<const LogStore::Runs> runs = store.runs();
  const auto addRun = [&](const std::string& name, const std::shared_ptr<const ServedRun>& run) {
    decltype(response->add_runs()) runEntry = nullptr;
    const auto add = [&](const TagView& tag) {
      if (tag.dataClass() != filter.dataClass || tag.plugin() != filter.plugin) {
        return;
      }
      if (runEntry == nullptr) {
        runEntry = response->add_runs();
        runEntry->set_run_name(name);
      }
      auto* const entry = runEntry->add_tags();
      // Protocol Buffers rejects a whole message because of one other string.
      entry->set_tag_name(base::replaceInvalidUtf8(tag.name()));
      use(entry, ServedSeries{name, run, tag});
    };
    if (filter.tags) {
      for (const std::string& tag : *filter.tags) {
        run->withTag(tag, add);
      }
    } else {
      run->forEachTag(add);
    }
  };
  if (filter.runs) {
    for (const std::string& name : *filter.runs) {
      if (const auto run = runs->find(name); run != runs->end()) {
        addRun(run->first, run->second);
      }
    }
    return;
  }
  for (const auto& [name, run] : *runs) {
    addRun(name, run);
  }
}

}  // namespace steptape::detail::server
