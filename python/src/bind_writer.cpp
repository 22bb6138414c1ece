// SPDX-License-Identifier: Apache-2.0
// Python bindings of the life of a run that a program writes.
#include <chrono>
#include <cstdint>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <optional>
#include <pthread.h>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/log/summary_writer.h"
#include "steptape/metrics/distributed_writer.h"

#include "bindings.h"
#include "gil.h"
#include "log/writer/default_log_dir.h"
#include "log/writer/failed_end.h"
#include "log/writer/wait_check.h"
#include "ranks/communicator/launch.h"
#include "writer.h"
#include "writer_calls.h"

namespace steptape::python {
namespace {

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

/// @param base   What comes before the default directory: where the program was started.
/// @param logDir Absolute; empty for the default.
void init(Writer* self, const nb::bytes& base, const nb::bytes& logDir, const std::string& comment,
          std::optional<std::int64_t> purgeStep, double flushSeconds,
          const std::string& filenameSuffix, bool isEnabled, const MirrorChoice& mirror,
          bool isShared) {
  WriterOptions options = commonOptions(purgeStep, flushSeconds, filenameSuffix, isEnabled, mirror);
  options.comment = comment;
  options.occupied = isShared ? OccupiedRun::kShare : OccupiedRun::kRefuse;
  std::string directory(logDir.c_str(), logDir.size());
  if (directory.empty() && isEnabled) {
    directory.assign(base.c_str(), base.size());
    directory += ::steptape::detail::log::defaultLogDir(options);
    options.occupied = isShared ? OccupiedRun::kShare : OccupiedRun::kNewDirectory;
  }
  const GilRelease release;
  new (self) Writer(std::move(directory), std::move(options));
}

/// Whether a call that waits goes on; called without the GIL.
bool mayWait() {
  const GilAcquire gil;
  return PyErr_Occurred() == nullptr && enterPython([] { return PyErr_CheckSignals(); }) == 0;
}

/// Throws the failure of a flush or close. What is wrong besides comes first, as warnings.
///
/// @throws nb::python_error if a handler of a signal does, as that of Ctrl-C.
void finish(const Self& self, Status (Writer::*act)()) {
  Status status;
  {
    const GilRelease release;
    const ::steptape::detail::log::WaitCheck check(&mayWait);
    status = (self.p->*act)();
  }
  if (PyErr_Occurred() != nullptr) {
    throw nb::python_error();
  }
  if (status.ok()) {
    report(self);
    return;
  }
  self.p->problems().take();  // The exception tells them.
  throw Error(status.code(), status.message());
}

}  // namespace

WriterOptions commonOptions(std::optional<std::int64_t> purgeStep, double flushSeconds,
                            const std::string& filenameSuffix, bool isEnabled,
                            const MirrorChoice& mirror) {
  WriterOptions options;
  options.purgeStep = purgeStep;
  options.flushPeriod = milliseconds(flushSeconds);
  options.filenameSuffix = filenameSuffix;
  options.enabled = isEnabled;
  const auto& [url, periodSeconds, timeoutSeconds] = mirror;
  options.mirror = url;
  options.mirrorPeriod = milliseconds(periodSeconds);
  options.mirrorTimeout = milliseconds(timeoutSeconds);
  return options;
}

void countForks() {
  pthread_atfork(nullptr, nullptr,
                 [] { Writer::forkCount_.fetch_add(1, std::memory_order_relaxed); });
}

void reportProblems(nb::handle self, Writer* writer) {
  const bool isForked = writer->isForked();
  writer->acceptFork();
  nb::list messages;
  // Of a child, they are the parent's.
  for (const std::string& message :
       isForked ? std::vector<std::string>() : writer->problems().take()) {
    messages.append(toStr(forPython(message)));
  }
  callMethod(self, "_report", messages, nb::bool_(isForked));
}

void bindWriter(nb::module_& module) {
  countForks();
  PyType_Slot slots[] = {{Py_tp_methods, addScalarMethod}, {0, nullptr}};
  nb::class_<Writer> writer(module, "Writer", nb::type_slots(slots));
  writer.def("__init__", &init)
      .def("_flush", [](Self self) { finish(self, &Writer::flush); })
      .def("_close",
           [](Self self, bool hasFailed) {
             std::optional<::steptape::detail::log::FailedEnd> failed;
             if (hasFailed) {
               failed.emplace();
             }
             finish(self, &Writer::close);
           })
      .def("_resume",
           [](Self self, std::int64_t step) {
             call(self, [&](SummaryWriter& run) { run.resume(step); });
           })
      .def("_tell", [](Self self) { report(self); })
      .def_prop_ro("_directory",
                   [](Writer& self) {
                     return nb::bytes(self.writer().logDir().data(), self.writer().logDir().size());
                   })
      .def("_stats",
           [](Writer& self) {
             const WriterStats stats = self.writer().stats();
             nb::dict counts;
             counts["scalars"] = stats.scalars;
             counts["values"] = stats.values;
             counts["events"] = stats.events;
             counts["bytes_written"] = stats.bytesWritten;
             counts["files"] = stats.files;
             counts["dropped_scalars"] = stats.droppedScalars;
             counts["dropped_values"] = stats.droppedValues;
             counts["retries"] = stats.retries;
             counts["step_regressions"] = stats.stepRegressions;
             counts["mirror_bytes"] = stats.mirrorBytes;
             counts["mirror_late_files"] = stats.mirrorLateFiles;
             counts["mirror_late_bytes"] = stats.mirrorLateBytes;
             return counts;
           })
      .def_prop_ro("_is_enabled", [](Writer& self) { return self.writer().isEnabled(); })
      .def_prop_rw("_is_ordered", &Writer::isOrdered, &Writer::setOrdered)
      .def("_export_scalars", [](Self self, const nb::bytes& path) {
        Status status;
        {
          const GilRelease release;
          status = self.p->writer().exportScalarsToJson(std::string(path.c_str(), path.size()));
        }
        if (!status.ok()) {
          throw Error(status.code(), status.message());
        }
      });
  bindAddedValues(&writer);
  bindJob(&writer);
  module.def("launch", [] {
    const auto launch = ::steptape::detail::ranks::findLaunch({/*hasMpi=*/true, /*hasStore=*/true});
    return std::pair(launch.rank, launch.size);
  });
  module.def("rank_run_name", &rankRunName);
}

}  // namespace steptape::python
