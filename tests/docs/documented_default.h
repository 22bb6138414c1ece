// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <type_traits>
#include <utility>

namespace steptape {

// The meaning of words in a document for fields of an option struct; see make_defaults_test.py.

/// "none" for a plain pointer: it is null.
inline bool isNone(const void* field) {
  return field == nullptr;
}

/// "none" for a container: it is empty.
template <typename Field>
auto isNone(const Field& field) -> decltype(field.empty()) {
  return field.empty();
}

/// "none" for a number: it is 0.
template <typename Field, std::enable_if_t<std::is_arithmetic_v<Field>, int> = 0>
bool isNone(Field field) {
  return field == 0;
}

/// "none" for a duration: it is 0.
template <typename Rep, typename Period>
bool isNone(std::chrono::duration<Rep, Period> field) {
  return field.count() == 0;
}

/// "none" for a smart pointer, function or optional: it is not set.
template <typename Field>
auto isNone(const Field& field) -> decltype(!field.operator bool()) {
  return !field;
}

/// A time such as "1 s".
template <typename Rep, typename Period>
bool isDuration(std::chrono::duration<Rep, Period> field, double seconds) {
  return std::chrono::duration<double>(field).count() == seconds;
}

}  // namespace steptape
