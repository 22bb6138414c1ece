// SPDX-License-Identifier: Apache-2.0
// Converts Steptape's errors to Python exceptions.
#include <algorithm>
#include <exception>
#include <map>
#include <string>
#include <string_view>

#include "steptape/base/status.h"

#include "base/utf8.h"
#include "bindings.h"

namespace steptape::python {
namespace {

bool isUpper(char c) {
  return c >= 'A' && c <= 'Z';
}

bool isLower(char c) {
  return c >= 'a' && c <= 'z';
}

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

/// Returns a name of C++ as Python's callers know it: `addHistogram`, `dataFormat`.
std::string pythonName(std::string_view name) {
  static const std::map<std::string_view, const char*> kOthers{
      {"dataFormat", "dataformats"}, {"labelImages", "label_img"}, {"configJson", "config_dict"}};
  if (const auto found = kOthers.find(name); found != kOthers.end()) {
    return found->second;
  }
  std::string converted;
  for (const char c : name) {
    if (isUpper(c)) {
      converted += '_';
    }
    converted += isUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return converted;
}

/// Whether a word is a name of a function or a field of C++: "addScalar", not "NaN" or "DT_FLOAT".
bool isCppName(std::string_view word) {
  return !word.empty() && isLower(word.front()) && std::any_of(word.begin(), word.end(), isUpper) &&
         std::all_of(word.begin(), word.end(), [](char c) { return isUpper(c) || isLower(c); });
}

}  // namespace

std::string forPython(std::string_view message) {
  std::string converted;
  bool isQuoted = false;
  while (!message.empty()) {
    // A word ends where a name would: those with a slash or a dot are of a path.
    const std::size_t end = std::min(message.find_first_of(" \"\n:;,()[]'"), message.size());
    const std::string_view word = message.substr(0, end);
    converted += !isQuoted && isCppName(word) ? pythonName(word) : std::string(word);
    if (end == message.size()) {
      break;
    }
    isQuoted = isQuoted != (message[end] == '"');
    converted += message[end];
    message.remove_prefix(end + 1);
  }
  return converted;
}

void setPythonError(const Error& error) {
  // A message may hold a path, which may be of any bytes.
  PyErr_SetString(exceptionFor(error.code()),
                  steptape::detail::base::replaceInvalidUtf8(forPython(error.what())).c_str());
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
