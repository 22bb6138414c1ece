// SPDX-License-Identifier: Apache-2.0
#include "steptape/events/event.h"

namespace steptape::event {

std::uint64_t bytesPerElement(TensorType type) {
  switch (type) {
    case TensorType::kBool:
    case TensorType::kInt8:
    case TensorType::kUInt8:
      return 1;
    case TensorType::kInt16:
    case TensorType::kUInt16:
    case TensorType::kHalf:
    case TensorType::kBFloat16:
      return 2;
    case TensorType::kFloat:
    case TensorType::kInt32:
    case TensorType::kUInt32:
      return 4;
    case TensorType::kDouble:
    case TensorType::kInt64:
    case TensorType::kUInt64:
      return 8;
    case TensorType::kString:
    case TensorType::kInvalid:
      return 0;
  }
  return 0;
}

}  // namespace steptape::event
