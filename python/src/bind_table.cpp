// SPDX-License-Identifier: Apache-2.0
// Python bindings of the long table, as numpy columns and as an Arrow stream.
#include <algorithm>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>
#include <thread>
#include <utility>
#include <vector>

#include "arrow_stream.h"
#include "bindings.h"
#include "gil.h"
#include "new_column.h"
#include "table.h"

namespace steptape::python {
namespace {

/// Python's handle of a Table: a value, because Arrow streams share the table.
struct TableHandle {
  std::shared_ptr<const Table> table;
};

template <typename T>
nb::object toArray(NewColumn<T> column, std::size_t rows) {
  T* const data = column.release();
  const nb::capsule owner(data, [](void* owned) noexcept { FreeNumbers()(owned); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, {rows}, owner));
}

/// Copies the whole table, on several threads if that is faster.
template <typename Code>
void copyAll(const Table& table, Table::Columns<Code> to) {
  constexpr std::size_t kRowsOfAThread = std::size_t{1} << 20;
  constexpr std::size_t kMostThreads = 4;  // more threads would wait for memory
  const std::size_t processors = std::max(std::thread::hardware_concurrency(), 1U);
  const std::size_t threads =
      std::min({table.rows() / kRowsOfAThread + 1, processors, kMostThreads});
  const std::size_t rows = table.rows() / threads + 1;
  std::vector<std::future<void>> helpers;
  for (std::size_t begin = rows; begin < table.rows(); begin += rows) {
    // If no thread can be started, get() does the work.
    helpers.push_back(
        std::async([&table, begin, rows, to] { table.copy(begin, rows, to.from(begin)); }));
  }
  table.copy(0, rows, to);
  for (std::future<void>& helper : helpers) {
    helper.get();
  }
}

template <typename Code>
nb::tuple columnsWithCodes(const Table& table) {
  const std::size_t rows = table.rows();
  auto runs = newColumn<Code>(rows);
  auto tags = newColumn<Code>(rows);
  auto steps = newColumn<std::int64_t>(rows);
  auto wallTimes = newColumn<double>(rows);
  auto values = newColumn<double>(rows);
  {
    const GilRelease release;
    table.copy<Code>(0, rows, {runs.get(), tags.get(), steps.get(), wallTimes.get(), values.get()});
  }
  return nb::make_tuple(toArray(std::move(runs), rows), toArray(std::move(tags), rows),
                        toArray(std::move(steps), rows), toArray(std::move(wallTimes), rows),
                        toArray(std::move(values), rows));
}

/// Returns the columns with the smallest codes that can number all names, like pandas.
nb::tuple columns(const TableHandle& self) {
  const Table& table = *self.table;
  const std::size_t names = std::max(table.runNames().size(), table.tagNames().size());
  if (names <= std::numeric_limits<std::int8_t>::max()) {
    return columnsWithCodes<std::int8_t>(table);
  }
  if (names <= std::numeric_limits<std::int16_t>::max()) {
    return columnsWithCodes<std::int16_t>(table);
  }
  return columnsWithCodes<std::int32_t>(table);
}

nb::capsule arrowStream(const TableHandle& self) {
  auto stream = std::make_unique<ArrowArrayStream>();
  exportStream(self.table, stream.get());
  return nb::capsule(stream.release(), "arrow_array_stream", [](void* held) noexcept {
    const std::unique_ptr<ArrowArrayStream> owned(static_cast<ArrowArrayStream*>(held));
    if (owned->release != nullptr) {  // no consumer has taken it
      owned->release(owned.get());
    }
  });
}

nb::list names(const std::vector<std::string>& all) {
  nb::list list;
  for (const std::string& each : all) {
    list.append(toStr(each));
  }
  return list;
}

}  // namespace

void bindTable(nb::module_& module) {
  nb::class_<TableHandle>(module, "Table", "Scalar series as one long table.")
      .def(
          "__init__",
          [](TableHandle* self, const std::vector<Series>& series) {
            new (self) TableHandle{std::make_shared<const Table>(series)};
          },
          "series"_a)
      .def("__len__", [](const TableHandle& self) { return self.table->rows(); })
      .def_prop_ro("run_names",
                   [](const TableHandle& self) { return names(self.table->runNames()); })
      .def_prop_ro("tag_names",
                   [](const TableHandle& self) { return names(self.table->tagNames()); })
      .def("columns", &columns, "New arrays: numbers of runs and tags, steps, wall times, values.")
      .def("arrow_stream", &arrowStream, "A capsule with an ArrowArrayStream.");
}

}  // namespace steptape::python
