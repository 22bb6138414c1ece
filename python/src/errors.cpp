// SPDX-License-Identifier: Apache-2.0
// Converts Steptape's errors to Python exceptions.
#include <exception>

#include "steptape/base/status.h"

#include "bindings.h"

namespace steptape::python {
namespace {

PyObject* exceptionFor(ErrorCode code, PyObject* dataError) {
  switch (code) {
    case ErrorCode::kDataLoss:
      return dataError;
    case ErrorCode::kIoError:
      return PyExc_OSError;
    default:
      return PyExc_ValueError;
  }
}

}  // namespace

void bindErrors(nb::module_& module) {
  // Lives as long as the interpreter, like the translator.
  static PyObject* const kDataError = PyErr_NewExceptionWithDoc(
      "steptape.DataError", "A value in an event file does not have the form of its tag.",
      PyExc_ValueError, nullptr);
  module.attr("DataError") = nb::borrow(kDataError);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void* /*payload*/) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      PyErr_SetString(exceptionFor(error.code(), kDataError), error.what());
    }
  });
}

}  // namespace steptape::python
