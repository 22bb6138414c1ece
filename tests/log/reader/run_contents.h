// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "steptape/log/run_reader.h"

#include "log/reader/run_events.h"

namespace steptape {

/// A point of a run: the bits of its time, its step, and the bits of its number, or 0 if it is not
/// a number.
using RunPoint = std::tuple<std::uint64_t, std::int64_t, std::uint64_t>;

/// The content of a run in a form that compares and prints, for both reader classes.
struct RunContents {
  std::map<std::string, std::vector<RunPoint>> scalars;  ///< By tag.
  std::map<std::string, std::vector<RunPoint>> others;   ///< By tag and plugin.
  std::vector<std::tuple<std::string, std::uint64_t, std::uint64_t>> damage;

  friend bool operator==(const RunContents& a, const RunContents& b) {
    return a.scalars == b.scalars && a.others == b.others && a.damage == b.damage;
  }
};

inline std::uint64_t bitsOf(double number) {
  std::uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

inline void addDamage(const std::vector<Damage>& all, RunContents* contents) {
  for (const Damage& damage : all) {
    contents->damage.emplace_back(damage.status.message(), damage.offset, damage.bytes);
  }
}

inline void addValues(const std::string& tag, const TagSeries& series, RunContents* contents) {
  for (const ValueLocation& value : series.values) {
    contents->others[tag + " of " + series.metadata.pluginName].emplace_back(bitsOf(value.wallTime),
                                                                             value.step, 0);
  }
}

/// Returns the plugin of a value, which may not name it.
inline std::string pluginOf(const event::Value& value, const detail::log::RunTag& tag) {
  const bool isNamed = value.metadata && !value.metadata->pluginName.empty();
  return isNamed ? value.metadata->pluginName : tag.metadata.pluginName;
}

/// Returns the content read by RunReader.
inline RunContents contentsOf(const RunReader& run) {
  RunContents contents;
  for (const auto& [tag, series] : run.tags()) {
    for (std::size_t i = 0; i < series.scalars.size(); ++i) {
      contents.scalars[tag].emplace_back(bitsOf(series.scalars.wallTimes[i]),
                                         series.scalars.steps[i], bitsOf(series.scalars.values[i]));
    }
    addValues(tag, series, &contents);
    for (const TagSeries& other : series.others) {
      addValues(tag, other, &contents);
    }
  }
  addDamage(run.damage(), &contents);
  return contents;
}

/// Returns the content read by RunEvents.
inline RunContents streamedContents(const RunFiles& run, PurgePolicy purge) {
  detail::log::RunEventsOptions options;
  options.purge = purge;
  detail::log::RunEvents events(run, options);
  RunContents contents;
  for (detail::log::RunValue value; events.next(&value);) {
    const detail::log::RunTag& tag = events.tags()[value.tag];
    auto& points = value.data == nullptr
                       ? contents.scalars[tag.name]
                       : contents.others[tag.name + " of " + pluginOf(*value.data, tag)];
    points.emplace_back(bitsOf(value.wallTime), value.step,
                        value.data == nullptr ? bitsOf(value.scalar) : 0);
  }
  addDamage(events.damage(), &contents);
  return contents;
}

}  // namespace steptape
