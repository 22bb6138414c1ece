// SPDX-License-Identifier: Apache-2.0
// SummaryWriter.add_scalar(), by CPython's own call protocol: a binding that converts arguments for
// any signature takes several times as long as logging the scalar.
#include <array>
#include <cstddef>
#include <nanobind/nanobind.h>
#include <string>
#include <string_view>

#include "steptape/base/status.h"

#include "bindings.h"
#include "gil.h"
#include "writer.h"

namespace steptape::python {
namespace {

constexpr std::size_t kParameters = 8;
enum Parameter : std::size_t {
  kTag,
  kValue,
  kStep,
  kWallTime,
  kNewStyle,
  kDoublePrecision,
  kDisplayName,
  kDescription
};

using Arguments = std::array<PyObject*, kParameters>;

/// Returns the names of the parameters, interned, as those of calls are.
const Arguments& parameterNames() {
  static const Arguments kNames{
      PyUnicode_InternFromString("tag"),          PyUnicode_InternFromString("scalar_value"),
      PyUnicode_InternFromString("global_step"),  PyUnicode_InternFromString("walltime"),
      PyUnicode_InternFromString("new_style"),    PyUnicode_InternFromString("double_precision"),
      PyUnicode_InternFromString("display_name"), PyUnicode_InternFromString("summary_description"),
  };
  return kNames;
}

std::size_t parameterNamed(PyObject* name) {
  const Arguments& names = parameterNames();
  for (std::size_t i = 0; i < kParameters; ++i) {
    if (names[i] == name) {
      return i;
    }
  }
  for (std::size_t i = 0; i < kParameters; ++i) {
    if (PyUnicode_Compare(names[i], name) == 0) {
      return i;
    }
  }
  return kParameters;
}

/// @return false with an exception set.
bool parse(PyObject* const* given, Py_ssize_t count, PyObject* keywords, Arguments* arguments) {
  if (count > static_cast<Py_ssize_t>(kParameters)) {
    PyErr_Format(PyExc_TypeError, "add_scalar: got %zd arguments; expected at most %zu", count,
                 kParameters);
    return false;
  }
  std::copy(given, given + count, arguments->begin());
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_Size(keywords);
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* const name = PyTuple_GetItem(keywords, i);
    const std::size_t parameter = parameterNamed(name);
    if (parameter == kParameters || (*arguments)[parameter] != nullptr) {
      PyErr_Format(PyExc_TypeError, "add_scalar: got %s %R",
                   parameter == kParameters ? "an unknown argument" : "two values of", name);
      return false;
    }
    (*arguments)[parameter] = given[count + i];
  }
  for (const Parameter needed : {kTag, kValue}) {
    if ((*arguments)[needed] == nullptr) {
      PyErr_Format(PyExc_TypeError, "add_scalar: got no %R; expected one",
                   parameterNames()[needed]);
      return false;
    }
  }
  return true;
}

bool isGiven(PyObject* argument) {
  return argument != nullptr && argument != Py_None;
}

/// Whether nothing but tag, value and step was given, apart from defaults.
bool isPlain(const Arguments& arguments) {
  for (std::size_t i = kWallTime; i < kParameters; ++i) {
    if (isGiven(arguments[i]) && arguments[i] != Py_False) {
      return false;
    }
  }
  return true;
}

/// Returns a class of numpy's scalars, which are numbers without being Python's.
PyTypeObject* numpyClass(const char* name) {
  PyObject* const numpy = PyImport_ImportModule("numpy");
  PyObject* const found = numpy == nullptr ? nullptr : PyObject_GetAttrString(numpy, name);
  Py_XDECREF(numpy);
  return reinterpret_cast<PyTypeObject*>(found);
}

bool isNumpyScalar(PyObject* value) {
  // They live as long as the interpreter.
  static PyTypeObject* const kNumber = numpyClass("number");
  static PyTypeObject* const kComplex = numpyClass("complexfloating");
  return kNumber != nullptr && kComplex != nullptr && PyObject_TypeCheck(value, kNumber) != 0 &&
         PyObject_TypeCheck(value, kComplex) == 0;
}

/// Returns whether `value` is a number of this process's memory, and which one.
bool numberOf(PyObject* value, double* number) {
  if (PyFloat_Check(value) == 0 && PyLong_Check(value) == 0 && !isNumpyScalar(value)) {
    return false;
  }
  *number = PyFloat_AsDouble(value);
  if (*number == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return false;
  }
  return true;
}

/// Returns the bytes of a tag; null if it is none.
const char* tagOf(PyObject* tag, Py_ssize_t* length) {
  const char* const bytes =
      PyUnicode_Check(tag) == 0 ? nullptr : PyUnicode_AsUTF8AndSize(tag, length);
  if (bytes == nullptr) {
    PyErr_Clear();
  }
  return bytes;
}

void log(PyObject* self, Writer* writer, const Arguments& arguments) {
  double number = 0;
  Py_ssize_t length = 0;
  const char* const tag = tagOf(arguments[kTag], &length);
  if (tag != nullptr && !writer->isOrdered() && isPlain(arguments) &&
      numberOf(arguments[kValue], &number)) {
    const std::int64_t step =
        stepOf(self, arguments[kStep] == nullptr ? Py_None : arguments[kStep]);
    writer->writer().addScalar(std::string_view(tag, static_cast<std::size_t>(length)), number,
                               step);
    return;
  }
  // The rest, also what is wrong, is for Python.
  const auto given = [&](Parameter parameter) {
    return nb::handle(arguments[parameter] == nullptr ? Py_None : arguments[parameter]);
  };
  callMethod(self, "_add_other_scalar", given(kTag), given(kValue), given(kStep), given(kWallTime),
             given(kNewStyle), given(kDoublePrecision), given(kDisplayName), given(kDescription));
}

PyObject* addScalar(PyObject* self, PyObject* const* given, Py_ssize_t count,
                    PyObject* keywords) noexcept {
  Arguments arguments{};
  if (!parse(given, count, keywords, &arguments)) {
    return nullptr;
  }
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_RuntimeError,
                    "add_scalar: got a writer without a run; expected SummaryWriter.__init__() to "
                    "have been called");
    return nullptr;
  }
  try {
    auto* const writer = nb::inst_ptr<Writer>(self);
    log(self, writer, arguments);
    if (writer->problems().hasSome() || writer->isForked()) {
      reportProblems(self, writer);
    }
    Py_RETURN_NONE;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const Error& error) {
    setPythonError(error);
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

constexpr const char* kAddScalarDoc =
    "add_scalar($self, tag, scalar_value, global_step=None, walltime=None, new_style=False,\n"
    "           double_precision=False, display_name='', summary_description='')\n"
    "--\n\n"
    "Records one value of a curve.\n"
    "\n"
    "    writer.add_scalar(\"loss/train\", loss, step)\n"
    "\n"
    "tag: the name of the curve; '/' groups curves in TensorBoard.\n"
    "scalar_value: a number, a numpy scalar, or an array or tensor of one element. One on a device "
    "is\n"
    "    copied without a wait. Stored in 32 bits, as TensorBoard shows it.\n"
    "global_step: the place of the value; None means 0.\n"
    "walltime: seconds since 1970-01-01 UTC; None means now.\n"
    "new_style: stores the value as a tensor. double_precision: in 64 bits, for readers other "
    "than\n"
    "    TensorBoard; implies new_style.\n"
    "display_name, summary_description: shown instead of the tag and beside the curve; "
    "TensorBoard\n"
    "    takes them from the first value of the tag.\n"
    "\n"
    "Raises TypeError and ValueError for wrong arguments. A full disk raises nothing here: a "
    "warning\n"
    "tells of it, and flush() and close() raise OSError. Any thread may call it. Costs about 0.2 "
    "µs;\n"
    "no system call, and no wait for the disk.";

}  // namespace

std::int64_t stepOf(nb::handle self, nb::handle step) {
  if (step.is_none()) {
    return 0;
  }
  if (PyLong_Check(step.ptr()) != 0) {
    const long long number = PyLong_AsLongLong(step.ptr());
    if (number != -1 || PyErr_Occurred() == nullptr) {
      return number;
    }
    PyErr_Clear();  // _step() says it in other words.
  }
  return nb::cast<std::int64_t>(callMethod(self, "_step", step));
}

PyMethodDef addScalarMethod[] = {
    {"add_scalar",
     reinterpret_cast<PyCFunction>(  // NOLINT(*-reinterpret-cast): as CPython asks for it
         reinterpret_cast<void (*)()>(&addScalar)),
     METH_FASTCALL | METH_KEYWORDS, kAddScalarDoc},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace steptape::python
