// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/values/tensor_view.h"

namespace steptape {

/// Names the cases of a typed suite: "float32", not "0".
struct TypeNames {
  template <typename T>
  static std::string GetName(int) {
    return dtypeName(dtypeOf<T>());
  }
};

}  // namespace steptape
