// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/tensor/raw_tensor.h"

#include <utility>

#include "steptape/events/plugin_content.h"

#include "values/kinds/reject.h"
#include "values/kinds/tensor/strided.h"

namespace steptape::detail::values {

event::TensorType tensorTypeOf(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
      return event::TensorType::kBool;
    case DType::kUInt8:
      return event::TensorType::kUInt8;
    case DType::kInt8:
      return event::TensorType::kInt8;
    case DType::kUInt16:
      return event::TensorType::kUInt16;
    case DType::kInt16:
      return event::TensorType::kInt16;
    case DType::kUInt32:
      return event::TensorType::kUInt32;
    case DType::kInt32:
      return event::TensorType::kInt32;
    case DType::kUInt64:
      return event::TensorType::kUInt64;
    case DType::kInt64:
      return event::TensorType::kInt64;
    case DType::kFloat16:
      return event::TensorType::kHalf;
    case DType::kBFloat16:
      return event::TensorType::kBFloat16;
    case DType::kFloat32:
      return event::TensorType::kFloat;
    case DType::kFloat64:
      return event::TensorType::kDouble;
  }
  return event::TensorType::kInvalid;
}

void checkRawTensor(const TensorView& view) {
  const auto elementBytes = static_cast<std::int64_t>(dtypeSize(view.dtype()));
  if (view.numel() > kMaxPayload / elementBytes) {
    base::reject(
        "shape " + view.shapeString() + " of " + dtypeName(view.dtype()),
        "at most " + std::to_string(kMaxPayload) + " bytes, since a record is below 2 GiB");
  }
}

event::Tensor rawTensor(const TensorView& view) {
  checkRawTensor(view);
  event::Tensor tensor;
  tensor.type = tensorTypeOf(view.dtype());
  tensor.shape = view.shape();
  tensor.content.resize(view.nbytes());
  copyRowMajor(view, tensor.content.data());
  return tensor;
}

event::Value tensorValue(std::string tag, event::Tensor tensor, event::SummaryMetadata metadata) {
  metadata.pluginName = event::kTensorPlugin;
  metadata.pluginContent.clear();
  metadata.dataClass = event::DataClass::kTensor;
  return {std::move(tag), std::move(tensor), std::move(metadata)};
}

}  // namespace steptape::detail::values
