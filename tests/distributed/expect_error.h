// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::test {

/// Expects that `action` throws an Error with `code` whose message has `part` in it.
template <typename Action>
void expectError(ErrorCode code, const std::string& part, const Action& action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown; want an Error with '" << part << "'";
  } catch (const Error& error) {
    EXPECT_STREQ(errorCodeName(error.code()), errorCodeName(code));
    EXPECT_THAT(error.what(), ::testing::HasSubstr(part));
  }
}

}  // namespace steptape::test
