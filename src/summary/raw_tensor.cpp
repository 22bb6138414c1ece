// SPDX-License-Identifier: Apache-2.0
#include "steptape/summary/raw_tensor.h"

#include <utility>

#include "steptape/base/error.h"
#include "steptape/event/plugin_data.h"

#include "summary/payload.h"
#include "summary/strided.h"

namespace steptape {

TensorType tensorTypeOf(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
      return TensorType::kBool;
    case DType::kUInt8:
      return TensorType::kUInt8;
    case DType::kInt8:
      return TensorType::kInt8;
    case DType::kUInt16:
      return TensorType::kUInt16;
    case DType::kInt16:
      return TensorType::kInt16;
    case DType::kUInt32:
      return TensorType::kUInt32;
    case DType::kInt32:
      return TensorType::kInt32;
    case DType::kUInt64:
      return TensorType::kUInt64;
    case DType::kInt64:
      return TensorType::kInt64;
    case DType::kFloat16:
      return TensorType::kHalf;
    case DType::kBFloat16:
      return TensorType::kBFloat16;
    case DType::kFloat32:
      return TensorType::kFloat;
    case DType::kFloat64:
      return TensorType::kDouble;
  }
  return TensorType::kInvalid;
}

void checkRawTensor(const TensorView& view) {
  const auto elementBytes = static_cast<std::int64_t>(dtypeSize(view.dtype()));
  if (view.numel() > detail::kMaxPayload / elementBytes) {
    throw Error(ErrorCode::kInvalidArgument, "tensor: shape " + view.shapeString() + " of " +
                                                 dtypeName(view.dtype()) + " has more than " +
                                                 std::to_string(detail::kMaxPayload) +
                                                 " bytes: a record is below 2 GiB");
  }
}

Tensor rawTensor(const TensorView& view) {
  checkRawTensor(view);
  Tensor tensor;
  tensor.type = tensorTypeOf(view.dtype());
  tensor.shape = view.shape();
  tensor.content.resize(view.nbytes());
  detail::copyRowMajor(view, tensor.content.data());
  return tensor;
}

Value tensorValue(std::string tag, Tensor tensor, SummaryMetadata metadata) {
  metadata.pluginName = kTensorPlugin;
  metadata.pluginContent.clear();
  metadata.dataClass = DataClass::kTensor;
  return {std::move(tag), std::move(tensor), std::move(metadata)};
}

}  // namespace steptape
