// SPDX-License-Identifier: Apache-2.0
#include "events/messages/tensor_decoder.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "base/got_expected.h"
#include "events/messages/half_bits.h"

namespace steptape::detail::events {
namespace {

/// Appends `values` as numbers of type T, and repeats the last one up to `elements` numbers. A
/// single number cannot be omitted: writers compress large tensors only.
template <typename T, typename Values>
Status expand(const Values& values, std::uint64_t elements, std::uint64_t* repeatable,
              std::string* content) {
  const auto given = static_cast<std::uint64_t>(values.size());
  if (given == 0 && elements == 1) {
    return Status();  // its writer had no number: zero would be a wrong answer
  }
  if (given < elements) {
    if (elements > *repeatable / sizeof(T)) {
      return Status(
          ErrorCode::kDataLoss,
          "tensor too large: " +
              base::gotExpected(std::to_string(given) + " values",
                                "one for each of " + std::to_string(elements) + " elements"));
    }
    *repeatable -= elements * sizeof(T);
  }
  content->reserve(elements * sizeof(T));
  T last{};
  for (std::uint64_t i = 0; i < elements; ++i) {
    if (i < given) {
      last = static_cast<T>(values.begin()[static_cast<std::ptrdiff_t>(i)]);
    }
    char bytes[sizeof(T)];
    std::memcpy(bytes, &last, sizeof(T));
    content->append(bytes, sizeof(T));
  }
  return Status();
}

Status expandTyped(const wire::TensorProto& proto, event::TensorType type, std::uint64_t elements,
                   std::uint64_t* repeatable, std::string* content) {
  switch (type) {
    case event::TensorType::kFloat:
      return expand<float>(proto.float_val(), elements, repeatable, content);
    case event::TensorType::kDouble:
      return expand<double>(proto.double_val(), elements, repeatable, content);
    case event::TensorType::kInt32:
      return expand<std::int32_t>(proto.int_val(), elements, repeatable, content);
    case event::TensorType::kInt16:
      return expand<std::int16_t>(proto.int_val(), elements, repeatable, content);
    case event::TensorType::kInt8:
      return expand<std::int8_t>(proto.int_val(), elements, repeatable, content);
    case event::TensorType::kUInt8:
      // torch.utils.tensorboard stores them in this field, which is meant for wider numbers.
      return proto.int_val().empty() && !proto.uint32_val().empty()
                 ? expand<std::uint8_t>(proto.uint32_val(), elements, repeatable, content)
                 : expand<std::uint8_t>(proto.int_val(), elements, repeatable, content);
    case event::TensorType::kUInt16:
      return expand<std::uint16_t>(proto.int_val(), elements, repeatable, content);
    case event::TensorType::kInt64:
      return expand<std::int64_t>(proto.int64_val(), elements, repeatable, content);
    case event::TensorType::kUInt32:
      return expand<std::uint32_t>(proto.uint32_val(), elements, repeatable, content);
    case event::TensorType::kUInt64:
      return expand<std::uint64_t>(proto.uint64_val(), elements, repeatable, content);
    case event::TensorType::kBool:
      return expand<bool>(proto.bool_val(), elements, repeatable, content);
    case event::TensorType::kHalf:
    case event::TensorType::kBFloat16:
      return expand<std::uint16_t>(halfBits(proto.half_val(), type), elements, repeatable, content);
    case event::TensorType::kString:
    case event::TensorType::kInvalid:
      return Status();
  }
  return Status();  // of an unknown type, only tensor_content is kept
}

Status decodeShape(const wire::TensorShapeProto& proto, event::Tensor* tensor,
                   std::uint64_t* elements) {
  *elements = 1;
  for (const auto& dimension : proto.dim()) {
    tensor->shape.push_back(dimension.size());
    if (dimension.size() < 0 ||
        __builtin_mul_overflow(*elements, static_cast<std::uint64_t>(dimension.size()), elements)) {
      return Status(
          ErrorCode::kDataLoss,
          "tensor shape: " + base::gotExpected("dimension " + std::to_string(dimension.size()),
                                               "0 or more, and fewer than 2^64 elements"));
    }
  }
  return Status();
}

}  // namespace

Status decodeTensor(wire::TensorProto* proto, std::uint64_t* repeatable, event::Tensor* tensor) {
  tensor->type = static_cast<event::TensorType>(proto->dtype());
  tensor->strings.reserve(static_cast<std::size_t>(proto->string_val_size()));
  for (std::string& text : *proto->mutable_string_val()) {
    tensor->strings.push_back(std::move(text));
  }
  std::uint64_t elements = 0;
  Status status = decodeShape(proto->tensor_shape(), tensor, &elements);
  if (!status.ok()) {
    return status;
  }
  if (!proto->tensor_content().empty()) {
    tensor->content = std::move(*proto->mutable_tensor_content());
    return Status();
  }
  return expandTyped(*proto, tensor->type, elements, repeatable, &tensor->content);
}

}  // namespace steptape::detail::events
