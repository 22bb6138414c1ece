// SPDX-License-Identifier: Apache-2.0
// Python bindings of the life of a run that a program writes.
#include <chrono>
#include <cstdint>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
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
#include "ranks/communicator/launch.h"
#include "writer.h"
#include "writer_calls.h"

namespace steptape::python {
namespace {

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

void init(Writer* self, const nb::bytes& logDir, const std::string& comment,
          std::optional<std::int64_t> purgeStep, double flushSeconds,
          const std::string& filenameSuffix, bool isEnabled, bool isShared) {
  WriterOptions options;
  options.comment = comment;
  options.purgeStep = purgeStep;
  options.flushPeriod = milliseconds(flushSeconds);
  options.filenameSuffix = filenameSuffix;
  options.enabled = isEnabled;
  options.occupied = isShared ? OccupiedRun::kShare : OccupiedRun::kRefuse;
  const std::string directory(logDir.c_str(), logDir.size());
  const nb::gil_scoped_release release;
  new (self) Writer(directory, std::move(options));
}

/// Throws the failure of a flush or close. What is wrong besides comes first, as warnings.
void finish(const Self& self, Status (Writer::*act)()) {
  Status status;
  {
    const nb::gil_scoped_release release;
    status = (self.p->*act)();
  }
  if (status.ok()) {
    report(self);
    return;
  }
  self.p->problems().take();  // The exception tells them.
  throw Error(status.code(), status.message());
}

}  // namespace

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
    messages.append(toStr(message));
  }
  self.attr("_report")(messages, isForked);
}

void bindWriter(nb::module_& module) {
  countForks();
  PyType_Slot slots[] = {{Py_tp_methods, addScalarMethod}, {0, nullptr}};
  nb::class_<Writer> writer(module, "Writer", nb::type_slots(slots));
  writer.def("__init__", &init)
      .def("_flush", [](Self self) { finish(self, &Writer::flush); })
      .def("_close", [](Self self) { finish(self, &Writer::close); })
      .def("_resume",
           [](Self self, std::int64_t step) {
             call(self, [&](SummaryWriter& run) { run.resume(step); });
           })
      .def(
          "_step_of", [](Self self, nb::handle step) { return stepOf(self.h, step); },
          "step"_a.none())
      .def_prop_ro("_directory",
                   [](Writer& self) {
                     return nb::bytes(self.writer().logDir().data(), self.writer().logDir().size());
                   })
      .def_prop_rw("_is_ordered", &Writer::isOrdered, &Writer::setOrdered)
      .def("_export_scalars", [](Self self, const nb::bytes& path) {
        Status status;
        {
          const nb::gil_scoped_release release;
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
