// SPDX-License-Identifier: Apache-2.0
#include "tensors.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/got_expected.h"
#include "gil.h"

namespace steptape::python {
namespace {

using ::steptape::detail::base::gotExpected;

constexpr const char* kExpectedTypes =
    "bool, integers of 8 to 64 bits, float16, bfloat16, float32 or float64";

[[noreturn]] void reject(const char* what, const std::string& got, const char* expected) {
  throw nb::type_error((std::string(what) + ": " + gotExpected(got, expected)).c_str());
}

std::optional<DType> dtypeOf(nb::dlpack::dtype dtype) {
  if (dtype.lanes != 1) {
    return std::nullopt;
  }
  const auto chosen = [&](DType of8, DType of16, DType of32, DType of64) -> std::optional<DType> {
    switch (dtype.bits) {
      case 8:
        return of8;
      case 16:
        return of16;
      case 32:
        return of32;
      case 64:
        return of64;
      default:
        return std::nullopt;
    }
  };
  switch (static_cast<nb::dlpack::dtype_code>(dtype.code)) {
    case nb::dlpack::dtype_code::Bool:
      return dtype.bits == 8 ? std::optional(DType::kBool) : std::nullopt;
    case nb::dlpack::dtype_code::Int:
      return chosen(DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64);
    case nb::dlpack::dtype_code::UInt:
      return chosen(DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64);
    case nb::dlpack::dtype_code::Float:
      return dtype.bits == 8
                 ? std::nullopt
                 : chosen(DType::kFloat16, DType::kFloat16, DType::kFloat32, DType::kFloat64);
    case nb::dlpack::dtype_code::Bfloat:
      return dtype.bits == 16 ? std::optional(DType::kBFloat16) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::string nameOf(nb::dlpack::dtype dtype) {
  const char* name = "elements";
  if (static_cast<nb::dlpack::dtype_code>(dtype.code) == nb::dlpack::dtype_code::Complex) {
    name = "complex numbers";
  }
  return std::string(name) + " of " + std::to_string(dtype.bits) + " bits";
}

}  // namespace

Tensor::Array Tensor::arrayOf(const char* what, nb::handle object) {
  Array array;
  nb::object exported = nb::borrow(object);
  std::string because;
  if (PyObject_CheckBuffer(object.ptr()) == 0 && nb::hasattr(object, "__dlpack__")) {
    // That of torch and others is written in Python. nanobind would call it as well, but cannot let
    // its thread sleep there.
    try {
      exported = callMethod(object, "__dlpack__");
    } catch (const nb::python_error& error) {
      because = ", whose __dlpack__() says: " + nb::cast<std::string>(nb::str(error.value()));
    }
  }
  if (!because.empty() || !nb::try_cast(exported, array)) {
    reject(what, nb::cast<std::string>(nb::str(nb::type_name(object.type()))) + because,
           "an array of numbers in main memory");
  }
  return array;
}

TensorView Tensor::viewOf(const char* what, const Array& array) {
  const std::optional<DType> dtype = dtypeOf(array.dtype());
  if (!dtype) {
    reject(what, nameOf(array.dtype()), kExpectedTypes);
  }
  std::vector<std::int64_t> shape(array.ndim());
  std::vector<std::int64_t> strides(array.ndim());
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    shape[i] = static_cast<std::int64_t>(array.shape(i));
    strides[i] = array.stride(i);
  }
  return {array.data(), *dtype, std::move(shape), std::move(strides)};
}

Tensor::Tensor(const char* what, nb::handle array)
    : array_(arrayOf(what, array)), view_(viewOf(what, array_)) {}

}  // namespace steptape::python
