// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/run_diff.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>
#include <variant>

#include "steptape/events/plugin_content.h"

#include "events/messages/event_codec.h"
#include "log/reader/series_parts.h"
#include "tools/steptape/runs/line_diff.h"

namespace steptape::tools {
namespace {

using detail::log::SeriesPart;

bool areSame(double a, double b, double tolerance) {
  if (a == b || (std::isnan(a) && std::isnan(b))) {
    return true;
  }
  // Infinite if one of them is: nothing is near infinity.
  return std::isfinite(a) && std::isfinite(b) &&
         std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

/// Returns the data of a value as bytes, without its time, tag and metadata.
std::string payloadOf(const RunReader& run, const ValueLocation& location) {
  event::Value value;
  run.value(location, &value).throwIfError();
  value.tag.clear();
  value.metadata.reset();
  event::Event event;
  event.what = event::Summary{{std::move(value)}};
  std::string bytes;
  detail::events::encodeEvent(event, &bytes);
  return bytes;
}

void compareText(const char* what, const std::string& first, const std::string& second,
                 std::vector<std::string>* differences) {
  if (first != second) {
    differences->push_back(fmt::format("{}: '{}', '{}'", what, first, second));
  }
}

std::vector<std::string> compareMetadata(const event::SummaryMetadata& first,
                                         const event::SummaryMetadata& second) {
  std::vector<std::string> differences;
  compareText("plugin", first.pluginName, second.pluginName, &differences);
  compareText("display name", first.displayName, second.displayName, &differences);
  compareText("description", first.description, second.description, &differences);
  if (first.pluginName == second.pluginName && first.pluginContent != second.pluginContent) {
    differences.emplace_back("plugin data");
  }
  return differences;
}

void note(std::int64_t step, std::array<std::optional<double>, 2> values, TagDiff* diff) {
  ++diff->differingPoints;
  if (!diff->parting) {
    diff->parting = Parting{step, values};
  }
}

/// Iterates over two series by step, point by point if both have the step.
///
/// @param stepOf  (run, index) → step
/// @param compare (first index, second index), called for points at the same step.
/// @param alone   (run, index), called for a point that the other run lacks.
template <typename StepOf, typename Compare, typename Alone>
void walk(const std::array<std::size_t, 2>& points, StepOf stepOf, Compare compare, Alone alone) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < points[0] || j < points[1]) {
    if (j == points[1] || (i < points[0] && stepOf(0, i) < stepOf(1, j))) {
      alone(0, i++);
    } else if (i == points[0] || stepOf(1, j) < stepOf(0, i)) {
      alone(1, j++);
    } else {
      compare(i++, j++);
    }
  }
}

void compareScalars(const std::array<const ScalarColumns*, 2>& scalars, double tolerance,
                    TagDiff* diff) {
  const auto stepOf = [&](std::size_t run, std::size_t i) { return scalars[run]->steps[i]; };
  walk(
      diff->points, stepOf,
      [&](std::size_t i, std::size_t j) {
        const double a = scalars[0]->values[i];
        const double b = scalars[1]->values[j];
        if (!areSame(a, b, tolerance)) {
          note(stepOf(0, i), {a, b}, diff);
        }
      },
      [&](std::size_t run, std::size_t i) {
        std::array<std::optional<double>, 2> values;
        values[run] = scalars[run]->values[i];
        note(stepOf(run, i), values, diff);
      });
  for (std::size_t run = 0; run < 2; ++run) {
    if (scalars[run]->size() > 0) {
      diff->lastValues[run] = scalars[run]->values.back();
    }
  }
}

/// Returns the text of a value; empty if it has none.
std::string textAt(const RunReader& run, const ValueLocation& location) {
  event::Value value;
  run.value(location, &value).throwIfError();
  const auto* const tensor = std::get_if<event::Tensor>(&value.data);
  return tensor == nullptr ? "" : fmt::format("{}", fmt::join(tensor->strings, "\n"));
}

void compareValues(const std::array<const RunReader*, 2>& runs,
                   const std::array<const std::vector<ValueLocation>*, 2>& values, TagDiff* diff) {
  const auto stepOf = [&](std::size_t run, std::size_t i) { return (*values[run])[i].step; };
  walk(
      diff->points, stepOf,
      [&](std::size_t i, std::size_t j) {
        if (payloadOf(*runs[0], (*values[0])[i]) != payloadOf(*runs[1], (*values[1])[j])) {
          if (diff->plugin == event::kTextPlugin && !diff->parting) {
            diff->textLines =
                lineDiff(textAt(*runs[0], (*values[0])[i]), textAt(*runs[1], (*values[1])[j]));
          }
          note(stepOf(0, i), {}, diff);
        }
      },
      [&](std::size_t run, std::size_t i) { note(stepOf(run, i), {}, diff); });
}

std::vector<std::string> tagsOnlyIn(const RunReader& run, const RunReader& other,
                                    const NamePattern& pattern) {
  std::vector<std::string> tags;
  for (const auto& [tag, series] : run.tags()) {
    if (pattern.isFoundIn(tag) && other.tags().count(tag) == 0) {
      tags.push_back(tag);
    }
  }
  return tags;
}

/// The runs that are compared.
using Runs = std::array<const RunReader*, 2>;

TagDiff compareParts(const Runs& runs, const std::string& tag,
                     const std::array<SeriesPart, 2>& parts, double tolerance) {
  TagDiff diff;
  diff.tag = tag;
  diff.plugin = parts[0].plugin();
  diff.isScalar = parts[0].isScalar;
  diff.metadata = compareMetadata(parts[0].series->metadata, parts[1].series->metadata);
  diff.points = {parts[0].size(), parts[1].size()};
  if (diff.plugin != parts[1].plugin() || diff.isScalar != parts[1].isScalar) {
    // Points of different kinds cannot be compared.
  } else if (diff.isScalar) {
    compareScalars({&parts[0].series->scalars, &parts[1].series->scalars}, tolerance, &diff);
  } else {
    compareValues(runs, {&parts[0].series->values, &parts[1].series->values}, &diff);
  }
  return diff;
}

/// Compares the kinds of values that both runs have under a tag, and lists those that one run has.
void compareTag(const Runs& runs, const std::string& tag,
                const std::array<const TagSeries*, 2>& series, double tolerance, RunDiff* result) {
  const std::array<std::vector<SeriesPart>, 2> parts{detail::log::partsOf(*series[0]),
                                                     detail::log::partsOf(*series[1])};
  const auto add = [&](const SeriesPart& first, const SeriesPart& second) {
    TagDiff diff = compareParts(runs, tag, {first, second}, tolerance);
    if (!diff.isSame()) {
      result->tags.push_back(std::move(diff));
    }
  };
  if (parts[0].size() == 1 && parts[1].size() == 1) {
    add(parts[0][0], parts[1][0]);
    return;
  }
  const auto find = [](const std::vector<SeriesPart>& all, const SeriesPart& wanted) {
    return std::find_if(all.begin(), all.end(), [&](const SeriesPart& each) {
      return each.isScalar == wanted.isScalar && each.plugin() == wanted.plugin();
    });
  };
  for (std::size_t run = 0; run < 2; ++run) {
    const std::vector<SeriesPart>& others = parts[1 - run];
    for (const SeriesPart& part : parts[run]) {
      const auto other = find(others, part);
      if (other == others.end()) {
        result->onlyIn[run].push_back(fmt::format("{} ({})", tag, part.kind()));
      } else if (run == 0) {
        add(part, *other);
      }
    }
  }
}

}  // namespace

RunDiff compareRuns(const RunReader& first, const RunReader& second, const NamePattern& tag,
                    double tolerance) {
  RunDiff result;
  result.onlyIn = {tagsOnlyIn(first, second, tag), tagsOnlyIn(second, first, tag)};
  for (const auto& [name, series] : first.tags()) {
    const auto found = second.tags().find(name);
    if (tag.isFoundIn(name) && found != second.tags().end()) {
      ++result.commonTags;
      compareTag({&first, &second}, name, {&series, &found->second}, tolerance, &result);
    }
  }
  return result;
}

}  // namespace steptape::tools
