// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/events/event.h"

namespace steptape::detail::log {

// Checks of a value before it is decoded. `what` is the kind of value in messages, such as "image".

Status unexpected(const char* what, const std::string& got, const std::string& expected);

/// Returns the shape as text, such as "(2, 3)".
STEPTAPE_EXPORT std::string shapeText(const std::vector<std::int64_t>& shape);

/// Finds the tensor of a value, and checks that it has as many elements as its shape. For a type
/// that Steptape does not know, the number is not checked.
STEPTAPE_EXPORT Status findTensor(const event::Value& value, const char* what,
                                  const event::Tensor** tensor);

/// Like findTensor(), for strings.
STEPTAPE_EXPORT Status findStrings(const event::Value& value, const char* what,
                                   const event::Tensor** tensor);

/// Like findTensor(), for numbers of a type that Steptape knows.
STEPTAPE_EXPORT Status findNumbers(const event::Value& value, const char* what,
                                   const event::Tensor** tensor);

/// Like findTensor(), for binary32 or binary64 numbers.
STEPTAPE_EXPORT Status findFloats(const event::Value& value, const char* what,
                                  const event::Tensor** tensor);

/// Returns an element. REQUIRES: findFloats() succeeded, and `index` is less than the number of
/// elements.
STEPTAPE_EXPORT double floatAt(const event::Tensor& tensor, std::size_t index);

}  // namespace steptape::detail::log
