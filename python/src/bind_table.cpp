// SPDX-License-Identifier: Apache-2.0
// The long table as numpy columns and as an Arrow stream.
#include <cstdint>
#include <limits>
#include <memory>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>
#include <utility>
#include <vector>

#include "arrow_stream.h"
#include "bindings.h"
#include "gil.h"
#include "table.h"

namespace steptape::python {
namespace {

/// What Python holds of a Table: a value, because Arrow streams share the table.
struct TableHandle {
  std::shared_ptr<const Table> table;
};

/// A column for numpy that is not yet filled.
template <typename T>
struct NewColumn {
  explicit NewColumn(std::size_t rows) : numbers(new T[rows]), size(rows) {}

  nb::object release() {
    T* const data = numbers.release();
    const nb::capsule owner(data, [](void* owned) noexcept { delete[] static_cast<T*>(owned); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, {size}, owner));
  }

  std::unique_ptr<T[]> numbers;
  std::size_t size;
};

template <typename Code>
nb::tuple columnsWithCodes(const Table& table) {
  NewColumn<Code> runs(table.rows());
  NewColumn<Code> tags(table.rows());
  NewColumn<std::int64_t> steps(table.rows());
  NewColumn<double> wallTimes(table.rows());
  NewColumn<double> values(table.rows());
  {
    const nb::gil_scoped_release release;
    table.copy<Code>(0, table.rows(),
                     {runs.numbers.get(), tags.numbers.get(), steps.numbers.get(),
                      wallTimes.numbers.get(), values.numbers.get()});
  }
  return nb::make_tuple(runs.release(), tags.release(), steps.release(), wallTimes.release(),
                        values.release());
}

/// The columns with the smallest codes that all names fit into, which pandas would make of others.
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
    if (owned->release != nullptr) {  // No consumer has taken it.
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
