// SPDX-License-Identifier: Apache-2.0
#include "steptape/values/tensor_view.h"

#include "base/got_expected.h"
#include "base/text.h"
#include "values/kinds/tensor/strided.h"
#include "values/kinds/tensor/visit_elements.h"

namespace steptape {
namespace {

std::int64_t elementCount(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  bool isEmpty = false;
  bool overflows = false;
  for (const std::int64_t size : shape) {
    if (size < 0) {
      detail::base::reject("shape (" + detail::base::commaSeparated(shape) + ")",
                           "dimensions of 0 or more", "TensorView");
    }
    isEmpty = isEmpty || size == 0;
    overflows = __builtin_mul_overflow(count, size, &count) || overflows;
  }
  if (isEmpty) {
    return 0;
  }
  if (overflows) {
    detail::base::reject("shape (" + detail::base::commaSeparated(shape) + ")",
                         "at most 2^63 - 1 elements", "TensorView");
  }
  return count;
}

/// REQUIRES: the shape's product does not overflow, unless a dimension is 0.
std::vector<std::int64_t> rowMajorStrides(const std::vector<std::int64_t>& shape,
                                          std::int64_t count) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  // An empty tensor has no elements, and the product of its other sizes may overflow.
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
    detail::base::reject("a null data pointer for shape " + shapeString(), "the elements",
                         "TensorView");
  }
  std::vector<std::int64_t> rowMajor = rowMajorStrides(shape_, numel_);
  // A scalar has an empty shape and empty strides.
  if (strides_.empty()) {
    strides_ = std::move(rowMajor);
    return;
  }
  if (strides_.size() != shape_.size()) {
    detail::base::reject(std::to_string(strides_.size()) + " strides for shape " + shapeString(),
                         std::to_string(shape_.size()), "TensorView");
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
  detail::values::visitElements(
      *this, [&](const auto* data) { element = detail::base::widen<double>(*data); });
  return element;
}

TensorView TensorView::copy() const {
  auto bytes = std::make_shared<std::vector<std::byte>>(nbytes());
  detail::values::copyRowMajor(*this, bytes->data());
  return {bytes->data(), dtype_, shape_, {}, bytes};
}

std::string TensorView::shapeString() const {
  return "(" + detail::base::commaSeparated(shape_) + ")";
}

}  // namespace steptape
