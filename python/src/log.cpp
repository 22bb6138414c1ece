// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include "steptape/event/plugin_content.h"
#include "steptape/reader/run_files.h"

#include "gil.h"

namespace steptape::python {
namespace {

// Often enough for a person who watches.
constexpr std::chrono::milliseconds kReportPeriod{50};

/// Checks for signals and reports progress, with the GIL.
class Reporter {
 public:
  explicit Reporter(const nb::object& progress) : progress_(progress) {}

  /// Called every few MiB, so that taking the GIL costs nothing.
  void report(std::uint64_t bytes) {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) {
      throw nb::python_error();
    }
    const auto now = std::chrono::steady_clock::now();
    if (!progress_.is_none() && now >= next_) {
      next_ = now + kReportPeriod;
      progress_(bytes);
    }
  }

 private:
  const nb::object& progress_;
  std::chrono::steady_clock::time_point next_;
};

std::function<bool(const RunFiles& run)> wantsByName(nb::object wants) {
  if (wants.is_none()) {
    return nullptr;
  }
  return [predicate = shareObject(std::move(wants))](const RunFiles& run) {
    const nb::gil_scoped_acquire gil;
    return nb::cast<bool>((*predicate)(toStr(run.name)));
  };
}

/// Returns the points of `series` from `first` on.
std::shared_ptr<const TagSeries> copyFrom(const TagSeries& series, std::size_t first) {
  auto copy = std::make_shared<TagSeries>();
  copy->metadata = series.metadata;
  const auto tail = [first](const auto& column) {
    const auto begin = column.begin() + static_cast<std::ptrdiff_t>(std::min(first, column.size()));
    return std::decay_t<decltype(column)>(begin, column.end());
  };
  copy->scalars = {tail(series.scalars.wallTimes), tail(series.scalars.steps),
                   tail(series.scalars.values)};
  copy->values = tail(series.values);
  return copy;
}

}  // namespace

Log::Log(std::string path, RunReaderOptions options, nb::object wants)
    : dir_(
          std::move(path),
          [&] {
            options.onProgress = [this](std::uint64_t bytes) { onProgress_(bytes); };
            return std::move(options);
          }(),
          wantsByName(std::move(wants))) {}

std::uint64_t Log::update(const nb::object& progress) {
  Reporter reporter(progress);
  const nb::gil_scoped_release release;
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  onProgress_ = [&reporter](std::uint64_t bytes) { reporter.report(bytes); };
  const std::uint64_t bytes = dir_.update();
  dir_.lastError().throwIfError();
  return bytes;
}

event::Value Log::value(const RunReader& run, const ValueLocation& location) const {
  const nb::gil_scoped_release release;
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  event::Value value;
  run.value(location, &value).throwIfError();
  return value;
}

bool Series::isScalar() const {
  return plugin() == event::kScalarsPlugin && points->values.empty();
}

std::vector<Run> runsOf(const std::shared_ptr<Log>& log) {
  std::vector<Run> runs;
  for (const auto& [name, reader] : log->runs()) {
    runs.push_back({log, &reader});
  }
  return runs;
}

std::vector<Series> seriesOf(const Run& run) {
  std::vector<Series> all;
  all.reserve(run.reader->tags().size());
  for (const auto& [tag, points] : run.reader->tags()) {
    all.push_back({run.log, run.reader, tag, {run.log, &points}});
  }
  return all;
}

std::vector<std::string> replacedFilesOf(const Log& log) {
  std::vector<std::string> files;
  for (const auto& [name, reader] : log.runs()) {
    files.insert(files.end(), reader.replacedFiles().begin(), reader.replacedFiles().end());
  }
  return files;
}

std::vector<Series> readNew(const std::shared_ptr<Log>& log, const nb::object& progress) {
  log->update(progress);
  std::vector<Series> added;
  for (const auto& [name, reader] : log->runs()) {
    for (const auto& [tag, points] : reader.tags()) {
      if (points.firstNew < points.size()) {
        added.push_back({log, &reader, tag, copyFrom(points, points.firstNew)});
      }
    }
  }
  return added;
}

}  // namespace steptape::python
