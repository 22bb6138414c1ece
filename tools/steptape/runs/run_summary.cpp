// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/run_summary.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <system_error>
#include <variant>

#include "steptape/base/status.h"
#include "steptape/log/event_file_reader.h"

#include "base/text.h"
#include "tools/steptape/runs/bucket_copies.h"
#include "tools/steptape/runs/rounded_scalars.h"
#include "tools/steptape/tables/value_text.h"

namespace steptape::tools {
namespace {

/// REQUIRES: `scalars` is not empty.
ScalarSummary summaryOf(const ScalarColumns& scalars) {
  const double first = scalars.values.front();
  ScalarSummary summary{first, scalars.values.back(), first, first, 0};
  for (const double value : scalars.values) {
    // Skips NaN, as joined() does.
    summary.least = std::fmin(summary.least, value);
    summary.largest = std::fmax(summary.largest, value);
    summary.notFinite += std::isfinite(value) ? 0 : 1;
  }
  return summary;
}

/// Returns the shortest span that contains both. A NaN limit is unknown: fmin() and fmax() of a
/// number and NaN return the number.
TimeSpan joined(const TimeSpan& left, const TimeSpan& right) {
  return {std::fmin(left.first, right.first), std::fmax(left.last, right.last)};
}

TimeSpan spanOf(const ScalarColumns& scalars) {
  TimeSpan span;
  for (const double wallTime : scalars.wallTimes) {
    span = joined(span, {wallTime, wallTime});
  }
  return span;
}

TimeSpan spanOf(const std::vector<ValueLocation>& values) {
  TimeSpan span;
  for (const ValueLocation& value : values) {
    span = joined(span, {value.wallTime, value.wallTime});
  }
  return span;
}

std::string contentsOf(const RunReader& run, const TagSeries& series) {
  event::Value last;
  const Status status = run.value(series.values.back(), &last);
  return status.ok() ? describeValue(last, series.metadata) : "not readable: " + status.message();
}

/// REQUIRES: `part` is not empty.
TagSummary summaryOf(const RunReader& run, const std::string& tag,
                     const detail::log::SeriesPart& part) {
  TagSummary summary;
  summary.tag = tag;
  summary.part = part;
  if (part.isScalar) {
    const ScalarColumns& scalars = part.series->scalars;
    summary.firstStep = scalars.steps.front();
    summary.lastStep = scalars.steps.back();
    summary.span = spanOf(scalars);
    summary.scalars = summaryOf(scalars);
  } else {
    const std::vector<ValueLocation>& values = part.series->values;
    summary.firstStep = values.front().step;
    summary.lastStep = values.back().step;
    summary.span = spanOf(values);
    summary.contents = contentsOf(run, *part.series);
  }
  return summary;
}

void addNotes(const std::string& tag, const TagSeries& series,
              const std::vector<detail::log::SeriesPart>& parts, std::vector<std::string>* notes) {
  if (parts.size() > 1) {
    std::vector<std::string> kinds;
    for (const detail::log::SeriesPart& part : parts) {
      kinds.push_back(fmt::format("{} ({})", part.kind(), part.size()));
    }
    notes->push_back(
        fmt::format("{}: got {} under one tag; expected one kind: TensorBoard shows one of them at "
                    "most, see steptape check",
                    tag, fmt::join(kinds, " and ")));
  }
  if (series.isRounded) {
    notes->push_back(roundedNote(tag));
  }
}

FileSummary summaryOf(const RunReader& run, const std::string& path) {
  FileSummary file;
  file.path = shownPathOf(path);
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  file.bytes = error ? 0 : bytes;
  for (const Damage& damage : run.damage()) {
    if (damage.path == path) {
      file.damage.push_back(damage);
      file.damage.back().path = file.path;
      file.damage.back().status =
          Status(damage.status.code(), shownPathOf(damage.status.message()));
    }
  }
  return file;
}

/// Returns whether a file has nothing but the first event that TensorFlow's writer begins a file
/// with. Its profiler leaves such files on purpose.
bool isHeaderOfTensorFlow(const std::string& path) {
  constexpr char kWriter[] = "tensorflow.core.util.events_writer";
  constexpr char kEndOfProfilers[] = ".profile-empty";
  if (steptape::detail::base::endsWith(path, kEndOfProfilers)) {
    return false;
  }
  try {
    EventFileReader events(path);
    event::Event event;
    return events.next(&event) == ReadOutcome::kRecord && event.sourceWriter == kWriter &&
           std::holds_alternative<event::FileVersion>(event.what) &&
           events.next(&event) == ReadOutcome::kTruncated && events.lastError().ok();
  } catch (const Error&) {
    return false;  // the damage of the run says why
  }
}

/// Explains a run without a point in which TensorFlow has only begun a file.
void addHintOfTensorFlow(const RunReader& run, std::vector<std::string>* notes) {
  const bool hasPoints = std::any_of(run.tags().begin(), run.tags().end(),
                                     [](const auto& tag) { return tag.second.size() > 0; });
  if (hasPoints) {
    return;
  }
  const auto file = std::find_if(run.files().begin(), run.files().end(), isHeaderOfTensorFlow);
  if (file != run.files().end()) {
    notes->push_back(fmt::format(
        "{}: TensorFlow has begun this file and written no value yet. If that stays so, its "
        "program may lack the package tensorboard, without which tf.summary raises "
        "TBNotInstalledError: pip install tensorboard",
        *file));
  }
}

}  // namespace

RunSummary summarize(const RunReader& run, const NamePattern& tags) {
  RunSummary summary;
  summary.directory = run.directory();
  for (const std::string& path : run.files()) {
    summary.files.push_back(summaryOf(run, path));
    summary.bytes += summary.files.back().bytes;
  }
  for (const auto& [tag, series] : run.tags()) {
    // A restart may have discarded all points of a tag.
    if (series.size() == 0 || !tags.isFoundIn(tag)) {
      continue;
    }
    const std::vector<detail::log::SeriesPart> parts = detail::log::partsOf(series);
    ++summary.tagCount;
    for (const detail::log::SeriesPart& part : parts) {
      const TagSummary& added = summary.tags.emplace_back(summaryOf(run, tag, part));
      summary.points += added.points();
      summary.span = joined(summary.span, added.span);
    }
    addNotes(tag, series, parts, &summary.notes);
  }
  addHintOfTensorFlow(run, &summary.notes);
  return summary;
}

}  // namespace steptape::tools
