// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include "steptape/log/run_reader.h"

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
    const GilAcquire gil;
    if (enterPython([] { return PyErr_CheckSignals(); }) != 0) {
      throw nb::python_error();
    }
    const auto now = std::chrono::steady_clock::now();
    if (!progress_.is_none() && now >= next_) {
      next_ = now + kReportPeriod;
      callPython(progress_, nb::int_(bytes));
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
    const GilAcquire gil;
    return nb::cast<bool>(callPython(*predicate, toStr(run.name)));
  };
}

/// Returns the new points of one kind.
std::shared_ptr<const TagSeries> newPoints(const ::steptape::detail::log::SeriesPart& part) {
  auto copy = std::make_shared<TagSeries>();
  copy->metadata = part.series->metadata;
  copy->isRounded = part.series->isRounded;
  const auto tail = [&](const auto& column) {
    const auto begin = column.begin() + static_cast<std::ptrdiff_t>(part.firstNew());
    return std::decay_t<decltype(column)>(begin, column.end());
  };
  if (part.isScalar) {
    const ScalarColumns& scalars = part.series->scalars;
    copy->scalars = {tail(scalars.wallTimes), tail(scalars.steps), tail(scalars.values)};
  } else {
    copy->values = tail(part.series->values);
  }
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
  const GilRelease release;
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  onProgress_ = [&reporter](std::uint64_t bytes) { reporter.report(bytes); };
  const std::uint64_t bytes = dir_.update();
  dir_.lastError().throwIfError();
  return bytes;
}

event::Value Log::value(const RunReader& run, const ValueLocation& location) const {
  const GilRelease release;
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  event::Value value;
  run.value(location, &value).throwIfError();
  return value;
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
    for (const ::steptape::detail::log::SeriesPart& part :
         ::steptape::detail::log::partsOf(points)) {
      all.push_back({run.log, run.reader, tag, {run.log, part.series}, part.isScalar});
    }
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
      for (const ::steptape::detail::log::SeriesPart& part :
           ::steptape::detail::log::partsOf(points)) {
        if (part.firstNew() < part.size()) {
          added.push_back({log, &reader, tag, newPoints(part), part.isScalar});
        }
      }
    }
  }
  return added;
}

}  // namespace steptape::python
