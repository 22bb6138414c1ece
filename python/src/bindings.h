// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <string>
#include <string_view>

#include "steptape/base/status.h"

namespace steptape::python {

namespace nb = nanobind;
using nb::literals::operator""_a;

// Each function adds its part to the module `steptape._core`.
void bindErrors(nb::module_& module);
void bindLog(nb::module_& module);
void bindValues(nb::module_& module);
void bindTable(nb::module_& module);
void bindWriter(nb::module_& module);

/// Returns a message with the names of C++ outside of quotation marks as Python has them:
/// `add_histogram "w": ...`.
std::string forPython(std::string_view message);

/// Sets the Python exception of an error.
void setPythonError(const Error& error);

}  // namespace steptape::python
