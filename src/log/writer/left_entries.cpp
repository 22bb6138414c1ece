// SPDX-License-Identifier: Apache-2.0
#include "log/writer/left_entries.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "log/writer/entry_events.h"

namespace steptape::detail::log {

bool addMissingEntries(DeadProcess* process, const LookAtWrite& look, std::uint64_t* nameless) {
  *nameless = 0;
  std::vector<RingEntry> entries;
  for (const auto& [id, write] : process->writes) {
    const auto stream = process->streams.find(id);
    if (stream == process->streams.end()) {
      ++*nameless;
      continue;
    }
    const std::optional<std::uint64_t> missing = look(write, &stream->second);
    if (!missing) {
      return false;
    }
    const std::size_t first = entries.size();
    for (const RingEntry& entry : process->announced) {
      const auto series = process->series.find(entry.series);
      if (series != process->series.end() && series->second.stream == id) {
        entries.push_back(entry);
      }
    }
    const std::size_t there = entries.size() - first;
    const auto begin = entries.begin() + static_cast<std::ptrdiff_t>(first);
    entries.erase(begin, begin + static_cast<std::ptrdiff_t>(
                                     there - std::min<std::uint64_t>(there, *missing)));
  }
  process->entries.insert(process->entries.begin(), entries.begin(), entries.end());
  return true;
}

EncodedEntries encodeEntries(const DeadProcess& process) {
  EncodedEntries encoded;
  std::map<std::uint32_t, EntryEvents> encoders;
  for (const auto& [id, write] : process.writes) {
    if (const auto stream = process.streams.find(id); stream != process.streams.end()) {
      encoders.try_emplace(id, stream->second.named, process.times);
    }
  }
  for (const RingEntry& entry : process.entries) {
    const auto series = process.series.find(entry.series);
    const auto stream = series == process.series.end()
                            ? process.streams.end()
                            : process.streams.find(series->second.stream);
    if (stream == process.streams.end()) {
      ++encoded.nameless;
      continue;
    }
    encoders.try_emplace(stream->first, stream->second.named, process.times)
        .first->second.add(entry, series->second);
  }
  for (auto& [id, encoder] : encoders) {
    encoded.streams[id] = encoder.take();
  }
  return encoded;
}

std::optional<std::string> directoryToday(const NamedRun& run, const NamedStream& stream,
                                          const DirectoryIdentity& there,
                                          const DirectoryPlace& wanted) {
  if (run.identity.isSameAs(there)) {
    return stream.directory;
  }
  if (run.identity.isSameAs(wanted.identity) && stream.directory.size() >= run.directory.size()) {
    return wanted.directory + stream.directory.substr(run.directory.size());
  }
  return std::nullopt;
}

}  // namespace steptape::detail::log
