// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nanobind/nanobind.h>
#include <string>
#include <string_view>
#include <utility>

namespace steptape::python {

namespace nb = nanobind;

/// A Python object that any thread may destroy, with the GIL or without it.
///
/// Threads of the reader and of Arrow consumers destroy objects that hold one.
using SharedObject = std::shared_ptr<nb::object>;

inline SharedObject shareObject(nb::object object) {
  return SharedObject(new nb::object(std::move(object)), [](nb::object* held) {
    const nb::gil_scoped_acquire gil;
    delete held;
  });
}

/// Returns `text` as a Python string. Bytes that are not UTF-8 become surrogates, as in Python's
/// file names, so that distinct tags stay distinct.
inline nb::str toStr(std::string_view text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

inline nb::bytes toBytes(std::string_view bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

}  // namespace steptape::python
