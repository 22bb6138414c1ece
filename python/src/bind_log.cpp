// SPDX-License-Identifier: Apache-2.0
// Python bindings of logs, runs and the columns of series.
#include <map>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <utility>
#include <variant>

#include "steptape/base/status.h"
#include "steptape/log/event_file_reader.h"
#include "steptape/log/run_reader.h"

#include "arrays.h"
#include "bindings.h"
#include "gil.h"
#include "log.h"
#include "log/reader/event_values.h"

namespace steptape::python {
namespace {

PurgePolicy purgePolicy(const std::string& name) {
  static const std::map<std::string, PurgePolicy> kPolicies{
      {"restarts", PurgePolicy::kRestarts},
      {"tensorboard", PurgePolicy::kTensorBoardServer},
      {"none", PurgePolicy::kNone}};
  const auto found = kPolicies.find(name);
  if (found == kPolicies.end()) {
    throw Error(ErrorCode::kInvalidArgument,
                "purge: got '" + name + "'; expected 'restarts', 'tensorboard' or 'none'");
  }
  return found->second;
}

const char* outcomeName(ReadOutcome outcome) {
  switch (outcome) {
    case ReadOutcome::kTruncated:
      return "truncated";
    case ReadOutcome::kIoError:
      return "unreadable";
    default:
      return "corrupt";
  }
}

nb::list damageList(const std::vector<Damage>& all) {
  nb::list found;
  for (const Damage& damage : all) {
    found.append(nb::make_tuple(toStr(damage.path), damage.offset, damage.bytes,
                                outcomeName(damage.outcome), toStr(damage.status.message())));
  }
  return found;
}

nb::list damageOf(const Run& run) {
  return damageList(run.reader->damage());
}

/// Returns the metadata of the first value of the tag, or of the kind if it is a further one.
nb::tuple metadataOf(const Series& series) {
  const event::SummaryMetadata& metadata = series.points->metadata;
  return nb::make_tuple(toStr(metadata.pluginName), toBytes(metadata.pluginContent),
                        toStr(metadata.displayName), toStr(metadata.description),
                        static_cast<int>(metadata.dataClass));
}

/// Converts a path from the form of os.fsencode().
std::string toString(const nb::bytes& path) {
  return {path.c_str(), path.size()};
}

std::uint64_t totalBytesBelow(const nb::bytes& encoded) {
  const std::string path = toString(encoded);
  const GilRelease release;
  std::uint64_t bytes = 0;
  for (const RunFiles& run : listRuns(path)) {
    bytes += totalBytes(run);
  }
  return bytes;
}

/// Returns the wall time, the writer and the version of the file ("" if it is not there) of the
/// first event of `path`; None if it has none yet.
nb::object firstEvent(const nb::bytes& path) {
  event::Event event;
  if (EventFileReader(toString(path)).next(&event) != ReadOutcome::kRecord) {
    return nb::none();
  }
  const auto* const version = std::get_if<event::FileVersion>(&event.what);
  return nb::make_tuple(event.wallTime, toStr(event.sourceWriter),
                        toStr(version == nullptr ? "" : version->version));
}

/// Returns step and wall time of the last event of old files that TensorBoard's EventAccumulator
/// compares later steps with; -1 and -1 if there is none.
///
/// @source tensorboard/backend/event_processing/event_accumulator.py at 2.21,
///         _MaybePurgeOrphanedData()
nb::tuple mostRecent(const std::vector<nb::bytes>& paths) {
  std::int64_t step = -1;
  double wallTime = -1;
  bool hasRestarts = false;
  for (const nb::bytes& path : paths) {
    EventFileReader reader(toString(path));
    for (event::Event event; reader.next(&event) == ReadOutcome::kRecord;) {
      if (const auto* const version = std::get_if<event::FileVersion>(&event.what)) {
        hasRestarts = ::steptape::detail::log::hasRestarts(*version);
      }
      const bool isBack = event.step < step && std::holds_alternative<event::Summary>(event.what);
      if (!hasRestarts && !isBack) {
        step = event.step;
        wallTime = event.wallTime;
      }
    }
  }
  return nb::make_tuple(step, wallTime);
}

nb::list strings(const std::vector<std::string>& all) {
  nb::list list;
  for (const std::string& each : all) {
    list.append(toStr(each));
  }
  return list;
}

nb::object steps(const Series& series) {
  const TagSeries& points = *series.points;
  if (series.isScalar) {
    return arrayOf(points.scalars.steps.data(), points.scalars.size(), series.points);
  }
  constexpr std::int64_t kStride = sizeof(ValueLocation) / sizeof(std::int64_t);
  const ValueLocation* const first = points.values.data();
  return arrayOf(first == nullptr ? nullptr : &first->step, points.values.size(), series.points,
                 kStride);
}

nb::object wallTimes(const Series& series) {
  const TagSeries& points = *series.points;
  if (series.isScalar) {
    return arrayOf(points.scalars.wallTimes.data(), points.scalars.size(), series.points);
  }
  constexpr std::int64_t kStride = sizeof(ValueLocation) / sizeof(double);
  const ValueLocation* const first = points.values.data();
  return arrayOf(first == nullptr ? nullptr : &first->wallTime, points.values.size(), series.points,
                 kStride);
}

nb::object scalarValues(const Series& series) {
  const ScalarColumns& scalars = series.points->scalars;
  return arrayOf(scalars.values.data(), scalars.size(), series.points);
}

/// Python's handle of a Log: a value, because arrays and series share the log.
struct LogHandle {
  std::shared_ptr<Log> log;
};

LogHandle openLog(const nb::bytes& path, int threads, const std::string& purge,
                  std::map<std::string, std::size_t> maxPoints, std::size_t otherMaxPoints,
                  nb::object wants) {
  RunReaderOptions options;
  options.threads = threads;
  options.purge = purgePolicy(purge);
  options.sampling = {std::move(maxPoints), otherMaxPoints};
  return {std::make_shared<Log>(toString(path), std::move(options), std::move(wants))};
}

}  // namespace

void bindLog(nb::module_& module) {
  nb::class_<LogHandle>(module, "Log", "A log directory, which update() reads and follows.")
      .def(
          "__init__",
          [](LogHandle* self, const nb::bytes& path, int threads, const std::string& purge,
             std::map<std::string, std::size_t> maxPoints, std::size_t otherMaxPoints,
             nb::object wants) {
            new (self) LogHandle(openLog(path, threads, purge, std::move(maxPoints), otherMaxPoints,
                                         std::move(wants)));
          },
          "path"_a, "threads"_a = 1, "purge"_a = "restarts",
          "max_points"_a = std::map<std::string, std::size_t>(), "other_max_points"_a = 0,
          "wants"_a = nb::none())
      .def(
          "update",
          [](const LogHandle& self, const nb::object& progress) {
            return self.log->update(progress);
          },
          "progress"_a = nb::none(), "Reads what is new; returns the number of bytes.")
      .def(
          "read_new",
          [](const LogHandle& self, const nb::object& progress) {
            return readNew(self.log, progress);
          },
          "progress"_a = nb::none(), "Reads what is new; returns a copy, one series per tag.")
      .def(
          "replaced_files",
          [](const LogHandle& self) { return strings(replacedFilesOf(*self.log)); },
          "Files that the last call found truncated or replaced, and read from their start.")
      .def("runs", [](const LogHandle& self) { return runsOf(self.log); })
      .def(
          "unreadable", [](const LogHandle& self) { return damageList(self.log->unreadable()); },
          "The directories that the last update() could not read, as Run.damage().");

  nb::class_<Run>(module, "Run", "A run as of the last Log.update().")
      .def_prop_ro("name", [](const Run& run) { return toStr(run.reader->name()); })
      .def_prop_ro("directory", [](const Run& run) { return toStr(run.reader->directory()); })
      .def_prop_ro("files", [](const Run& run) { return strings(run.reader->files()); })
      .def("damage", &damageOf, "Tuples of path, offset, bytes, kind and message.")
      .def("series", &seriesOf);

  nb::class_<Series>(module, "Series", "All values of one tag in one run.")
      .def_prop_ro("run", [](const Series& series) { return toStr(series.run->name()); })
      .def_prop_ro("tag", [](const Series& series) { return toStr(series.tag); })
      .def_ro("is_scalar", &Series::isScalar)
      .def_prop_ro(
          "is_rounded",
          [](const Series& series) { return series.isScalar && series.points->isRounded; },
          "Whether integers were rounded, because no double equals them.")
      .def_prop_ro("plugin", [](const Series& series) { return toStr(series.plugin()); })
      .def_prop_ro(
          "plugin_content",
          [](const Series& series) { return toBytes(series.points->metadata.pluginContent); })
      .def_prop_ro("display_name",
                   [](const Series& series) { return toStr(series.points->metadata.displayName); })
      .def_prop_ro("description",
                   [](const Series& series) { return toStr(series.points->metadata.description); })
      .def_prop_ro("steps", &steps)
      .def_prop_ro("wall_times", &wallTimes)
      .def_prop_ro("scalar_values", &scalarValues)
      .def_prop_ro("metadata", &metadataOf,
                   "Plugin, its content, display name, description and data class of the tag.")
      .def("__len__", [](const Series& series) { return series.part().size(); });

  module.def("total_bytes", &totalBytesBelow, "path"_a,
             "The bytes of all event files in and below a directory.");
  module.def("most_recent", &mostRecent, "paths"_a,
             "Step and wall time with which EventAccumulator compares steps of old files.");
  module.def(
      "first_event", &firstEvent, "path"_a,
      "Wall time, writer and version in a file's first event; None if there is no event yet.");
}

}  // namespace steptape::python
