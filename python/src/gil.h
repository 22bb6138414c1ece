// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <memory>
#include <nanobind/nanobind.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

// At its exit, CPython before 3.14 ends every other thread that wants the GIL by pthread_exit().
// glibc then unwinds the stack, as for an exception, and ends the process at the first function
// that is noexcept, as destructors and nanobind's calls are. The classes and functions below catch
// this where the thread enters Python, and let it sleep until the process is gone, as CPython does
// since 3.14.

namespace steptape::python {

namespace nb = nanobind;

/// Whether Python has begun to end, so that only the thread that ends it may use it.
inline bool isPythonEnding() {
  // Not in the stable ABI of 3.12, and with an underscore before 3.13.
  using IsFinalizing = int (*)();
  static const auto kIsFinalizing = [] {
    void* const named = dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
    return reinterpret_cast<IsFinalizing>(
        named != nullptr ? named : dlsym(RTLD_DEFAULT, "_Py_IsFinalizing"));
  }();
  return kIsFinalizing != nullptr && kIsFinalizing() != 0;
}

[[noreturn]] inline void sleepUntilExit() {
  while (true) {
    pause();
  }
}

/// Calls `enter`, which needs nothing but the C interface of Python: it must own no object.
template <typename Enter>
auto enterPython(const Enter& enter) noexcept -> decltype(enter()) {
  try {
    return enter();
  } catch (...) {
    sleepUntilExit();  // The C interface throws nothing else.
  }
}

/// Releases the GIL while it lives.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    enterPython([this] { PyEval_RestoreThread(state_); });
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* const state_;
};

/// Holds the GIL while it lives, in any thread.
class GilAcquire {
 public:
  GilAcquire() {
    if (isPythonEnding() && PyGILState_GetThisThreadState() == nullptr) {
      sleepUntilExit();
    }
    state_ = enterPython([] { return PyGILState_Ensure(); });
  }
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_{};
};

/// Calls a function of Python.
///
/// @throws nb::python_error
template <typename... Arguments>
nb::object callPython(nb::handle function, const Arguments&... arguments) {
  PyObject* const result = enterPython([&] {
    return PyObject_CallFunctionObjArgs(function.ptr(), arguments.ptr()...,
                                        static_cast<PyObject*>(nullptr));
  });
  if (result == nullptr) {
    throw nb::python_error();
  }
  return nb::steal(result);
}

/// Calls a method of `object`.
///
/// @throws nb::python_error
template <typename... Arguments>
nb::object callMethod(nb::handle object, const char* name, const Arguments&... arguments) {
  return callPython(nb::getattr(object, name), arguments...);
}

/// A Python object that any thread may destroy, with the GIL or without it.
///
/// Threads of the reader and of Arrow consumers destroy objects that hold one.
using SharedObject = std::shared_ptr<nb::object>;

inline SharedObject shareObject(nb::object object) {
  return SharedObject(new nb::object(std::move(object)), [](nb::object* held) {
    if (isPythonEnding()) {
      return;  // Python destroys its objects, or leaves them to the end of the process.
    }
    const GilAcquire gil;
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
