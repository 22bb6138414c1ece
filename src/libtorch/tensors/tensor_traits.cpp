// SPDX-License-Identifier: Apache-2.0
#include "steptape/libtorch/tensor_traits.h"

#include <memory>
#include <optional>
#include <string>

#include "steptape/base/status.h"

#include "base/text.h"
#include "libtorch/tensors/device_copy.h"

#include <ATen/ATen.h>

namespace steptape {
namespace {

std::optional<DType> dtypeOfTensor(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kBool:
      return DType::kBool;
    case at::kByte:
      return DType::kUInt8;
    case at::kChar:
      return DType::kInt8;
    case at::kShort:
      return DType::kInt16;
    case at::kInt:
      return DType::kInt32;
    case at::kLong:
      return DType::kInt64;
    case at::kHalf:
      return DType::kFloat16;
    case at::kBFloat16:
      return DType::kBFloat16;
    case at::kFloat:
      return DType::kFloat32;
    case at::kDouble:
      return DType::kFloat64;
    default:
      return std::nullopt;
  }
}

void requireDefined(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    throw Error(ErrorCode::kInvalidArgument,
                "got an undefined at::Tensor; expected one with a value; a parameter has no grad() "
                "before the first backward()");
  }
}

/// Returns `tensor` as strided numbers in main memory, without a copy if it already is.
at::Tensor inMainMemory(at::Tensor tensor) {
  tensor = tensor.detach();
  if (tensor.is_quantized()) {
    tensor = tensor.dequantize();
  }
  if (tensor.layout() != at::kStrided) {
    tensor = tensor.to_dense();
  }
  // A pending negation is a flag, not a change of the memory.
  return tensor.to(at::kCPU).resolve_neg();
}

std::string shapeString(const at::Tensor& tensor) {
  return "(" + detail::base::commaSeparated(tensor.sizes()) + ")";
}

DType loggedType(const at::Tensor& tensor) {
  const std::optional<DType> dtype = dtypeOfTensor(tensor);
  if (!dtype) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("got a tensor of element type ") + c10::toString(tensor.scalar_type()) +
                    "; expected a type that can be logged; convert it with to(torch::kFloat32)");
  }
  return *dtype;
}

TensorView viewOf(const at::Tensor& tensor, std::shared_ptr<TensorArrival> arrival) {
  return TensorView(tensor.data_ptr(), loggedType(tensor), tensor.sizes().vec(),
                    tensor.strides().vec(), std::make_shared<const at::Tensor>(tensor),
                    std::move(arrival));
}

TensorView viewInFlight(const at::Tensor& tensor) {
  loggedType(tensor);  // before anything is queued
  detail::libtorch::DeviceCopier::Copy copy =
      detail::libtorch::DeviceCopier::current().copy(tensor.detach());
  return viewOf(copy.host, std::move(copy.arrival));
}

void requireRealScalar(const at::Tensor& tensor) {
  requireDefined(tensor);
  if (tensor.numel() != 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "scalar: got a tensor of shape " + shapeString(tensor) + "; expected one element");
  }
  if (tensor.is_complex()) {
    throw Error(ErrorCode::kInvalidArgument, std::string("scalar: got a tensor of type ") +
                                                 c10::toString(tensor.scalar_type()) +
                                                 "; expected a real type");
  }
}

}  // namespace

TensorView TensorTraits<at::Tensor>::view(const at::Tensor& tensor) {
  requireDefined(tensor);
  if (detail::libtorch::DeviceCopier::current().canCopy(tensor)) {
    return viewInFlight(tensor);
  }
  return viewOf(inMainMemory(tensor), nullptr);
}

double ScalarTraits<at::Tensor>::value(const at::Tensor& tensor) {
  requireRealScalar(tensor);
  return tensor.item().toDouble();
}

std::optional<TensorView> ScalarTraits<at::Tensor>::inFlight(const at::Tensor& tensor) {
  requireRealScalar(tensor);
  if (!detail::libtorch::DeviceCopier::current().canCopy(tensor)) {
    return std::nullopt;
  }
  return viewInFlight(tensor);
}

}  // namespace steptape
