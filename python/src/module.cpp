// SPDX-License-Identifier: Apache-2.0
// The module steptape._core, which the package in python/steptape wraps.
#include "steptape/base/version.h"

#include "bindings.h"

namespace python = steptape::python;

NB_MODULE(_core, module) {
  nanobind::set_leak_warnings(false);  // objects that a notebook holds at its end are not leaks
  module.doc() =
      "The reader and the writer of Steptape. Use the package steptape, which wraps this module.";
  module.attr("__version__") = STEPTAPE_VERSION;
  python::bindErrors(module);
  python::bindLog(module);
  python::bindValues(module);
  python::bindTable(module);
  python::bindWriter(module);
}
