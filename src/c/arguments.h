// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "steptape/c/steptape.h"
#include "steptape/values/tensor_view.h"

namespace steptape::detail::c {

/// Names an argument in messages: "steptape_add_image: pixels".
struct Argument {
  const char* function;
  const char* name;

  /// @throws Error(kInvalidArgument)
  [[noreturn]] void reject(const std::string& got, const std::string& expected) const;
};

/// Returns the number in a field of the caller's, which may be none of its enumerators: C++ must
/// not read such a value as what it is.
template <typename Enum>
int numberIn(const Enum& field) noexcept {
  static_assert(sizeof(Enum) == sizeof(int), "as a C compiler lays it out");
  int number = 0;
  std::memcpy(&number, &field, sizeof number);
  return number;
}

/// Rejects a text that is NULL or has no end. @throws Error(kInvalidArgument)
[[noreturn]] void rejectText(Argument argument, const char* text);

/// Returns a text. Inline, for the scalars. @throws Error(kInvalidArgument) if it is NULL or has no
///         end.
inline std::string_view textOf(Argument argument, const char* text) {
  const std::size_t length =
      text == nullptr ? STEPTAPE_MAX_TEXT : ::strnlen(text, STEPTAPE_MAX_TEXT);
  if (length == STEPTAPE_MAX_TEXT) {
    rejectText(argument, text);
  }
  return {text, length};
}

/// Returns a text, or an empty one for NULL. @throws Error(kInvalidArgument) if it has no end.
std::string optionalText(Argument argument, const char* text);

/// Returns a view of the caller's array. @throws Error(kInvalidArgument)
TensorView viewOf(Argument argument, const steptape_array* array);

/// Rejects a list that is NULL. @throws Error(kInvalidArgument)
[[noreturn]] void rejectList(Argument argument, std::size_t count);

/// Rejects a list without elements that must have `count`. Inline, for the scalars.
/// @throws Error(kInvalidArgument)
inline void checkList(Argument argument, const void* list, std::size_t count) {
  if (list == nullptr && count > 0) {
    rejectList(argument, count);
  }
}

/// Checks a caller's struct, and copies what is known of it.
void copyOptions(Argument argument, const void* given, void* known, std::size_t knownSize);

/// Returns the options with the fields that the caller's header had; the others are 0.
/// @throws Error(kInvalidArgument) if the size is impossible, or if a newer header has set a field
///         that this library does not know.
template <typename Options>
Options optionsOf(const char* function, const Options* given) {
  Options known{};
  if (given != nullptr) {
    copyOptions({function, "options"}, given, &known, sizeof known);
  }
  return known;
}

/// Sets what every kind of options has. `Known` is one of the C interface.
template <typename Value, typename Known>
void setCommon(const char* function, const Known& known, Value* value) {
  if (known.wall_time != 0) {
    value->wallTime = known.wall_time;
  }
  value->displayName = optionalText({function, "options->display_name"}, known.display_name);
  value->description = optionalText({function, "options->description"}, known.description);
}

}  // namespace steptape::detail::c
