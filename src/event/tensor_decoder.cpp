// SPDX-License-Identifier: Apache-2.0
#include "event/tensor_decoder.h"

#include <cstring>
#include <string>

namespace steptape::detail {
namespace {

// A few bytes of a damaged or hostile file can announce any number of repeated values. Honest
// writers store a tensor of this size as bytes.
constexpr std::uint64_t kMaxRepeatedBytes = 64 << 20;

/// Appends `values` as numbers of type T, then the last of them up to `elements`.
template <typename T, typename Values>
Status expand(const Values& values, std::uint64_t elements, std::string* content) {
  const auto given = static_cast<std::uint64_t>(values.size());
  if (given < elements && elements > kMaxRepeatedBytes / sizeof(T)) {
    return Status(ErrorCode::kDataLoss, "tensor too large: got " + std::to_string(given) +
                                            " values for " + std::to_string(elements) +
                                            " elements");
  }
  content->reserve(elements * sizeof(T));
  T last{};
  for (std::uint64_t i = 0; i < elements; ++i) {
    if (i < given) {
      last = static_cast<T>(values.Get(static_cast<int>(i)));
    }
    char bytes[sizeof(T)];
    std::memcpy(bytes, &last, sizeof(T));
    content->append(bytes, sizeof(T));
  }
  return Status();
}

Status expandTyped(const wire::TensorProto& proto, TensorType type, std::uint64_t elements,
                   std::string* content) {
  switch (type) {
    case TensorType::kFloat:
      return expand<float>(proto.float_val(), elements, content);
    case TensorType::kDouble:
      return expand<double>(proto.double_val(), elements, content);
    case TensorType::kInt32:
      return expand<std::int32_t>(proto.int_val(), elements, content);
    case TensorType::kInt16:
      return expand<std::int16_t>(proto.int_val(), elements, content);
    case TensorType::kInt8:
      return expand<std::int8_t>(proto.int_val(), elements, content);
    case TensorType::kUInt8:
      return expand<std::uint8_t>(proto.int_val(), elements, content);
    case TensorType::kUInt16:
      return expand<std::uint16_t>(proto.int_val(), elements, content);
    case TensorType::kInt64:
      return expand<std::int64_t>(proto.int64_val(), elements, content);
    case TensorType::kUInt32:
      return expand<std::uint32_t>(proto.uint32_val(), elements, content);
    case TensorType::kUInt64:
      return expand<std::uint64_t>(proto.uint64_val(), elements, content);
    case TensorType::kBool:
      return expand<bool>(proto.bool_val(), elements, content);
    case TensorType::kHalf:
    case TensorType::kBFloat16:
      return expand<std::uint16_t>(proto.half_val(), elements, content);
    case TensorType::kString:
    case TensorType::kInvalid:
      return Status();
  }
  return Status();  // a type that Steptape does not know keeps its tensor_content only
}

Status decodeShape(const wire::TensorShapeProto& proto, Tensor* tensor, std::uint64_t* elements) {
  *elements = 1;
  for (const auto& dimension : proto.dim()) {
    tensor->shape.push_back(dimension.size());
    if (dimension.size() < 0 ||
        __builtin_mul_overflow(*elements, static_cast<std::uint64_t>(dimension.size()), elements)) {
      return Status(ErrorCode::kDataLoss,
                    "tensor shape is not one: got dimension " + std::to_string(dimension.size()));
    }
  }
  return Status();
}

}  // namespace

Status decodeTensor(const wire::TensorProto& proto, Tensor* tensor) {
  tensor->type = static_cast<TensorType>(proto.dtype());
  tensor->strings.assign(proto.string_val().begin(), proto.string_val().end());
  std::uint64_t elements = 0;
  Status status = decodeShape(proto.tensor_shape(), tensor, &elements);
  if (!status.ok()) {
    return status;
  }
  if (!proto.tensor_content().empty()) {
    tensor->content = proto.tensor_content();
    return Status();
  }
  return expandTyped(proto, tensor->type, elements, &tensor->content);
}

}  // namespace steptape::detail
