// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/events/event.h"

#include "events/messages/value_facts.h"

namespace steptape::detail::log {

/// The elements of a tensor, as TensorBoard's Python code takes them.
enum class ElementKind : std::uint8_t { kNone, kFloat, kInteger, kBool, kComplex, kString };

/// Returns the kind of the elements; kNone for types of which TensorBoard makes no array, such as
/// bfloat16.
ElementKind elementKindOf(event::TensorType type);

/// Returns the name of an element type, such as "DT_FLOAT".
std::string typeText(event::TensorType type);

/// Returns the product of the dimensions. REQUIRES: decodeEvent() accepted the tensor.
std::uint64_t elementsOf(const event::Tensor& tensor);

/// Returns the number of elements in the field that TensorBoard reads for the type.
std::uint64_t givenElements(const event::Tensor& tensor, const events::ValueFacts& facts);

/// Returns whether TensorBoard makes an array of the tensor. Otherwise a page that shows it fails.
/// @source tensorboard/util/tensor_util.py, make_ndarray()
bool makesArray(const event::Tensor& tensor, const events::ValueFacts& facts);

}  // namespace steptape::detail::log
