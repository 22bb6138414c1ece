// SPDX-License-Identifier: Apache-2.0
// Converts Steptape's errors to Python exceptions.
#include <exception>

#include "steptape/base/status.h"

#include "bindings.h"

namespace steptape::python {
namespace {

// Lives as long as the interpreter, like the translator.
PyObject* dataError = nullptr;

PyObject* exceptionFor(ErrorCode code) {
  switch (code) {
    case ErrorCode::kDataLoss:
      return dataError;
    case ErrorCode::kDeadlineExceeded:
      return PyExc_TimeoutError;
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kRankMismatch:
    case ErrorCode::kResourceExhausted:
      return PyExc_RuntimeError;
    case ErrorCode::kIoError:
      return PyExc_OSError;
    default:
      return PyExc_ValueError;
  }
}

}  // namespace

void setPythonError(const Error& error) {
  PyErr_SetString(exceptionFor(error.code()), error.what());
}

void bindErrors(nb::module_& module) {
  dataError = PyErr_NewExceptionWithDoc(
      "steptape.DataError", "A value in an event file does not have the form of its tag.",
      PyExc_ValueError, nullptr);
  module.attr("DataError") = nb::borrow(dataError);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void* /*payload*/) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      setPythonError(error);
    }
  });
}

}  // namespace steptape::python
