// SPDX-License-Identifier: Apache-2.0
// Python bindings of runs of several ranks, which reach each other by a library of Python's:
// steptape/_ranks.py wraps mpi4py and torch.distributed.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/ranks/communicator.h"

#include "base/got_expected.h"
#include "bindings.h"
#include "gil.h"
#include "ranks/engine/gather_transport.h"
#include "ranks/engine/transport.h"
#include "writer.h"
#include "writer_calls.h"

namespace steptape::python {
namespace {

using ::steptape::detail::ranks::GatherCommunicator;
using ::steptape::detail::ranks::GatheringRanks;
using ::steptape::detail::ranks::TransportFailure;

/// Ranks that an object of Python gathers from.
class PythonRanks final : public GatheringRanks {
 public:
  explicit PythonRanks(const nb::object& ranks)
      : ranks_(shareObject(ranks)),
        rank_(nb::cast<int>(ranks.attr("rank"))),
        size_(nb::cast<std::size_t>(ranks.attr("size"))) {}

  int rank() const override { return rank_; }
  std::size_t ranks() const override { return size_; }
  bool isUsable() const override {
    return call([&] { return nb::cast<bool>(callMethod(*ranks_, "is_usable")); });
  }
  std::string endedBecause() const override { return "its library for ranks was ended"; }
  void* startGather(Lane lane, void* all, std::size_t bytes) const override {
    return call([&] {
      const auto memory = nb::steal<nb::object>(PyMemoryView_FromMemory(
          static_cast<char*>(all), static_cast<Py_ssize_t>(bytes * size_), PyBUF_WRITE));
      nb::object operation = callMethod(*ranks_, "start_gather", nb::int_(static_cast<int>(lane)),
                                        memory, nb::int_(bytes));
      return static_cast<void*>(operation.release().ptr());
    });
  }
  bool hasEnded(void* operation) const override {
    return call([&] {
      const nb::handle known(static_cast<PyObject*>(operation));
      const bool hasEnded = nb::cast<bool>(callMethod(*ranks_, "has_ended", known));
      if (hasEnded) {
        known.dec_ref();
      }
      return hasEnded;
    });
  }
  bool canSend() const override {
    return call([&] { return nb::cast<bool>(ranks_->attr("can_send")); });
  }
  void* startSend(int rank, const void* data, std::size_t bytes) const override {
    return call([&] {
      const nb::bytes message(static_cast<const char*>(data), bytes);
      nb::object operation = callMethod(*ranks_, "start_send", nb::int_(rank), message);
      return static_cast<void*>(operation.release().ptr());
    });
  }
  int receive(void* data, std::size_t bytes) const override {
    return call([&] {
      const auto memory = nb::steal<nb::object>(PyMemoryView_FromMemory(
          static_cast<char*>(data), static_cast<Py_ssize_t>(bytes), PyBUF_WRITE));
      return nb::cast<int>(callMethod(*ranks_, "receive", memory));
    });
  }

 private:
  /// @throws TransportFailure for an exception of Python.
  template <typename Body>
  static auto call(const Body& body) -> decltype(body()) {
    const GilAcquire gil;
    try {
      return body();
    } catch (const nb::python_error& error) {
      if (error.matches(PyExc_KeyboardInterrupt)) {
        PyErr_SetInterrupt();  // The program shall see it as well, once the call has ended.
      }
      throw TransportFailure(ErrorCode::kIoError,
                             nb::cast<std::string>(nb::str(error.type().attr("__name__"))) + ": " +
                                 nb::cast<std::string>(nb::str(error.value())));
    }
  }

  const SharedObject ranks_;
  const int rank_;
  const std::size_t size_;
};

std::shared_ptr<Communicator> communicatorOf(const std::shared_ptr<const PythonRanks>& ranks) {
  if (ranks->ranks() == 1) {
    return std::make_shared<Communicator>();
  }
  try {
    return std::make_shared<GatherCommunicator>(ranks);
  } catch (const TransportFailure& failure) {
    throw Error(failure.code(), std::string("SummaryWriter: reduce: ") + failure.what());
  }
}

void initJob(Writer* self, const nb::bytes& logDir, const nb::object& ranks, bool isPerRank,
             std::optional<std::int64_t> purgeStep, double flushSeconds,
             const std::string& filenameSuffix, bool isEnabled, const MirrorChoice& mirror) {
  DistributedWriterOptions options;
  options.rankPolicy = isPerRank ? RankPolicy::kPerRank : RankPolicy::kRootOnly;
  options.writer = commonOptions(purgeStep, flushSeconds, filenameSuffix, isEnabled, mirror);
  const std::string directory(logDir.c_str(), logDir.size());
  const auto job = std::make_shared<const PythonRanks>(ranks);
  const GilRelease release;
  new (self) Writer(directory, communicatorOf(job), std::move(options));
}

DistributedWriter& jobOf(Writer* self, const char* function) {
  if (self->job() == nullptr) {
    throw Error(ErrorCode::kFailedPrecondition,
                std::string(function) + ": " +
                    ::steptape::detail::base::gotExpected("a writer of one process",
                                                          "one with the argument `reduce`"));
  }
  return *self->job();
}

void addReduced(Self self, std::string_view tag, double value, std::int64_t step,
                std::optional<double> wallTime, double weight, bool min, bool max, bool std,
                bool sum, bool argmaxRank, std::vector<double> percentiles, bool histogram,
                bool band) {
  DistributedWriter& job = jobOf(self.p, "add_reduced");
  ReducedOptions options;
  options.wallTime = wallTime;
  options.weight = weight;
  options.min = min;
  options.max = max;
  options.std = std;
  options.sum = sum;
  options.argmaxRank = argmaxRank;
  options.percentiles = std::move(percentiles);
  options.perRankHistogram = histogram;
  options.band = band;
  job.addReduced(tag, value, step, options);
}

void reduce(Self self, std::int64_t step) {
  DistributedWriter& job = jobOf(self.p, "reduce");
  {
    const GilRelease release;
    job.reduce(step);
  }
  report(self);
}

}  // namespace

void bindJob(nb::class_<Writer>* writer) {
  writer
      ->def("__init__", &initJob, "directory"_a, "ranks"_a, "is_per_rank"_a, "purge_step"_a.none(),
            "flush_seconds"_a, "filename_suffix"_a, "enabled"_a, "mirror"_a)
      .def("_add_reduced", &addReduced)
      .def("_reduce", &reduce);
}

}  // namespace steptape::python
