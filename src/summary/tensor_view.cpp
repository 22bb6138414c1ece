// SPDX-License-Identifier: Apache-2.0
#include "steptape/summary/tensor_view.h"

#include "steptape/base/error.h"

#include "summary/element.h"
#include "summary/strided.h"

namespace steptape {
namespace {

std::string joined(const std::vector<std::int64_t>& sizes) {
  std::string text = "(";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  }
  return text + ")";
}

std::int64_t elementCount(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  bool isEmpty = false;
  bool overflows = false;
  for (const std::int64_t size : shape) {
    if (size < 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "tensor of shape " + joined(shape) + ": a dimension is negative");
    }
    isEmpty = isEmpty || size == 0;
    overflows = __builtin_mul_overflow(count, size, &count) || overflows;
  }
  if (isEmpty) {
    return 0;
  }
  if (overflows) {
    throw Error(ErrorCode::kInvalidArgument,
                "tensor of shape " + joined(shape) + ": more than 2^63 - 1 elements");
  }
  return count;
}

/// REQUIRES: the shape's product does not overflow, unless a dimension is 0.
std::vector<std::int64_t> rowMajorStrides(const std::vector<std::int64_t>& shape,
                                          std::int64_t count) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  // An empty tensor has no element to reach, and the product of its other sizes may overflow.
  for (std::size_t i = shape.size(); count > 0 && i > 1; --i) {
    strides[i - 2] = strides[i - 1] * shape[i - 1];
  }
  return strides;
}

/// The stride of a dimension of size 1 is never used.
bool sameLayout(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& a,
                const std::vector<std::int64_t>& b) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && a[i] != b[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::size_t dtypeSize(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
    case DType::kInt8:
      return 1;
    case DType::kUInt16:
    case DType::kInt16:
    case DType::kFloat16:
    case DType::kBFloat16:
      return 2;
    case DType::kUInt32:
    case DType::kInt32:
    case DType::kFloat32:
      return 4;
    case DType::kUInt64:
    case DType::kInt64:
    case DType::kFloat64:
      return 8;
  }
  return 0;
}

const char* dtypeName(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
      return "bool";
    case DType::kUInt8:
      return "uint8";
    case DType::kInt8:
      return "int8";
    case DType::kUInt16:
      return "uint16";
    case DType::kInt16:
      return "int16";
    case DType::kUInt32:
      return "uint32";
    case DType::kInt32:
      return "int32";
    case DType::kUInt64:
      return "uint64";
    case DType::kInt64:
      return "int64";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kFloat32:
      return "float32";
    case DType::kFloat64:
      return "float64";
  }
  return "unknown";
}

TensorView::TensorView(const void* data, DType dtype, std::vector<std::int64_t> shape,
                       std::vector<std::int64_t> strides, std::shared_ptr<const void> owner,
                       std::shared_ptr<TensorArrival> arrival)
    : data_(data),
      dtype_(dtype),
      shape_(std::move(shape)),
      strides_(std::move(strides)),
      numel_(elementCount(shape_)),
      contiguous_(true),
      owner_(std::move(owner)),
      arrival_(std::move(arrival)) {
  if (data_ == nullptr && numel_ > 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "tensor of shape " + shapeString() + ": the data pointer is null");
  }
  std::vector<std::int64_t> rowMajor = rowMajorStrides(shape_, numel_);
  // Of a scalar both are empty.
  if (strides_.empty()) {
    strides_ = std::move(rowMajor);
    return;
  }
  if (strides_.size() != shape_.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                "tensor of shape " + shapeString() + ": got " + std::to_string(strides_.size()) +
                    " strides, wanted " + std::to_string(shape_.size()));
  }
  contiguous_ = numel_ == 0 || sameLayout(shape_, strides_, rowMajor);
}

TensorArrival::~TensorArrival() = default;

void TensorView::waitForElements() const {
  if (arrival_) {
    arrival_->wait();
  }
}

double TensorView::element() const {
  double element = 0;
  detail::visitElements(*this, [&](const auto* data) { element = detail::widen<double>(*data); });
  return element;
}

TensorView TensorView::copy() const {
  auto bytes = std::make_shared<std::vector<std::byte>>(nbytes());
  detail::copyRowMajor(*this, bytes->data());
  return {bytes->data(), dtype_, shape_, {}, bytes};
}

std::string TensorView::shapeString() const {
  return joined(shape_);
}

}  // namespace steptape
