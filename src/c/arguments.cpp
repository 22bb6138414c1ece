// SPDX-License-Identifier: Apache-2.0
#include "c/arguments.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "steptape/base/status.h"

#include "base/got_expected.h"

namespace steptape::detail::c {

void Argument::reject(const std::string& got, const std::string& expected) const {
  throw Error(ErrorCode::kInvalidArgument,
              std::string(function) + ": " + name + ": " + base::gotExpected(got, expected));
}

void rejectText(Argument argument, const char* text) {
  if (text == nullptr) {
    argument.reject("NULL", "a text");
  }
  argument.reject("a text without an end",
                  "a NUL within " + std::to_string(STEPTAPE_MAX_TEXT) + " bytes");
}

std::string optionalText(Argument argument, const char* text) {
  return text == nullptr ? std::string() : std::string(textOf(argument, text));
}

TensorView viewOf(Argument argument, const steptape_array* array) {
  if (array == nullptr) {
    argument.reject("NULL", "an array");
  }
  const int type = numberIn(array->dtype);
  if (type < STEPTAPE_BOOL || type > STEPTAPE_FLOAT64) {
    argument.reject("dtype " + std::to_string(type), "a steptape_dtype");
  }
  if (array->rank < 0 || array->rank > STEPTAPE_MAX_RANK) {
    argument.reject("rank " + std::to_string(array->rank),
                    "0 to " + std::to_string(STEPTAPE_MAX_RANK));
  }
  if (array->rank > 0 && array->shape == nullptr) {
    argument.reject("no shape", "the size of each dimension");
  }
  const auto numbers = [array](const std::int64_t* list) {
    return list == nullptr ? std::vector<std::int64_t>()
                           : std::vector<std::int64_t>(list, list + array->rank);
  };
  return TensorView(array->data, static_cast<DType>(type), numbers(array->shape),
                    numbers(array->strides));
}

void rejectList(Argument argument, std::size_t count) {
  argument.reject("NULL", std::to_string(count) + " elements");
}

void copyOptions(Argument argument, const void* given, void* known, std::size_t knownSize) {
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  constexpr std::size_t kMost = 4096;  // No header has so large a struct.
  if (size < sizeof size || size > kMost) {
    argument.reject("size " + std::to_string(size),
                    "that of the struct: set the field `size`, or begin with the macro "
                    "STEPTAPE_..._OPTIONS_INIT");
  }
  const char* const bytes = static_cast<const char*>(given);
  if (size > knownSize &&
      std::any_of(bytes + knownSize, bytes + size, [](char byte) { return byte != 0; })) {
    argument.reject("a field of a newer header", "none of those behind byte " +
                                                     std::to_string(knownSize) +
                                                     ", which this library does not know");
  }
  std::memcpy(known, given, std::min(size, knownSize));
}

}  // namespace steptape::detail::c
