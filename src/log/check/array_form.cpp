// SPDX-License-Identifier: Apache-2.0
#include "log/check/array_form.h"

#include <algorithm>
#include <iterator>

namespace steptape::detail::log {
namespace {

struct ElementType {
  std::int32_t number;
  const char* name;
  ElementKind kind;
  std::uint32_t bytes;
  std::uint32_t field;  ///< Of TensorProto; 0: only `tensor_content`.
};

/// The types of which TensorBoard makes arrays, and others only for their names.
/// @source tensorboard/compat/tensorflow_stub/dtypes.py;
///         tensorflow/core/framework/{types,tensor}.proto
constexpr ElementType kElementTypes[] = {
    {0, "DT_INVALID", ElementKind::kNone, 0, 0},
    {1, "DT_FLOAT", ElementKind::kFloat, 4, 5},
    {2, "DT_DOUBLE", ElementKind::kFloat, 8, 6},
    {3, "DT_INT32", ElementKind::kInteger, 4, 7},
    {4, "DT_UINT8", ElementKind::kInteger, 1, 7},
    {5, "DT_INT16", ElementKind::kInteger, 2, 7},
    {6, "DT_INT8", ElementKind::kInteger, 1, 7},
    {7, "DT_STRING", ElementKind::kString, 0, 8},
    {8, "DT_COMPLEX64", ElementKind::kComplex, 8, 9},
    {9, "DT_INT64", ElementKind::kInteger, 8, 10},
    {10, "DT_BOOL", ElementKind::kBool, 1, 11},
    {14, "DT_BFLOAT16", ElementKind::kNone, 0, 0},
    {17, "DT_UINT16", ElementKind::kInteger, 2, 7},
    {18, "DT_COMPLEX128", ElementKind::kComplex, 16, 12},
    {19, "DT_HALF", ElementKind::kFloat, 2, 13},
    {22, "DT_UINT32", ElementKind::kInteger, 4, 0},
    {23, "DT_UINT64", ElementKind::kInteger, 8, 0},
};

const ElementType* findType(event::TensorType type) {
  const auto number = static_cast<std::int32_t>(type);
  const auto* const found =
      std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                   [&](const ElementType& each) { return each.number == number; });
  return found == std::end(kElementTypes) ? nullptr : found;
}

}  // namespace

ElementKind elementKindOf(event::TensorType type) {
  const ElementType* const found = findType(type);
  return found == nullptr ? ElementKind::kNone : found->kind;
}

std::string typeText(event::TensorType type) {
  const ElementType* const found = findType(type);
  return found == nullptr ? "type " + std::to_string(static_cast<std::int32_t>(type)) : found->name;
}

std::uint64_t elementsOf(const event::Tensor& tensor) {
  std::uint64_t elements = 1;
  for (const std::int64_t size : tensor.shape) {
    elements *= static_cast<std::uint64_t>(size);
  }
  return elements;
}

std::uint64_t givenElements(const event::Tensor& tensor, const events::ValueFacts& facts) {
  const ElementType* const type = findType(tensor.type);
  if (type == nullptr) {
    return 0;
  }
  if (facts.contentBytes > 0 && type->bytes > 0) {
    return facts.contentBytes / type->bytes;
  }
  const std::uint64_t numbers = facts.elements[type->field];
  return type->kind == ElementKind::kComplex ? numbers / 2 : numbers;
}

bool makesArray(const event::Tensor& tensor, const events::ValueFacts& facts) {
  const ElementType* const type = findType(tensor.type);
  if (type == nullptr || type->kind == ElementKind::kNone) {
    return false;
  }
  const std::uint64_t elements = elementsOf(tensor);
  if (facts.contentBytes > 0) {
    return type->bytes > 0 && facts.contentBytes % type->bytes == 0 &&
           facts.contentBytes / type->bytes == elements;
  }
  const std::uint64_t given = givenElements(tensor, facts);
  return type->field != 0 && (given == 1 || given == elements);
}

}  // namespace steptape::detail::log
